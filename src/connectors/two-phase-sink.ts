/**
 * The contract of sinks that commit: what is written in epoch E is seen once E is canonical, once, and never before.
 *
 * Place in the walk: stages 6 (stage), 7 (pre-commit) and 9 (commit); `abort` belongs to garbage collection. A sink of the
 * data plane (`Sink` in `connector.ts`) only says what to put aside; who implements this contract does it. There is one
 * implementation for each way of staging (`StageRequest.method`), in `src/platform/sinks`; how to write another is told in
 * docs/lineage.md, and `test/harness/two-phase-sink-conformance.ts` is the examination that each has to pass.
 *
 * Invariants: nothing staged is visible before its commit; a name or upload is written by one incarnation of one host and by
 * no call twice; a commit takes effect once under calls that are repeated, concurrent and arbitrarily late; items are
 * independent of who staged them, so that any host commits them at any parallelism; nothing is deleted while it is not known
 * whether a commit has taken effect.
 * Failure: every call ends. What may help to ask again is asked again until a deadline; what the target refuses for good is
 * SINK_REFUSED at once; staged data that are gone are SINK_FAILED, never a commit of the rest.
 */
import { OUTPUT_FOLDER, STAGED_FOLDER } from '../base/bucket-folders.ts';
import type { PhysicalGraph } from '../graph/graph.ts';
import type { ItemPayload, StagedObject, StageRequest } from './connector.ts';

/**
 * What a commit may be repeated under. `lineage` names one line of epochs, which never gives a number twice: the folder of
 * its records, `{pipeline}/{job}`. A restart without state goes on in the same line with the next number. A pipeline that was
 * deleted and created again has another id, so its epoch 1 is not the old one's.
 */
export type CommitToken = { lineage: string; sink: string; epoch: number };

export interface TwoPhaseSink {
  /** Puts bytes aside under a name of this incarnation. Answers when they are durable. */
  stage(request: StageRequest): Promise<StagedObject>;
  /**
   * Before the epoch is claimed: everything staged is really there, or the call fails and the epoch is never claimed.
   * Items that were committed meanwhile count as there.
   */
  preCommit(token: CommitToken, items: readonly ItemPayload[]): Promise<void>;
  /**
   * Makes the items visible. `items` are all those of one sink and epoch, ordered by subtask and index; called only for a
   * canonical epoch, and in the order of epochs but for calls that come late. None at all is fine.
   */
  commit(token: CommitToken, items: readonly ItemPayload[]): Promise<void>;
  /** Throws staged data away that no canonical checkpoint will ever commit. May be repeated; what is committed stays. */
  abort(items: readonly ItemPayload[]): Promise<void>;
}

/** The way items were staged. The items of one sink were all staged in one way. */
export function methodOf(item: StagedObject): StageRequest['method'] {
  return item.uploadId === null ? 'object' : 'multipart';
}

/** Where the objects lie that sinks of a pipeline have staged; ends with a slash. */
export const stagedPrefix = (pipelineId: string): string => `${STAGED_FOLDER}/${pipelineId}/`;

/** The same of what `stdout` sinks have committed. */
export const outputPrefix = (pipelineId: string): string => `${OUTPUT_FOLDER}/${pipelineId}/`;

/** The epoch a staged object was labelled with: it is committed with this epoch or a later one. Null: not of ours. */
export function stagedEpoch(key: string): number | null {
  const digits = /\/part-(\d{7,})-[^/]*$/.exec(key)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Whether a sink of the graph stages objects, which somebody has to collect; uploads go by themselves. */
export function stagesObjects(graph: PhysicalGraph): boolean {
  return graph.operators.some(
    ({ spec }) => spec.tag === 'sink' && spec.connector.connector === 'single_file',
  );
}
