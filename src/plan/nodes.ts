/**
 * Constructors of plan nodes: they derive what a node tells of its rows from its inputs, so that no
 * rule or binder can state it wrongly. Errors: none; an input that breaks an invariant is a bug.
 */
import { assert, must } from '../base/assert.ts';
import {
  type Field,
  type Schema,
  type SqlType,
  WINDOW,
  WINDOW_TZ,
  sameType,
} from '../batch/types.ts';
import type { AggregateCall, Expr } from '../expr/expr.ts';
import { canonical, conjunctsOf } from './expressions.ts';
import type {
  AggregateOutput,
  FilterNode,
  NewestByKeyNode,
  PlanNode,
  ProjectNode,
  UnionNode,
  UpdatingAggregateNode,
  Window,
  WindowAggregateNode,
  WindowBestNode,
} from './logical.ts';
import { isNullable, provenPresent } from './nullability.ts';

/** Rows of `input` for which the predicate is true. */
export function makeFilter(input: PlanNode, predicate: Expr): FilterNode {
  const present = new Set(conjunctsOf(predicate).flatMap(provenPresent));
  const schema = input.schema.map((field, index) =>
    present.has(index) ? { ...field, nullable: false } : field,
  );
  return {
    tag: 'filter',
    input,
    predicate,
    schema,
    updating: input.updating,
    keys: input.keys,
    eventTime: input.eventTime,
    windows: input.windows,
  };
}

/** One output column per expression. */
export function makeProject(
  input: PlanNode,
  exprs: readonly Expr[],
  names: readonly string[],
): ProjectNode {
  const schema = exprs.map((expr, index): Field => ({
    name: must(names[index], 'name of a projected column'),
    type: expr.type,
    nullable: isNullable(expr, input.schema),
  }));
  return makeProjectAs(input, exprs, schema);
}

/** As `makeProject`, keeping a schema that is already known. */
export function makeProjectAs(
  input: PlanNode,
  exprs: readonly Expr[],
  schema: Schema,
): ProjectNode {
  assert(exprs.length === schema.length, 'a projection has one expression per column');
  return {
    tag: 'project',
    input,
    exprs,
    schema,
    updating: input.updating,
    keys: projectKeys(input, exprs),
    eventTime: input.eventTime,
    windows: exprs.map((expr) =>
      expr.tag === 'column' ? (input.windows[expr.index] ?? null) : null,
    ),
  };
}

function projectKeys(
  { keys, windows }: PlanNode,
  exprs: readonly Expr[],
): readonly number[] | null {
  if (keys === null) return null;
  const places = keys.map((key) =>
    exprs.findIndex(
      (expr) => (expr.tag === 'column' && expr.index === key) || isEndOf(expr, key, windows),
    ),
  );
  return places.includes(-1) ? null : places;
}

/** Whether an expression is an end of the window in column `key` that no other window of the same query has. */
function isEndOf(expr: Expr, key: number, windows: PlanNode['windows']): boolean {
  const window = windows[key] ?? null;
  if (window === null || window.tag === 'session') return false;
  const [start, end] = [0, 1];
  return (
    expr.tag === 'field' &&
    expr.input.tag === 'column' &&
    expr.input.index === key &&
    (expr.index === end || (expr.index === start && window.tag !== 'cumulate'))
  );
}

/** All rows of all inputs; names are those of the first. */
export function makeUnion(inputs: readonly PlanNode[]): UnionNode {
  const [first] = inputs;
  assert(first !== undefined && inputs.length > 1, 'a union has several inputs');
  const schema = first.schema.map((field, index): Field => {
    const fields = inputs.map((input) => must(input.schema[index], 'column of a union'));
    assert(
      fields.every((other) => sameType(other.type, field.type)),
      'the inputs of a union have the same types',
    );
    return { ...field, nullable: fields.some((other) => other.nullable) };
  });
  const windows = schema.map((_, index) => {
    const window = first.windows[index] ?? null;
    return inputs.every((input) => canonical(input.windows[index] ?? null) === canonical(window))
      ? window
      : null;
  });
  return {
    tag: 'union',
    inputs,
    schema,
    windows,
    updating: inputs.some((input) => input.updating),
    keys: null,
    eventTime: inputs.every((input) => input.eventTime),
  };
}

export type Grouped = {
  keys: readonly Expr[];
  keyNames: readonly string[];
  aggregates: readonly AggregateCall[];
};

/** Whether what was emitted of a window may be taken back. */
export const isUpdated = (window: Window): boolean =>
  window.latenessMicros !== undefined || window.earlyMs !== undefined;

/** What a window over these rows is a pair of: TIMESTAMPTZ when the event times of all were declared so. */
export const windowTypeOf = (input: PlanNode): SqlType => (isZoned(input) ? WINDOW_TZ : WINDOW);

/** @param seen  nodes that were looked at, each of which may be read many times */
function isZoned(node: PlanNode, seen = new Set<PlanNode>()): boolean {
  if (seen.has(node)) return true;
  seen.add(node);
  if (node.tag !== 'scan') {
    const inputs = inputsOf(node);
    return inputs.length > 0 && inputs.every((input) => isZoned(input, seen));
  }
  const time = node.watermark?.eventTime;
  return time?.tag === 'cast' && time.input.type.tag === 'timestamptz';
}

/**
 * Columns: keys, window, aggregates.
 *
 * @param windowColumn  the input column that holds each row's window; null: it follows from the row's event time
 */
export function makeWindowAggregate(
  input: PlanNode,
  window: Window,
  windowColumn: number | null,
  grouped: Grouped,
  aggregateFields: Schema,
): WindowAggregateNode {
  const { keys, keyNames, aggregates } = grouped;
  const schema: Schema = [
    ...keyFields(input, keys, keyNames),
    {
      name: 'window',
      type:
        windowColumn === null ? windowTypeOf(input) : columnExpr(input.schema, windowColumn).type,
      nullable: false,
    },
    ...aggregateFields,
  ];
  const outputs: AggregateOutput[] = [
    ...keys.map((_, index): AggregateOutput => ({ tag: 'key', index })),
    { tag: 'window' },
    ...aggregates.map((_, index): AggregateOutput => ({ tag: 'aggregate', index })),
  ];
  return {
    tag: 'window-aggregate',
    input,
    window,
    windowColumn,
    groupBy: keys,
    aggregates,
    outputs,
    schema,
    updating: isUpdated(window),
    keys: isUpdated(window) ? [...keys.map((_, index) => index), keys.length] : null,
    eventTime: true,
    windows: outputs.map((output) => (output.tag === 'window' ? window : null)),
  };
}

export type BestOf = Pick<WindowBestNode, 'window' | 'windowColumn' | 'column' | 'greatest'>;

/** Columns: the input's. First in each subtask, so that few rows have to meet. */
export function makeWindowBest(input: PlanNode, best: BestOf): WindowBestNode {
  const of = (from: PlanNode, local: boolean): WindowBestNode => ({
    tag: 'window-best',
    input: from,
    ...best,
    local,
    schema: from.schema,
    updating: false,
    keys: null,
    eventTime: true,
    windows: from.windows,
  });
  return of(of(input, true), false);
}

/** Columns: keys, aggregates. */
export function makeUpdatingAggregate(
  input: PlanNode,
  grouped: Grouped,
  aggregateFields: Schema,
  ttlMicros: number | null = null,
): UpdatingAggregateNode {
  const { keys, keyNames, aggregates } = grouped;
  const schema: Schema = [...keyFields(input, keys, keyNames), ...aggregateFields];
  return {
    tag: 'updating-aggregate',
    input,
    // One row needs no bound.
    ttlMicros: keys.length === 0 ? null : ttlMicros,
    groupBy: keys,
    aggregates,
    schema,
    updating: true,
    keys: keys.map((_, index) => index),
    eventTime: false,
    windows: schema.map(() => null),
  };
}

/** The columns of the input; `keyColumns` tell its rows apart. */
export function makeNewestByKey(input: PlanNode, keyColumns: readonly number[]): NewestByKeyNode {
  return {
    tag: 'newest-by-key',
    input,
    keyColumns,
    schema: input.schema,
    updating: true,
    keys: keyColumns,
    eventTime: input.eventTime,
    windows: input.windows,
  };
}

function keyFields(input: PlanNode, keys: readonly Expr[], names: readonly string[]): Field[] {
  return keys.map((key, index) => ({
    name: must(names[index], 'name of a key'),
    type: key.type,
    nullable: isNullable(key, input.schema),
  }));
}

/** The nodes a node reads. */
export function inputsOf(node: PlanNode): readonly PlanNode[] {
  if (node.tag === 'scan') return [];
  if (node.tag === 'join') return [node.left, node.right];
  return node.tag === 'union' || node.tag === 'set-operation' ? node.inputs : [node.input];
}

export const columnExpr = (schema: Schema, index: number): Expr => ({
  tag: 'column',
  index,
  type: must(schema[index], 'column').type,
});
