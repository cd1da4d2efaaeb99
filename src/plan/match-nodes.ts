/** The plan node of MATCH_RECOGNIZE. */
import type { Field } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import type { MatchExpr, MatchShape } from '../expr/match.ts';
import { mapColumns } from '../expr/expr-tools.ts';
import { must } from '../base/assert.ts';
import { aggregateOperands, columnsOf, mapAggregate } from './expressions.ts';
import type { MatchNode, PlanNode } from './logical.ts';

/** Columns: the partition's, then the measures. */
export function makeMatch(
  input: PlanNode,
  shape: MatchShape,
  pattern: string,
  measureFields: readonly Field[],
): MatchNode {
  const partition = shape.partitionBy.map((expr) => must(input.schema[columnOf(expr)], 'a column'));
  const schema = [...partition, ...measureFields];
  return {
    tag: 'match',
    input,
    ...shape,
    pattern,
    schema,
    updating: false,
    keys: null,
    eventTime: true,
    windows: schema.map(() => null),
  };
}

const columnOf = (expr: Expr): number => (expr.tag === 'column' ? expr.index : -1);

/** The columns of the input that are read, for what leaves the node or by it. */
export function matchOperands(node: MatchShape): Expr[] {
  return [
    ...node.partitionBy,
    ...node.orderBy.map(({ expr }) => expr),
    ...node.conditions.flatMap((condition) => (condition === null ? [] : readsOf(condition))),
    ...node.measures.flatMap(readsOf),
  ];
}

/** What conditions and measures compute, over columns of any kind. */
export const matchExprs = ({ conditions, measures }: MatchShape): Expr[] =>
  [...conditions, ...measures].flatMap((part) =>
    part === null
      ? []
      : [part.expr, ...part.aggregates.flatMap(({ call }) => aggregateOperands(call))],
  );

function readsOf({ navigations, aggregates }: MatchExpr): Expr[] {
  const columns = navigations.flatMap(({ read, type }): Expr[] =>
    read.tag === 'column' ? [{ tag: 'column', index: read.index, type }] : [],
  );
  const operands = aggregates.flatMap(({ call }) => aggregateOperands(call));
  const read = operands.flatMap((operand) => {
    const types = new Map<number, Expr>();
    mapColumns(operand, (column) => {
      types.set(column.index, column);
      return column;
    });
    return [...columnsOf([operand])].map((index) => must(types.get(index), 'a column'));
  });
  return [...columns, ...read];
}

/** The expression over rows whose columns are elsewhere. */
export const mapMatchExpr = (
  part: MatchExpr,
  change: (expr: Expr & { tag: 'column' }) => Expr & { tag: 'column' },
): MatchExpr => ({
  ...part,
  navigations: part.navigations.map((navigation) => {
    const { read, type } = navigation;
    if (read.tag !== 'column') return navigation;
    const { index } = change({ tag: 'column', index: read.index, type });
    return { ...navigation, read: { tag: 'column', index } };
  }),
  aggregates: part.aggregates.map(({ variable, call }) => ({
    variable,
    call: mapAggregate(call, (expr) => mapColumns(expr, change)),
  })),
});
