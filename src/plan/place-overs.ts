/**
 * Where the calls with OVER of one SELECT are computed: nodes between its rows (grouped or not) and its list.
 *
 * Calls of one partition and order share a node, and those that leave their input's rows as they are come before those that
 * take results back.
 */
import type { Span } from '../base/errors.ts';
import type { Field } from '../batch/types.ts';
import { mapColumns } from '../expr/expr-tools.ts';
import type { Expr } from '../expr/expr.ts';
import type { OverCall, OverForm, SortKey } from '../expr/over.ts';
import { mayGiveNull, neverGivesNull } from './aggregate-calls.ts';
import { eventOrderOf, namesWindow } from './event-order.ts';
import { OVER_STAND_INS, POISON, isOverStandIn } from './expression-context.ts';
import { canonical, mapAggregate, mapOverCall } from './expressions.ts';
import type { PlanNode } from './logical.ts';
import { columnExpr, makeProject } from './nodes.ts';
import { isNullable } from './nullability.ts';
import { makeOver } from './over-nodes.ts';

/** A call with its operands bound to the SELECT's input. */
export type BoundOver = {
  call: OverCall;
  partitionBy: readonly Expr[];
  orderBy: readonly SortKey[];
  span: Span;
};

/** Turns expressions over the SELECT's input into ones over its groups. */
export type Regroup = (expr: Expr, source: { span: Span }) => Expr;

/**
 * The rows with every call computed, and the expressions over them; null after an error.
 * @param regroup  null when there is no grouping
 */
export function placeOvers(
  bounds: readonly BoundOver[],
  input: PlanNode,
  exprs: readonly Expr[],
  regroup: Regroup | null,
): { node: PlanNode; exprs: readonly Expr[] } | null {
  if (bounds.length === 0) return { node: input, exprs };
  const regrouped = bounds.map((bound) => regroupBound(bound, regroup));
  if (regrouped.includes(null)) return null;
  const columns = new Columns(input);
  const calls = regrouped.flatMap((bound) =>
    bound === null ? [] : [{ ...placeBound(bound, columns), form: formOf(bound, input) }],
  );
  let node: PlanNode = columns.project();
  const places = new Map<number, number>();
  for (const group of groupsOf(calls)) {
    const [first] = group;
    if (first === undefined) continue;
    const width: number = node.schema.length;
    const fields = group.map(({ call }) => fieldOf(call, columns.schema));
    group.forEach(({ index }, at) => places.set(index, width + at));
    const form: OverForm = node.updating ? 'updating' : first.form;
    const { partitionBy, orderBy } = first;
    node = makeOver(
      node,
      { form, partitionBy, orderBy, calls: group.map(({ call }) => call) },
      fields,
    );
  }
  return {
    node,
    exprs: exprs.map((expr) =>
      mapColumns(expr, (column) =>
        isOverStandIn(column)
          ? { ...column, index: places.get(column.index - OVER_STAND_INS) ?? 0 }
          : column,
      ),
    ),
  };
}

function regroupBound(bound: BoundOver, regroup: Regroup | null): BoundOver | null {
  if (regroup === null) return bound;
  let poisoned = false;
  const change = (expr: Expr): Expr => {
    const changed = regroup(expr, bound);
    poisoned ||= changed === POISON;
    return changed;
  };
  const result = {
    call: mapOverCall(bound.call, change),
    partitionBy: bound.partitionBy.map(change),
    orderBy: bound.orderBy.map((key) => ({ ...key, expr: change(key.expr) })),
    span: bound.span,
  };
  return poisoned ? null : result;
}

/** The input's columns, and behind them what is computed from them. */
class Columns {
  readonly #input: PlanNode;
  readonly #extras: Expr[] = [];

  constructor(input: PlanNode) {
    this.#input = input;
  }

  get schema(): PlanNode['schema'] {
    return this.#input.schema;
  }

  place(expr: Expr): Expr {
    if (expr.tag === 'column') return expr;
    const text = canonical(expr);
    const known = this.#extras.findIndex((extra) => canonical(extra) === text);
    const at = known >= 0 ? known : this.#extras.push(expr) - 1;
    return { tag: 'column', index: this.#input.schema.length + at, type: expr.type };
  }

  project(): PlanNode {
    if (this.#extras.length === 0) return this.#input;
    const { schema } = this.#input;
    return makeProject(
      this.#input,
      [...schema.map((_, index) => columnExpr(schema, index)), ...this.#extras],
      [...schema.map(({ name }) => name), ...this.#extras.map((_, at) => `over_${at + 1}`)],
    );
  }
}

type Placed = Omit<BoundOver, 'span'>;

function placeBound(bound: BoundOver, columns: Columns): Placed {
  const place = (expr: Expr): Expr => columns.place(expr);
  const { call } = bound;
  return {
    call: {
      ...call,
      args: call.args.map(place),
      aggregate: call.aggregate === null ? null : mapAggregate(call.aggregate, place),
    },
    partitionBy: bound.partitionBy.map(place),
    orderBy: bound.orderBy.map((key) => ({ ...key, expr: place(key.expr) })),
  };
}

type Grouped = Placed & { form: OverForm; index: number };

/** Calls of one partition, order and form together; those that leave their input's rows as they are come first. */
function groupsOf(calls: readonly (Placed & { form: OverForm })[]): Grouped[][] {
  const groups = new Map<string, Grouped[]>();
  calls.forEach((call, index) => {
    const text = canonical([call.form === 'updating', call.partitionBy, call.orderBy]);
    const group = groups.get(text) ?? [];
    group.push({ ...call, index });
    groups.set(text, group);
  });
  const all = [...groups.values()];
  const isLast = (group: readonly Grouped[]): boolean => group[0]?.form === 'updating';
  return [...all.filter((group) => !isLast(group)), ...all.filter(isLast)];
}

/** When the results of a call are final. */
function formOf({ call, partitionBy, orderBy }: BoundOver, input: PlanNode): OverForm {
  if (input.updating || !input.eventTime) return 'updating';
  if (partitionBy.some((expr) => namesWindow(expr, input))) return 'closed';
  const [first] = orderBy;
  if (first === undefined || first.descending) return 'updating';
  const order = eventOrderOf(first.expr, input);
  if (order === null) return 'updating';
  return looksBack(call, order === 'exact' && orderBy.length === 1) ? 'timed' : 'updating';
}

/** Whether the result depends on a bounded stretch of earlier rows, or on what can be carried along. */
function looksBack(call: OverCall, measurable: boolean): boolean {
  const { fn, frame, ignoreNulls } = call;
  if (fn === 'row_number' || fn === 'rank' || fn === 'dense_rank') return true;
  if (fn === 'lag') return !ignoreNulls;
  const framed = ['aggregate', 'first_value', 'last_value', 'nth_value'].includes(fn);
  if (!framed || frame.unit === 'groups') return false;
  const { start, end } = frame;
  if (end.tag !== 'current_row' && end.tag !== 'preceding') return false;
  const distance = start.tag === 'preceding' || end.tag === 'preceding';
  if (frame.unit === 'range' && distance && !measurable) return false;
  if (start.tag !== 'unbounded_preceding') return true;
  if (fn === 'aggregate') return end.tag === 'current_row';
  return !ignoreNulls;
}

function fieldOf(call: OverCall, schema: PlanNode['schema']): Field {
  return { name: call.label, type: call.type, nullable: mayBeNull(call, schema) };
}

function mayBeNull(call: OverCall, schema: PlanNode['schema']): boolean {
  const { fn, aggregate, frame, args } = call;
  if (fn === 'aggregate' && aggregate !== null) {
    if (neverGivesNull(aggregate)) return false;
    if (mayGiveNull(aggregate)) return true;
    const own =
      ['unbounded_preceding', 'preceding', 'current_row'].includes(frame.start.tag) &&
      ['current_row', 'following', 'unbounded_following'].includes(frame.end.tag);
    return (
      !own || aggregate.filter !== null || aggregate.args.some((arg) => isNullable(arg, schema))
    );
  }
  return args.length > 0;
}
