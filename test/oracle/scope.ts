/** Rows as an expression sees them, and tables as lists of rows. */
import type { CallExpression, Expression } from '../../src/sql/ast-expression.ts';
import type { Query } from '../../src/sql/ast-query.ts';
import type { Keys } from './keys.ts';
import { Struct, type Value } from './value.ts';

/** A hidden column is found by its table's name only, and no `*` gives it: those that USING has merged. */
export type Column = {
  readonly qualifier: string | null;
  readonly name: string;
  readonly hidden?: true;
};

/** The event time is null where rows have none: after updating operations. */
export type Row = { readonly values: readonly Value[]; readonly time: bigint | null };

export type Relation = { readonly columns: readonly Column[]; readonly rows: readonly Row[] };

/** A row with the names of its columns and the row of the query outside. */
export type Scope = {
  readonly columns: readonly Column[];
  readonly row: Row;
  readonly outer: Scope | null;
};

export type Context = {
  readonly scope: Scope;
  /** The rows of the group where the query groups. */
  readonly group: readonly Scope[] | null;
  /** The window of the group, if a window function is among its keys. */
  readonly window: Value;
  /** Keys that the grouping set leaves out: they are NULL here. */
  readonly leftOut: Keys;
  /** Keys that it groups by: what is within one is not looked at, whatever else is left out. */
  readonly kept: Keys;
  readonly aliases: ReadonlyMap<string, Expression>;
  /** Results of calls with OVER for this row. */
  readonly over: ReadonlyMap<CallExpression, Value> | null;
  /** Answers a subquery for this row; with `one`, an aggregate of no rows is a row. */
  readonly subquery: (query: Query, scope: Scope, one: boolean) => Relation;
};

const indexOf = (
  columns: readonly Column[],
  matches: (column: Column) => boolean,
): number | null => {
  const index = columns.findIndex(matches);
  return index < 0 ? null : index;
};

/** The value at a path in this row or one further out; undefined when there is no such column. */
export function lookUp(scope: Scope | null, parts: readonly string[]): Value | undefined {
  for (let at = scope; at !== null; at = at.outer) {
    const { columns, row } = at;
    const [first = '', second] = parts;
    const qualified =
      second === undefined
        ? null
        : indexOf(columns, (each) => each.qualifier === first && each.name === second);
    if (qualified !== null) return fieldOf(row.values[qualified] as Value, parts.slice(2));
    const plain = indexOf(columns, (each) => each.name === first && each.hidden !== true);
    if (plain !== null) return fieldOf(row.values[plain] as Value, parts.slice(1));
  }
  return undefined;
}

/** A field of a struct of structs; NULL has NULL fields. */
export function fieldOf(value: Value, path: readonly string[]): Value {
  let found = value;
  for (const name of path) {
    if (found === null) return null;
    if (!(found instanceof Struct)) throw new Error(`no field ${name} in ${String(found)}`);
    found = found.fields.get(name) ?? null;
  }
  return found;
}
