/** One line for people about OVER and Top-N. */
import { printExpr } from '../expr/print.ts';
import type { Expr } from '../expr/expr.ts';
import type { SortKey } from '../expr/over.ts';
import type { Schema } from '../batch/types.ts';
import type { OverNode, TopNNode } from './logical.ts';
import { quoteName } from './name-text.ts';

const FORMS = { closed: 'over window', timed: 'over', updating: 'updating over' } as const;

export function describeOver(node: OverNode): string {
  const window = partText(node.partitionBy, node.orderBy, node.input.schema);
  if (node.calls.length === 0) return `sort (${window})`;
  return `${FORMS[node.form]} ${node.calls.map((call) => call.label).join(', ')} (${window})`;
}

export function describeTopN(node: TopNNode): string {
  const { limit, offset, ties } = node;
  const rows = `top ${limit}${ties ? ' with ties' : ''}${offset === 0 ? '' : ` after ${offset}`}`;
  return `${rows} (${partText(node.partitionBy, node.orderBy, node.input.schema)})`;
}

function partText(
  partitionBy: readonly Expr[],
  orderBy: readonly SortKey[],
  schema: Schema,
): string {
  const names = schema.map((field) => quoteName(field.name));
  const keys = partitionBy.map((expr) => printExpr(expr, names)).join(', ');
  const order = orderBy.map((key) => sortKeyText(key, names)).join(', ');
  return [
    ...(keys === '' ? [] : [`partition by ${keys}`]),
    ...(order === '' ? [] : [`order by ${order}`]),
  ].join(' ');
}

function sortKeyText({ expr, descending, nullsFirst }: SortKey, names: readonly string[]): string {
  const nulls = nullsFirst === descending ? '' : ` nulls ${nullsFirst ? 'first' : 'last'}`;
  return `${printExpr(expr, names)}${descending ? ' desc' : ''}${nulls}`;
}
