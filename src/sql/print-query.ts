/**
 * Queries and expressions as SQL text.
 *
 * Invariant: what is printed parses to an equal tree, spans aside; parentheses are printed where the tree
 * needs them and nowhere else. Recursion is bounded by the height of the tree (LIMITS.queryHeightMax).
 */
import { unreachable } from '../base/assert.ts';
import type { Identifier } from './ast.ts';
import type {
  CallExpression,
  CaseExpression,
  Expression,
  FrameBound,
  IntervalLiteral,
  UnaryExpression,
  WindowSpecification,
} from './ast-expression.ts';
import type {
  CommonTable,
  GroupingElement,
  GroupingSets,
  GroupItem,
  Join,
  JoinKind,
  OrderItem,
  Query,
  Select,
  SelectItem,
  SetExpression,
  SetOperation,
  TableAlias,
  TableReference,
} from './ast-query.ts';
import { BINARY_PRECEDENCE, PRECEDENCE, precedenceOf } from './precedence.ts';
import { type PartPrinters, printMatch } from './print-match.ts';
import { printIdentifier, printType, quote } from './print-type.ts';

// Queries.

export function printQuery(query: Query): string {
  const parts: string[] = [];
  if (query.with.length > 0) parts.push(`WITH ${query.with.map(printCommonTable).join(', ')}`);
  parts.push(printSetExpression(query.body));
  if (query.orderBy.length > 0) parts.push(printOrderBy(query.orderBy));
  if (query.limit !== null) parts.push(`LIMIT ${printExpression(query.limit)}`);
  if (query.offset !== null) parts.push(`OFFSET ${printExpression(query.offset)}`);
  return parts.join(' ');
}

function printCommonTable(table: CommonTable): string {
  return `${printIdentifier(table.name)}${printColumns(table.columns)} AS (${printQuery(table.query)})`;
}

/** ` (a, b)`, or nothing for no names. */
export function printColumns(columns: readonly Identifier[]): string {
  return columns.length === 0 ? '' : ` (${columns.map(printIdentifier).join(', ')})`;
}

function printSetExpression(body: SetExpression): string {
  switch (body.tag) {
    case 'select':
      return printSelect(body);
    case 'values':
      return `VALUES ${body.rows.map((row) => `(${printList(row)})`).join(', ')}`;
    case 'nested':
      return `(${printQuery(body.query)})`;
    case 'set_operation':
      return printSetOperation(body);
  }
}

function printSetOperation(operation: SetOperation): string {
  const binding = setBinding(operation);
  const left = printSetExpression(operation.left);
  const right = printSetExpression(operation.right);
  const operator = `${operation.operator.toUpperCase()}${operation.all ? ' ALL' : ''}`;
  const leftText = setBinding(operation.left) < binding ? `(${left})` : left;
  const rightText = setBinding(operation.right) <= binding ? `(${right})` : right;
  return `${leftText} ${operator} ${rightText}`;
}

function setBinding(body: SetExpression): number {
  if (body.tag !== 'set_operation') return 3;
  return body.operator === 'intersect' ? 2 : 1;
}

function printSelect(select: Select): string {
  const parts = [
    select.distinct
      ? 'SELECT DISTINCT'
      : select.distinctOn.length > 0
        ? `SELECT DISTINCT ON (${printList(select.distinctOn)})`
        : 'SELECT',
    select.items.map(printSelectItem).join(', '),
  ];
  if (select.from.length > 0) parts.push('FROM', select.from.map(printTableReference).join(', '));
  if (select.where !== null) parts.push('WHERE', printExpression(select.where));
  if (select.groupBy.length > 0)
    parts.push('GROUP BY', select.groupBy.map(printGroupItem).join(', '));
  if (select.having !== null) parts.push('HAVING', printExpression(select.having));
  if (select.windows.length > 0)
    parts.push(
      'WINDOW',
      select.windows
        .map(({ name, window }) => `${printIdentifier(name)} AS (${printWindow(window)})`)
        .join(', '),
    );
  if (select.qualify !== null) parts.push('QUALIFY', printExpression(select.qualify));
  return parts.join(' ');
}

function printGroupItem(item: GroupItem): string {
  return item.tag === 'grouping_sets' ? printGroupingSets(item) : printExpression(item);
}

function printGroupingSets({ kind, elements }: GroupingSets): string {
  const word = { rollup: 'ROLLUP', cube: 'CUBE', sets: 'GROUPING SETS' }[kind];
  return `${word} (${elements.map(printGroupingElement).join(', ')})`;
}

const printGroupingElement = (element: GroupingElement): string =>
  element.tag === 'grouping_sets'
    ? printGroupingSets(element)
    : `(${printList(element.expressions)})`;

function printSelectItem(item: SelectItem): string {
  if (item.tag === 'expression') {
    const alias = item.alias === null ? '' : ` AS ${printIdentifier(item.alias)}`;
    return printExpression(item.expression) + alias;
  }
  const qualifier = item.qualifier === null ? '' : `${printIdentifier(item.qualifier)}.`;
  return `${qualifier}*${item.exclude.length === 0 ? '' : ` EXCEPT${printColumns(item.exclude)}`}`;
}

function printTableReference(table: TableReference): string {
  switch (table.tag) {
    case 'table':
      return `${printIdentifier(table.name)}${printSystemTime(table.asOf)}${printTableAlias(table.alias)}`;
    case 'derived':
      return `${table.lateral ? 'LATERAL ' : ''}(${printQuery(table.query)})${printTableAlias(table.alias)}`;
    case 'table_function': {
      const ordinality = table.withOrdinality ? ' WITH ORDINALITY' : '';
      return `${table.lateral ? 'LATERAL ' : ''}${printCall(table.call)}${ordinality}${printTableAlias(table.alias)}`;
    }
    case 'windowed': {
      const { name, column, args } = table;
      const given = args.map((arg) => printExpression(arg)).join(', ');
      return `TABLE(${printIdentifier(name)}(TABLE ${printIdentifier(table.table)}, DESCRIPTOR(${printIdentifier(column)}), ${given}))${printTableAlias(table.alias)}`;
    }
    case 'join':
      return printJoin(table);
    case 'match':
      return printMatch(table, MATCH_PARTS);
  }
}

const MATCH_PARTS: PartPrinters = {
  table: (table) => printTableReference(table),
  alias: (alias) => printTableAlias(alias),
  expression: (expression) => printExpression(expression),
  orderBy: (items) => printOrderBy(items),
};

const printSystemTime = (asOf: Expression | null): string =>
  asOf === null ? '' : ` FOR SYSTEM_TIME AS OF ${printExpression(asOf)}`;

function printTableAlias(alias: TableAlias | null): string {
  return alias === null ? '' : ` AS ${printIdentifier(alias.name)}${printColumns(alias.columns)}`;
}

const JOIN_WORDS: Readonly<Record<JoinKind, string>> = {
  inner: 'JOIN',
  left: 'LEFT JOIN',
  right: 'RIGHT JOIN',
  full: 'FULL JOIN',
  cross: 'CROSS JOIN',
  semi: 'LEFT SEMI JOIN',
  anti: 'LEFT ANTI JOIN',
};

function printJoin(join: Join): string {
  const { constraint } = join;
  const natural = constraint?.tag === 'natural' ? 'NATURAL ' : '';
  const right = printTableReference(join.right);
  let text = `${printTableReference(join.left)} ${natural}${join.asOf ? 'ASOF ' : ''}${JOIN_WORDS[join.kind]} `;
  text += join.right.tag === 'join' ? `(${right})` : right;
  if (constraint?.tag === 'on') text += ` ON ${printExpression(constraint.condition)}`;
  if (constraint?.tag === 'using') text += ` USING${printColumns(constraint.columns)}`;
  return text;
}

function printOrderBy(items: readonly OrderItem[]): string {
  const texts = items.map((item) => {
    const nulls = item.nulls === null ? '' : ` NULLS ${item.nulls.toUpperCase()}`;
    return `${printExpression(item.expression)}${item.descending ? ' DESC' : ''}${nulls}`;
  });
  return `ORDER BY ${texts.join(', ')}`;
}

// Expressions.

/** The expression, in parentheses if its outermost operator binds less tightly than `bindingPower`. */
export function printExpression(expression: Expression, bindingPower = 0): string {
  const text = printBare(expression);
  return precedenceOf(expression) < bindingPower ? `(${text})` : text;
}

function printList(expressions: readonly Expression[]): string {
  return expressions.map((expression) => printExpression(expression)).join(', ');
}

function printBare(expression: Expression): string {
  switch (expression.tag) {
    case 'number':
      return expression.text;
    case 'string':
      return quote(expression.value, "'");
    case 'boolean':
      return expression.value ? 'TRUE' : 'FALSE';
    case 'null':
      return 'NULL';
    case 'bytes':
      return `X'${expression.hex}'`;
    case 'typed_literal':
      return `${printType(expression.type)} ${quote(expression.text, "'")}`;
    case 'interval':
      return printInterval(expression);
    case 'path':
      return expression.parts.map(printIdentifier).join('.');
    case 'call':
      return printCall(expression);
    case 'case':
      return printCase(expression);
    case 'cast':
      return `${expression.safe ? 'TRY_CAST' : 'CAST'}(${printExpression(expression.operand)} AS ${printType(expression.type)})`;
    case 'array':
      return `ARRAY[${printList(expression.elements)}]`;
    case 'row': {
      const fields = expression.fields.map(
        ({ name, value }) =>
          printExpression(value) + (name === null ? '' : ` AS ${printIdentifier(name)}`),
      );
      return `ROW(${fields.join(', ')})`;
    }
    case 'exists':
      return `EXISTS (${printQuery(expression.query)})`;
    case 'subquery':
      return `(${printQuery(expression.query)})`;
    default:
      return printOperation(expression);
  }
}

type Leaf =
  | 'number'
  | 'string'
  | 'boolean'
  | 'null'
  | 'bytes'
  | 'typed_literal'
  | 'interval'
  | 'path';
type Enclosed = 'call' | 'case' | 'cast' | 'array' | 'row' | 'exists' | 'subquery';
type Operation = Exclude<Expression, { tag: Leaf | Enclosed }>;

function printOperation(expression: Operation): string {
  const not = 'negated' in expression && expression.negated ? 'NOT ' : '';
  switch (expression.tag) {
    case 'unary':
      return printUnary(expression);
    case 'binary': {
      const binding = BINARY_PRECEDENCE[expression.operator];
      // Comparisons do not associate, so that even the left one needs its parentheses.
      const left = printExpression(
        expression.left,
        binding === PRECEDENCE.comparison ? binding + 1 : binding,
      );
      return `${left} ${expression.operator.toUpperCase()} ${printExpression(expression.right, binding + 1)}`;
    }
    case 'is':
      return `${printExpression(expression.operand, PRECEDENCE.is)} IS ${not}${expression.test.toUpperCase()}`;
    case 'is_distinct':
      return `${printExpression(expression.left, PRECEDENCE.is)} IS ${not}DISTINCT FROM ${printExpression(expression.right, PRECEDENCE.comparison)}`;
    case 'between':
      return `${printMember(expression.operand)} ${not}BETWEEN ${printMember(expression.low)} AND ${printMember(expression.high)}`;
    case 'in_list':
      return `${printMember(expression.operand)} ${not}IN (${printList(expression.items)})`;
    case 'in_query':
      return `${printMember(expression.operand)} ${not}IN (${printQuery(expression.query)})`;
    case 'like': {
      const word = expression.kind === 'similar' ? 'SIMILAR TO' : expression.kind.toUpperCase();
      const escape =
        expression.escape === null ? '' : ` ESCAPE ${quote(expression.escape.value, "'")}`;
      return `${printMember(expression.operand)} ${not}${word} ${printMember(expression.pattern)}${escape}`;
    }
    case 'at_time_zone':
      return `${printExpression(expression.operand, PRECEDENCE.timeZone)} AT TIME ZONE ${printExpression(expression.zone, PRECEDENCE.timeZone + 1)}`;
    case 'field':
      return `(${printExpression(expression.base)}).${printIdentifier(expression.name)}`;
    case 'subscript':
      return `${printBase(expression.base)}[${printExpression(expression.index)}]`;
    case 'slice': {
      const from = expression.from === null ? '' : `${printExpression(expression.from)} `;
      const to = expression.to === null ? '' : ` ${printExpression(expression.to)}`;
      return `${printBase(expression.base)}[${from}:${to}]`;
    }
    default:
      return unreachable(expression);
  }
}

/** An operand of BETWEEN, IN or LIKE. */
function printMember(expression: Expression): string {
  return printExpression(expression, PRECEDENCE.other);
}

/** What a subscript stands behind; only where it cannot be misread without parentheses. */
function printBase(base: Expression): string {
  const isPlain = ['path', 'call', 'subscript', 'slice', 'field'].includes(base.tag);
  return isPlain ? printExpression(base) : `(${printExpression(base)})`;
}

function printUnary({ operator, operand }: UnaryExpression): string {
  if (operator === 'not') return `NOT ${printExpression(operand, PRECEDENCE.not + 1)}`;
  if (operator === '~') return `~ ${printExpression(operand, PRECEDENCE.other + 1)}`;
  const text = printExpression(operand, PRECEDENCE.sign);
  // Two minus signs would start a comment.
  return text.startsWith(operator) ? `${operator} ${text}` : operator + text;
}

export function printInterval(interval: IntervalLiteral): string {
  return `INTERVAL ${quote(interval.text, "'")}${interval.unit === null ? '' : ` ${interval.unit.toUpperCase()}`}`;
}

function printCase(expression: CaseExpression): string {
  const operand = expression.operand === null ? '' : ` ${printExpression(expression.operand)}`;
  const branches = expression.branches.map(
    ({ when, then }) => ` WHEN ${printExpression(when)} THEN ${printExpression(then)}`,
  );
  const otherwise =
    expression.otherwise === null ? '' : ` ELSE ${printExpression(expression.otherwise)}`;
  return `CASE${operand}${branches.join('')}${otherwise} END`;
}

function printCall(call: CallExpression): string {
  const args = call.args.map(
    ({ name, value }) =>
      (name === null ? '' : `${printIdentifier(name)} => `) + printExpression(value),
  );
  const list = call.star ? '*' : `${call.distinct ? 'DISTINCT ' : ''}${args.join(', ')}`;
  const orderBy = call.orderBy.length === 0 ? '' : ` ${printOrderBy(call.orderBy)}`;
  let text = `${printIdentifier(call.name)}(${list}${orderBy})`;
  if (call.withinGroup.length > 0) text += ` WITHIN GROUP (${printOrderBy(call.withinGroup)})`;
  if (call.filter !== null) text += ` FILTER (WHERE ${printExpression(call.filter)})`;
  if (call.nullTreatment !== null) text += ` ${call.nullTreatment.toUpperCase()} NULLS`;
  if (call.over !== null) text += ` OVER ${printOver(call.over)}`;
  return text;
}

function printOver(window: WindowSpecification): string {
  const { base, partitionBy, orderBy, frame } = window;
  const named = partitionBy.length === 0 && orderBy.length === 0 && frame === null;
  return base !== null && named ? printIdentifier(base) : `(${printWindow(window)})`;
}

function printWindow(window: WindowSpecification): string {
  const parts: string[] = window.base === null ? [] : [printIdentifier(window.base)];
  if (window.partitionBy.length > 0) parts.push(`PARTITION BY ${printList(window.partitionBy)}`);
  if (window.orderBy.length > 0) parts.push(printOrderBy(window.orderBy));
  if (window.frame !== null) {
    const { unit, start, end } = window.frame;
    parts.push(
      `${unit.toUpperCase()} BETWEEN ${printFrameBound(start)} AND ${printFrameBound(end)}`,
    );
  }
  return parts.join(' ');
}

function printFrameBound(bound: FrameBound): string {
  if (bound.tag === 'preceding' || bound.tag === 'following') {
    return `${printMember(bound.offset)} ${bound.tag.toUpperCase()}`;
  }
  return bound.tag.replace('_', ' ').toUpperCase();
}
