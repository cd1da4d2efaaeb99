/** SELECT DISTINCT and UNION → a grouping by all columns. */
import type { Settings } from './bind-from.ts';
import type { PlanNode } from './logical.ts';
import { columnExpr, makeProject, makeUpdatingAggregate, makeWindowAggregate } from './nodes.ts';
import { type BoundQuery, queryOf } from './scope.ts';

/** The query's rows, each once. */
export const bindDistinct = (input: PlanNode, { updatingTtlMicros }: Settings): BoundQuery =>
  queryOf(makeDistinct(input, windowOf(input), updatingTtlMicros));

/** The column that says in which window a row was aggregated; -1: none, or rows that may be taken back. */
const windowOf = (input: PlanNode): number =>
  input.updating ? -1 : input.windows.findIndex((window) => window !== null);

/** Each row once. Rows of one window are told apart within it, so the result need not be taken back. */
function makeDistinct(input: PlanNode, windowAt: number, ttlMicros: number | null): PlanNode {
  const places = input.schema.map((_, index) => index).filter((index) => index !== windowAt);
  const grouped = {
    keys: places.map((index) => columnExpr(input.schema, index)),
    keyNames: places.map((index) => input.schema[index]?.name ?? ''),
    aggregates: [],
  };
  const window = windowAt < 0 ? null : (input.windows[windowAt] ?? null);
  if (window === null) return makeUpdatingAggregate(input, grouped, [], ttlMicros);
  const distinct = makeWindowAggregate(input, window, windowAt, grouped, []);
  const names = input.schema.map((field) => field.name);
  return makeProject(
    distinct,
    input.schema.map((_, index) =>
      columnExpr(distinct.schema, index === windowAt ? places.length : places.indexOf(index)),
    ),
    names,
  );
}
