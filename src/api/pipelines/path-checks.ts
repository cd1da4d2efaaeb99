/**
 * Paths of a planned program against what the catalogue knows: the state of pipelines, and what other pipelines write.
 *
 * The planner has compared what the text alone tells, by the same rules. Two pipelines under one path lose nothing, since files
 * carry the name of their writer, but readers of the path get the rows of both: that is told, and not refused. A
 * `single_file` object is another matter: its second writer fails when it commits.
 */
import { lineageAt, stateOf } from '../../base/bucket-folders.ts';
import { EngineError, type ErrorReport, type Span } from '../../base/errors.ts';
import { isLineage, type StoredSink, storedSinks } from '../../catalog/sink-paths.ts';
import type { SqlPlan } from '../../graph/plan-sql.ts';
import {
  meeting,
  type Place,
  placeOf,
  reachOf,
  RESERVED_EXTRAS,
  reservedMessage,
} from '../../plan/check-paths.ts';
import type { ApiServices } from '../services.ts';

type Named = { table: string; place: Place; reach: string; span: Span | null };

export type PathFindings = { errors: ErrorReport[]; warnings: ErrorReport[] };

export async function checkStoredPaths(
  services: ApiServices,
  plan: Pick<SqlPlan, 'sources' | 'sinks' | 'tables'>,
): Promise<PathFindings> {
  const named = ({ spec }: SqlPlan['sources'][number] | SqlPlan['sinks'][number]): Named[] => {
    const { connector, options } = spec.connector;
    const place = placeOf(connector, options);
    const reach = reachOf(options);
    const span = plan.tables.find(({ name }) => name === spec.table)?.span ?? null;
    return place === null || reach === null ? [] : [{ table: spec.table, place, reach, span }];
  };
  const sinks = plan.sinks.flatMap(named);
  const errors: ErrorReport[] = [];
  for (const each of [...plan.sources.flatMap(named), ...sinks]) {
    const lineage = lineageAt(each.reach);
    if (lineage !== null && (await isLineage(services.database, lineage)))
      errors.push(reserved(each, lineage.pipeline));
  }
  if (errors.length > 0 || sinks.length === 0) return { errors, warnings: [] };
  const others = await storedSinks(services.database);
  return { errors, warnings: sinks.flatMap((sink) => sharedWith(sink, others)) };
}

const placed = (span: Span | null): { span?: Span } => (span === null ? {} : { span });

const reserved = ({ table, reach, span }: Named, pipeline: string): ErrorReport =>
  new EngineError('RESERVED_PATH', reservedMessage(table, reach, stateOf(pipeline)), {
    ...RESERVED_EXTRAS,
    ...placed(span),
  }).report;

function sharedWith({ table, place, span }: Named, others: readonly StoredSink[]): ErrorReport[] {
  for (const { pipelineId, pipelineName, table: theirs, connector, options } of others) {
    const other = placeOf(connector, options);
    const how = other === null ? null : meeting(place, other);
    if (other === null || how === null) continue;
    const refused = how === 'same' && connector === 'single_file';
    const message = `"${table}" writes to '${place.path}', and "${theirs}" of pipeline ${pipelineName} (${pipelineId}) to '${other.path}'`;
    return [
      new EngineError('SHARED_PATH', message, {
        detail: refused
          ? 'The object keeps its first writer: the commits of the second one are refused.'
          : 'Whoever reads the outer folder reads the rows of both.',
        hint: 'give the table a path of its own, unless that is what you want',
        ...placed(span),
      }).report,
    ];
  }
  return [];
}
