/** Commits that a host carries out for its leader: which sinks of which epoch are still to be acknowledged. */
import type { CommitToken } from '../connectors/two-phase-sink.ts';
import type { SinkItem } from '../lineage/types.ts';
import type { GenerationSpec } from '../protocol/messages.ts';

export class HostCommits {
  readonly #open = new Map<number, Set<string>>();

  /**
   * Items by sink, each in the order of subtask and index, for the commits to start now; none when those of
   * the epoch are under way already.
   */
  begin(epoch: number, items: readonly SinkItem[]): Map<string, SinkItem[]> {
    const bySink = new Map<string, SinkItem[]>();
    if (this.#open.has(epoch)) return bySink;
    for (const item of items) bySink.set(item.sink, [...(bySink.get(item.sink) ?? []), item]);
    for (const own of bySink.values()) {
      own.sort((left, right) => left.subtask - right.subtask || left.index - right.index);
    }
    if (bySink.size > 0) this.#open.set(epoch, new Set(bySink.keys()));
    return bySink;
  }

  /** Notes that the sink's commit has succeeded; false when nobody waits for it. */
  finish(epoch: number, sink: string): boolean {
    const open = this.#open.get(epoch);
    if (open === undefined) return false;
    const waited = open.delete(sink);
    if (open.size === 0) this.#open.delete(epoch);
    return waited;
  }
}

/** The records of a pipeline's job are one line of epochs. */
export const tokenOf = (spec: GenerationSpec, sink: string, epoch: number): CommitToken => ({
  lineage: `${spec.pipelineId}/${spec.jobId}`,
  sink,
  epoch,
});
