/**
 * What the logs of `http` tables refused, for the health of a pipeline.
 *
 * A log checks rows before any generation reads them, so no counter of a generation knows of the refused ones: a source
 * whose rows were all refused looks like one that nobody has posted to. Failure: a log that does not answer is left out.
 */
import type { PhysicalGraph } from '../../graph/graph.ts';
import { partitionsOf } from '../load.ts';
import type { ApiServices } from '../services.ts';
import type { RefusedRows } from './health-facts.ts';
import type { PipelineStatus } from './status-shapes.ts';

/** By operator, of sources that have had no row; only their logs are asked. */
export async function refusedByLogs(
  services: ApiServices,
  status: PipelineStatus,
  graph: PhysicalGraph,
): Promise<ReadonlyMap<string, RefusedRows>> {
  const refused = new Map<string, RefusedRows>();
  if (status.state !== 'Running') return refused;
  const empty = new Set(
    status.operators.flatMap(({ operator_id: id, rows_in: rows }) => (rows === 0 ? [id] : [])),
  );
  const asked = graph.operators.flatMap(({ id, spec }) =>
    spec.tag === 'source' && spec.connector.connector === 'http' && empty.has(id)
      ? Array.from({ length: partitionsOf(spec) }, async (_, partition) => {
          try {
            const log = services.log(status.pipeline_id, spec.table, partition);
            const [[newest], unread] = await Promise.all([log.rejected(1), log.unread()]);
            return { id, newest, unread };
          } catch {
            return { id, newest: undefined, unread: 0 };
          }
        })
      : [],
  );
  const answers = await Promise.all(asked);
  // Rows that the log has taken are only not read yet.
  const taken = new Set(answers.flatMap(({ id, unread }) => (unread > 0 ? [id] : [])));
  for (const { id, newest } of answers) {
    if (newest === undefined || taken.has(id)) continue;
    const { sequence, atMs, code, message } = newest;
    const known = refused.get(id);
    // Sequences of a log count from 0, and go on when old rows are forgotten.
    const count = (known?.count ?? 0) + sequence + 1;
    refused.set(
      id,
      known === undefined || known.atMs < atMs
        ? { count, atMs, code, message }
        : { ...known, count },
    );
  }
  return refused;
}
