/** One line for people about a node; used by EXPLAIN and as the description of an operator. */
import { type Schema, typeName } from '../batch/types.ts';
import type { AggregateCall, Expr } from '../expr/expr.ts';
import { printExpr } from '../expr/print.ts';
import { describeJoin } from './describe-join.ts';
import { formatInterval } from './interval.ts';
import type { PlanNode, SinkPlan, Window } from './logical.ts';
import { describeMatch } from './describe-match.ts';
import { describeOver, describeTopN } from './describe-over.ts';
import { describeUserFunctions } from './describe-user-functions.ts';
import { quoteName } from './name-text.ts';

export function describeNode(node: PlanNode): string {
  switch (node.tag) {
    case 'scan':
      return `source ${node.table} (${node.connector})`;
    case 'project':
      return node.exprs
        .map((expr, index) => withName(expr, node.input.schema, node.schema[index]?.name ?? ''))
        .join(', ');
    case 'filter':
      return `where ${printOver(node.predicate, node.input.schema)}`;
    case 'window-aggregate':
      return `${describeWindow(node.window)} ${describeGroups(node.groupBy, node.aggregates, node.input.schema)}`;
    case 'window-best': {
      const name = quoteName(node.input.schema[node.column]?.name ?? '');
      return `${describeWindow(node.window)} rows with the ${node.greatest ? 'greatest' : 'least'} ${name}${node.local ? ', of each subtask' : ''}`;
    }
    case 'updating-aggregate':
      return `updating ${describeGroups(node.groupBy, node.aggregates, node.input.schema)}`;
    case 'newest-by-key':
      return `newest row by ${node.keyColumns.map((key) => quoteName(node.schema[key]?.name ?? '')).join(', ')}`;
    case 'join':
      return describeJoin(node);
    case 'unnest': {
      const lists = node.lists.map((list) => printOver(list, node.input.schema)).join(', ');
      return `${node.outer ? 'outer ' : ''}unnest ${lists}${node.ordinality ? ' with ordinality' : ''}`;
    }
    case 'union':
      return `union of ${node.inputs.length} inputs`;
    case 'over':
      return describeOver(node);
    case 'top-n':
      return describeTopN(node);
    case 'user-function':
      return describeUserFunctions(node);
    case 'match':
      return describeMatch(node);
    case 'set-operation':
      return `${node.operator}${node.all ? ' all' : ''}`;
  }
}

export const describeSink = (sink: SinkPlan): string => `sink ${sink.table} (${sink.connector})`;

export const describeSchema = (schema: Schema): string =>
  schema
    .map(
      (field) =>
        `${readable(field.name)} ${typeName(field.type)}${field.nullable ? '' : ' NOT NULL'}`,
    )
    .join(', ');

export const printOver = (expr: Expr, schema: Schema): string =>
  printExpr(
    expr,
    schema.map((field) => readable(field.name)),
  );

/** An aggregate's column is named by its call, which needs no quotes to be understood. */
const readable = (name: string): string => (name.endsWith(')') ? name : quoteName(name));

/** `tumble(1 day, offset 5 hours)`. */
export function describeWindow(window: Window): string {
  return `${window.tag}(${windowArguments(window).join(', ')})`;
}

function windowArguments(window: Window): string[] {
  if (window.tag === 'session') return [formatInterval(window.gapMicros)];
  const { widthMicros, offsetMicros, timezone, earlyMs, latenessMicros } = window;
  const step =
    window.tag === 'tumble' ? null : window.tag === 'hop' ? window.slideMicros : window.stepMicros;
  return [
    ...(step === null ? [] : [formatInterval(step)]),
    formatInterval(widthMicros),
    ...(offsetMicros === 0 ? [] : [`offset ${formatInterval(offsetMicros)}`]),
    ...(timezone === undefined ? [] : [`timezone ${timezone}`]),
    ...(earlyMs === undefined ? [] : [`early ${formatInterval(earlyMs * 1000)}`]),
    ...(latenessMicros === undefined ? [] : [`lateness ${formatInterval(latenessMicros)}`]),
  ];
}

function describeGroups(
  keys: readonly Expr[],
  aggregates: readonly AggregateCall[],
  schema: Schema,
): string {
  const what =
    aggregates.length === 0 ? 'distinct' : aggregates.map((call) => call.label).join(', ');
  return keys.length === 0
    ? what
    : `${what} by ${keys.map((key) => printOver(key, schema)).join(', ')}`;
}

function withName(expr: Expr, schema: Schema, name: string): string {
  const text = printOver(expr, schema);
  return text === quoteName(name) ? text : `${text} AS ${quoteName(name)}`;
}
