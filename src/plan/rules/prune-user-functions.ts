/** Dropping calls of the user's functions that nobody reads, and columns that none of those left reads. */
import { must } from '../../base/assert.ts';
import { mapColumns } from '../../expr/expr-tools.ts';
import type { Expr } from '../../expr/expr.ts';
import { columnsOf, userCallOperands } from '../expressions.ts';
import type { UserCall, UserFunctionNode } from '../logical.ts';
import { makeTableFunction, makeUserFunctions } from '../user-function-nodes.ts';
import type { Pruned } from './pruned.ts';

/** A table function decides how many rows there are, so it is never dropped. */
const keptCalls = (node: UserFunctionNode, own: ReadonlySet<number>): number[] =>
  node.calls.flatMap((_, at) =>
    node.rows !== null || own.has(node.input.schema.length + at) ? [at] : [],
  );

export const userFunctionNeeds = (
  node: UserFunctionNode,
  own: ReadonlySet<number>,
): Iterable<number> => [
  ...[...own].filter((column) => column < node.input.schema.length),
  ...columnsOf(
    keptCalls(node, own).flatMap((at) => userCallOperands(must(node.calls[at], 'a call'))),
  ),
];

export function pruneUserFunctions(
  node: UserFunctionNode,
  own: ReadonlySet<number>,
  input: Pruned,
): Pruned {
  const move = (expr: Expr): Expr =>
    mapColumns(expr, (column) => ({
      ...column,
      index: must(input.places.get(column.index), 'column that is read'),
    }));
  const moved = (call: UserCall): UserCall => ({
    ...call,
    args: call.args.map(move),
    guard: call.guard === null ? null : move(call.guard),
  });
  const width = node.input.schema.length;
  const before = input.node.schema.length;
  const kept = keptCalls(node, own);
  if (kept.length === 0) return input;
  const places = new Map(input.places);
  if (node.rows !== null) {
    for (let column = width; column < node.schema.length; column++)
      places.set(column, before + column - width);
    return {
      node: makeTableFunction(input.node, moved(must(node.calls[0], 'the call')), node.rows),
      places,
    };
  }
  kept.forEach((at, place) => places.set(width + at, before + place));
  const calls = kept.map((at) => moved(must(node.calls[at], 'a call')));
  return { node: makeUserFunctions(input.node, calls), places };
}
