/**
 * What goes into the leader's step and what comes out.
 *
 * Place in the walk: stages 4 and 7-9. Events carry facts and the time; effects are orders to the shell, which carries
 * them out in the order given: persist before send before reply. The shell decides nothing.
 *
 * Failure: an effect that fails comes back as an event (`host-lost`, or `unavailable` inside `lineage-done`). A shell that
 * dies between two effects is a leader reset, and the next object begins with `woke`.
 */
import type { CollectOutcome } from '../lineage/collect.ts';
import type { CommitOutcome } from '../lineage/commit.ts';
import type { FenceOptions, FenceOutcome } from '../lineage/fence.ts';
import type { OpenOutcome } from '../lineage/open.ts';
import type { CheckpointDraft, PublishOutcome } from '../lineage/publish.ts';
import type { Incarnation, Tip } from '../lineage/types.ts';
import type {
  CommandAnswer,
  CommandEnvelope,
  GenerationSpec,
  JobError,
  ReportAnswer,
  ReportEnvelope,
  StopMode,
} from '../protocol/messages.ts';
import type { PersistedLeader } from './state.ts';

export type LeaderEvent = { nowMs: number } &
  /**
   * The object was constructed. Start number and nonce of `incarnation` are durable already. `spec` and `persisted` are
   * what earlier `persist` effects left, null for an object that has never been started.
   */
  (
    | {
        tag: 'woke';
        incarnation: Incarnation;
        spec: GenerationSpec | null;
        persisted: PersistedLeader | null;
      }
    /** Sent by a controller, any number of times; only the first counts. */
    | { tag: 'start'; spec: GenerationSpec }
    | { tag: 'stop'; mode: StopMode; nonce: string }
    /** Begin a checkpoint without waiting until it is due; nothing when one is under way, or sources do not read. */
    | { tag: 'flush' }
    /** An alarm or timer, at or after the last `wake-at`, or at any other time. */
    | { tag: 'tick' }
    | { tag: 'report'; envelope: ReportEnvelope }
    /** How host `index` answered the command `sequence`. */
    | { tag: 'answer'; index: number; sequence: number; answer: CommandAnswer }
    /** A command was rejected, or the watch on the host broke. */
    | { tag: 'host-lost'; index: number; reason: string }
    | { tag: 'lineage-done'; id: number; result: LineageResult }
  );

/** A workflow of `src/lineage` with all its arguments but the context. */
export type LineageOperation =
  | { tag: 'open' }
  | { tag: 'complete-commit'; tip: Tip }
  | { tag: 'fence'; tip: Tip; options: FenceOptions }
  | { tag: 'publish'; tip: Tip; draft: CheckpointDraft }
  | { tag: 'collect'; tip: Tip; keep: number };

/** The outcome of the workflow that the id named. */
export type LineageResult =
  | { tag: 'open'; outcome: OpenOutcome }
  | { tag: 'complete-commit'; outcome: CommitOutcome }
  | { tag: 'fence'; outcome: FenceOutcome }
  | { tag: 'publish'; outcome: PublishOutcome }
  | { tag: 'collect'; outcome: CollectOutcome };

export type LeaderEffect =
  /** Store durably before any later effect. `spec` is given once, at the start, and stays as stored. */
  | { tag: 'persist'; spec: GenerationSpec | null; persisted: PersistedLeader }
  /** Run the workflow over the bucket and feed `lineage-done` with the same id. */
  | { tag: 'lineage'; id: number; operation: LineageOperation }
  /** Call the host; feed `answer`, or `host-lost` when the call is rejected. */
  | { tag: 'send'; index: number; envelope: CommandEnvelope }
  /** Keep a long call open on the host that breaks when its object is reset; feed `host-lost` then. */
  | { tag: 'watch'; index: number; host: string }
  /** Replace the alarm: `tick` at this time. */
  | { tag: 'wake-at'; atMs: number }
  /** Tell the controller that there is something to see. */
  | { tag: 'nudge' }
  /** Keep these rows for people, the newest `errorRowsKept` of the generation. */
  | { tag: 'keep-problems'; problems: readonly JobError[] }
  /** The outcome is durable: drop the watches, and the alarm once the controller has heard. */
  | { tag: 'ended' }
  /** The answer to the `report` of this step; always the last effect. */
  | { tag: 'reply'; answer: ReportAnswer };
