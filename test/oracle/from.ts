/** FROM: tables, subqueries and joins by nested loops. */
import type { Expression } from '../../src/sql/ast-expression.ts';
import type { Join, TableReference } from '../../src/sql/ast-query.ts';
import { evaluate, isTrue } from './expression.ts';
import type { Evaluator } from './query.ts';
import type { Column, Context, Relation, Row, Scope } from './scope.ts';
import { big, compareNullable, type Value } from './value.ts';

export type Sources = {
  readonly evaluator: Evaluator;
  readonly outer: Scope | null;
};

export const NO_ROW: Row = { values: [], time: null };

/** All tables after commas, each a cross join that may look at those before it. */
export function fromAll(references: readonly TableReference[], sources: Sources): Relation {
  let all: Relation = { columns: [], rows: [{ values: [], time: null }] };
  references.forEach((reference, at) => {
    all = at === 0 ? relationOf(reference, sources) : crossed(all, reference, sources);
  });
  return all;
}

function crossed(left: Relation, reference: TableReference, sources: Sources): Relation {
  let columns: readonly Column[] = [];
  const rows = left.rows.flatMap((row) => {
    const right = relationOf(reference, seeing(sources, left, row));
    ({ columns } = right);
    return right.rows.map((other) => joinRows(row, other));
  });
  if (left.rows.length === 0) ({ columns } = relationOf(reference, unseeing(sources, left)));
  return { columns: [...left.columns, ...columns], rows };
}

/** With the row of the tables before it as one outside. */
const seeing = (sources: Sources, { columns }: Relation, row: Row): Sources => ({
  ...sources,
  outer: { columns, row, outer: sources.outer },
});

/** For the names of columns only: all values are NULL. */
const unseeing = (sources: Sources, left: Relation): Sources =>
  seeing(sources, left, { values: left.columns.map(() => null), time: null });

/** The later of both event times; none when one has none. */
const joinRows = (left: Row, right: Row): Row => ({
  values: [...left.values, ...right.values],
  time: left.time === null || right.time === null ? null : max(left.time, right.time),
});

const max = (left: bigint, right: bigint): bigint => (left > right ? left : right);

function relationOf(reference: TableReference, sources: Sources): Relation {
  switch (reference.tag) {
    case 'table': {
      const { name } = reference.name;
      const { columns, rows } = sources.evaluator.table(name);
      return renamed({ columns, rows }, reference.alias?.name.name ?? name, reference.alias);
    }
    case 'derived': {
      const found = sources.evaluator.query(
        reference.query,
        reference.lateral ? sources.outer : outside(sources),
        reference.lateral,
      );
      return renamed(found, reference.alias?.name.name ?? null, reference.alias);
    }
    case 'table_function':
      return unnested(reference, sources);
    case 'windowed':
    case 'match':
      throw new Error('matches are not drawn');
    default:
      return joined(reference, sources);
  }
}

/** A subquery that is not LATERAL does not see the tables beside it, but it sees the query outside. */
const outside = ({ outer, evaluator }: Sources): Scope | null => {
  let at = outer;
  while (at !== null && !evaluator.isOutside(at)) at = at.outer;
  return at;
};

type Alias = { readonly columns: readonly { readonly name: string }[] } | null;

const renamed = (
  { columns, rows }: Relation,
  qualifier: string | null,
  alias: Alias,
): Relation => ({
  columns: columns.map((column, at) => ({
    qualifier,
    name: alias?.columns[at]?.name ?? column.name,
  })),
  rows,
});

function unnested(
  reference: TableReference & { tag: 'table_function' },
  sources: Sources,
): Relation {
  const { call, alias, withOrdinality } = reference;
  if (call.name.name !== 'unnest') throw new Error(`${call.name.name} in FROM`);
  const scope = sources.outer ?? { columns: [], row: NO_ROW, outer: null };
  const values = evaluate(call.args[0]?.value as Expression, sources.evaluator.context(scope)) as
    | readonly Value[]
    | null;
  const time = scope.row.time;
  const qualifier = alias?.name.name ?? 'unnest';
  const names = [alias?.columns[0]?.name ?? qualifier];
  if (withOrdinality) names.push(alias?.columns[1]?.name ?? 'ordinality');
  return {
    columns: names.map((name) => ({ qualifier, name })),
    rows: (values ?? []).map((value, at) => ({
      values: withOrdinality ? [value, big(at + 1)] : [value],
      time,
    })),
  };
}

/** A join with its columns named; which rows meet is a matter of its condition. */
function joined(join: Join, sources: Sources): Relation {
  const left = relationOf(join.left, sources);
  const rightOf = (row: Row): Relation => relationOf(join.right, seeing(sources, left, row));
  const shape = relationOf(join.right, unseeing(sources, left));
  const all = [...left.columns, ...shape.columns];
  const shared = sharedColumns(join, left, shape);
  const rows: Row[] = [];
  const met = new Set<Row>();
  let rights = shape.rows;
  for (const row of left.rows) {
    if (isLateral(join.right)) rights = rightOf(row).rows;
    let partners = rights.filter((other) => meets(join, shared, all, row, other, sources));
    if (join.asOf) partners = newest(partners);
    for (const other of partners) met.add(other);
    if (join.kind === 'semi' || join.kind === 'anti') {
      if (partners.length > 0 === (join.kind === 'semi')) rows.push(row);
      continue;
    }
    for (const other of partners) rows.push(joinRows(row, other));
    if (partners.length === 0 && (join.kind === 'left' || join.kind === 'full'))
      rows.push({ values: [...row.values, ...shape.columns.map(() => null)], time: row.time });
  }
  if (join.kind === 'semi' || join.kind === 'anti') return { columns: left.columns, rows };
  if (join.kind === 'right' || join.kind === 'full')
    for (const other of rights)
      if (!met.has(other))
        rows.push({ values: [...left.columns.map(() => null), ...other.values], time: other.time });
  return merged({ columns: all, rows }, shared);
}

const isLateral = (reference: TableReference): boolean =>
  (reference.tag === 'derived' && reference.lateral) || reference.tag === 'table_function';

/** The last by event time. */
function newest(rows: readonly Row[]): Row[] {
  const last = rows.reduce<Row | null>(
    (found, row) => (found === null || (row.time ?? 0n) >= (found.time ?? 0n) ? row : found),
    null,
  );
  return last === null ? [] : [last];
}

type Shared = readonly { name: string; left: number; right: number }[];

/** The columns of USING and NATURAL, by their places in the row of both. */
function sharedColumns(join: Join, left: Relation, right: Relation): Shared {
  const { constraint } = join;
  if (constraint === null || constraint.tag === 'on') return [];
  const visible = ({ columns }: Relation): string[] =>
    columns.filter((column) => column.hidden !== true).map((column) => column.name);
  const names =
    constraint.tag === 'using'
      ? constraint.columns.map((column) => column.name)
      : visible(left).filter((name) => visible(right).includes(name));
  const placeOf = ({ columns }: Relation, name: string): number =>
    columns.findIndex((column) => column.name === name && column.hidden !== true);
  return names.map((name) => ({
    name,
    left: placeOf(left, name),
    right: left.columns.length + placeOf(right, name),
  }));
}

function meets(
  join: Join,
  shared: Shared,
  columns: readonly Column[],
  left: Row,
  right: Row,
  { evaluator, outer }: Sources,
): boolean {
  const row = joinRows(left, right);
  const equal = shared.every((column) => {
    const [a, b] = [row.values[column.left] as Value, row.values[column.right] as Value];
    return a !== null && b !== null && compareNullable(a, b) === 0;
  });
  const { constraint } = join;
  if (constraint?.tag !== 'on') return equal;
  const context: Context = evaluator.context({ columns, row, outer });
  return isTrue(constraint.condition, context);
}

/** Shared columns stand once and first; the two that they come from can still be named by their table. */
function merged({ columns, rows }: Relation, shared: Shared): Relation {
  if (shared.length === 0) return { columns, rows };
  const hidden = new Set(shared.flatMap(({ left, right }) => [left, right]));
  return {
    columns: [
      ...shared.map(({ name }) => ({ qualifier: null, name })),
      ...columns.map((column, at): Column =>
        hidden.has(at) ? { ...column, hidden: true } : column,
      ),
    ],
    rows: rows.map(({ values, time }) => ({
      values: [
        ...shared.map(({ left, right }) => (values[left] ?? values[right] ?? null) as Value),
        ...values,
      ],
      time,
    })),
  };
}
