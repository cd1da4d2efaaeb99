/**
 * What goes in and out of the host's step machine.
 *
 * Effects are carried out in the order given. Calls that take time answer by an event that names the
 * same `requestId`; an answer may come late, never twice.
 */
import type { ErrorReport } from '../base/errors.ts';
import type {
  ReadRequest,
  ReadResult,
  StagedObject,
  StageRequest,
} from '../connectors/connector.ts';
import type { CommitToken } from '../connectors/two-phase-sink.ts';
import type { ConnectorSpec } from '../graph/graph.ts';
import type { FunctionReply, FunctionRequest } from '../operators/user-functions.ts';
import type { SinkItem } from '../lineage/types.ts';
import type {
  CommandAnswer,
  CommandEnvelope,
  Delivery,
  DeliveryAnswer,
  Frame,
  HostReport,
} from '../protocol/messages.ts';

export type HostEvent =
  | { tag: 'command'; envelope: CommandEnvelope; requestId: number }
  | { tag: 'delivery'; delivery: Delivery; requestId: number }
  /** An outgoing delivery was answered. */
  | { tag: 'delivered'; edge: string; to: number; answer: DeliveryAnswer }
  | { tag: 'read'; operator: string; partition: number; result: ReadResult }
  | { tag: 'file-read'; requestId: number; bytes: Uint8Array }
  | { tag: 'file-put'; requestId: number }
  | { tag: 'staged'; requestId: number; staged: StagedObject }
  | { tag: 'pre-committed'; requestId: number }
  | { tag: 'committed'; requestId: number }
  | { tag: 'called'; requestId: number; reply: FunctionReply }
  /** An effect failed for good; the shell has used up its retries. */
  | { tag: 'effect-failed'; requestId: number; report: ErrorReport }
  /** How long the step took that cut a stage (`HostStep.cut`); only the shell has a clock that runs within a step. */
  | { tag: 'cut-took'; ms: number }
  /** The leader has disowned this host for good. */
  | { tag: 'abandoned' }
  /** Time to work: on each turn of the shell's loop. */
  | { tag: 'run' };

export type HostEffect =
  | { tag: 'answer'; requestId: number; answer: CommandAnswer }
  | { tag: 'answer-delivery'; requestId: number; answer: DeliveryAnswer }
  | { tag: 'report'; report: HostReport }
  | { tag: 'deliver'; edge: string; to: number; sequence: number; frames: Frame[] }
  | { tag: 'read'; operator: string; partition: number; request: ReadRequest }
  | { tag: 'get-file'; requestId: number; key: string }
  | { tag: 'put-file'; requestId: number; key: string; bytes: Uint8Array }
  | { tag: 'stage'; requestId: number; connector: ConnectorSpec; request: StageRequest }
  /** Make sure that these staged items of one sink, which the checkpoint will name, are there. */
  | {
      tag: 'pre-commit';
      requestId: number;
      token: CommitToken;
      items: SinkItem[];
      timeoutMs: number;
    }
  /** Commit items of one sink in their order. */
  | {
      tag: 'commit';
      requestId: number;
      epoch: number;
      sink: string;
      connector: ConnectorSpec;
      token: CommitToken;
      items: SinkItem[];
      timeoutMs: number;
    }
  /** Ask a function of the user's own about the rows of one batch. */
  | { tag: 'call-function'; requestId: number; operator: string; request: FunctionRequest }
  | { tag: 'preview'; operator: string; rows: Uint8Array; count: number }
  /** Rows below `offset` will never be read again. */
  | { tag: 'trim'; table: string; partition: number; offset: number }
  /** The host is done: release timers and calls. */
  | { tag: 'released' };

/** After each step: whether there is more work right now, and when the clock alone will make some. */
export type HostStep = {
  effects: HostEffect[];
  busy: boolean;
  wakeAtMs: number | null;
  /** A stage was cut for a checkpoint. */
  cut: boolean;
};
