/** What the rules of a health look at: the status, with the graph's word on what feeds what. */
import type { GraphOperator, PhysicalGraph, SourceSpec } from '../../graph/graph.ts';
import type { JobError } from '../../protocol/messages.ts';
import type { HealthFinding } from './health-shapes.ts';
import type { PipelineStatus, StatusOperator, StatusPartition } from './status-shapes.ts';

export type Fix = HealthFinding['fix'];

/** What a rule says; the rest of a finding is null. */
export type Finding = Pick<HealthFinding, 'level' | 'code' | 'sentence'> &
  Partial<Omit<HealthFinding, 'at'>>;

export type SourceFacts = {
  operator: StatusOperator;
  spec: SourceSpec;
  /** The column that event times are read from, if they are just that. */
  timeColumn: string | null;
  partitions: readonly StatusPartition[];
  ended: boolean;
  /** When the newest row was read; when reading began, if none was read since; null: unknown. */
  lastRowAt: number | null;
  /** How long nothing has come. */
  silentMicros: number;
};

/** Rows that never came to a source, because its log refused them. */
export type RefusedRows = {
  count: number;
  /** Of the newest of them. */
  atMs: number;
  code: string;
  message: string;
};

export type Facts = {
  status: PipelineStatus;
  errors: readonly JobError[];
  /** By source; those without are missing. */
  refused: ReadonlyMap<string, RefusedRows>;
  sources: readonly SourceFacts[];
  operators: readonly { status: StatusOperator; planned: GraphOperator }[];
  /** Sources that rows of the operator come from. */
  sourcesOf(operator: string): SourceFacts[];
  /** Operators that feed it, by port. */
  inputsOf(operator: string): StatusOperator[];
};

export function factsOf(
  status: PipelineStatus,
  graph: PhysicalGraph,
  errors: readonly JobError[],
  refused: ReadonlyMap<string, RefusedRows>,
): Facts {
  const byId = new Map(status.operators.map((operator) => [operator.operator_id, operator]));
  const operators = graph.operators.flatMap((planned) => {
    const found = byId.get(planned.id);
    return found === undefined ? [] : [{ status: found, planned }];
  });
  const sources = operators.flatMap(({ status: operator, planned: { spec, schema } }) => {
    if (spec.tag !== 'source') return [];
    const time = spec.watermark?.eventTime;
    const column = time?.tag === 'column' ? (schema[time.index]?.name ?? null) : null;
    return sourceFacts(status, operator, spec, column);
  });
  const upstream = (operator: string, seen: Set<string>): Set<string> => {
    if (seen.has(operator)) return seen;
    seen.add(operator);
    for (const edge of graph.edges) if (edge.to === operator) upstream(edge.from, seen);
    return seen;
  };
  return {
    status,
    errors,
    refused,
    sources,
    operators,
    sourcesOf(operator) {
      const above = upstream(operator, new Set());
      return sources.filter((source) => above.has(source.operator.operator_id));
    },
    inputsOf: (operator) =>
      graph.edges
        .filter((edge) => edge.to === operator)
        .toSorted((left, right) => left.port - right.port)
        .flatMap((edge) => byId.get(edge.from) ?? []),
  };
}

function sourceFacts(
  status: PipelineStatus,
  operator: StatusOperator,
  spec: SourceSpec,
  timeColumn: string | null,
): SourceFacts {
  const partitions =
    status.sources.find((source) => source.operator_id === operator.operator_id)?.partitions ?? [];
  const times = partitions.flatMap(({ last_row_at: at }) => (at === null ? [] : [at]));
  const lastRowAt = times.length > 0 ? Math.max(...times) : status.running_since;
  return {
    operator,
    spec,
    timeColumn,
    partitions,
    ended: operator.watermark === 'end',
    lastRowAt,
    silentMicros: lastRowAt === null ? 0 : Math.max(0, status.at - lastRowAt),
  };
}

export const findingOf = ({ status }: Facts, finding: Finding): HealthFinding => ({
  fix: null,
  source: null,
  watermark: null,
  window: null,
  since: null,
  ...finding,
  at: status.at,
});

/** Where a source is named in a finding. */
export const sourceRef = (
  { operator, spec }: SourceFacts,
  partition: number | null = null,
): NonNullable<HealthFinding['source']> => ({
  operator_id: operator.operator_id,
  table: spec.table,
  partition,
});
