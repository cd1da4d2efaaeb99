/** Expressions as SQL-like text, for EXPLAIN and messages. */
import { constantColumn } from '../batch/constant-column.ts';
import { valueJson } from '../batch/value-json.ts';
import { scalarText } from '../batch/scalar-text.ts';
import { unreachable } from '../base/assert.ts';
import { typeName } from '../batch/types.ts';
import type { Expr } from './expr.ts';
import { functionById } from './registry.ts';
import { placePoint } from './wide.ts';

function printLiteral({ value, type }: Expr & { tag: 'literal' }): string {
  if (value === null) return 'NULL';
  switch (type.tag) {
    case 'text':
      return `'${String(value).replaceAll("'", "''")}'`;
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'date':
    case 'time':
    case 'interval':
    case 'bytea':
    case 'json': {
      const text = scalarText(constantColumn(type, value, 1), 0);
      return `${typeName(type)} '${text.replaceAll("'", "''")}'`;
    }
    case 'decimal':
      return placePoint(BigInt(value as string), type.scale);
    case 'list':
    case 'struct':
      return `${typeName(type)} '${valueJson(constantColumn(type, value, 1), 0).replaceAll("'", "''")}'`;
    case 'boolean':
    case 'int8':
    case 'int16':
    case 'int32':
    case 'int64':
    case 'uint8':
    case 'uint16':
    case 'uint32':
    case 'uint64':
    case 'float32':
    case 'float64':
      return String(value);
    default:
      return unreachable(type);
  }
}

/** Whether the printed form needs parentheses inside an operator. */
function isCompound(expr: Expr): boolean {
  if (expr.tag === 'and' || expr.tag === 'or') return expr.args.length > 1;
  if (expr.tag === 'literal') return printLiteral(expr).startsWith('-');
  return expr.tag === 'call' && functionById(expr.fn).infix !== undefined;
}

/**
 * @param columnNames  the name of each input column; a missing one is printed as #index
 */
export function printExpr(expr: Expr, columnNames: readonly string[]): string {
  const print = (part: Expr): string => printExpr(part, columnNames);
  const operand = (part: Expr): string => (isCompound(part) ? `(${print(part)})` : print(part));
  switch (expr.tag) {
    case 'column':
      return columnNames[expr.index] ?? `#${expr.index}`;
    case 'literal':
      return printLiteral(expr);
    case 'row-time':
      return 'row_time()';
    case 'cast':
      return `${expr.orNull ? 'TRY_CAST' : 'CAST'}(${print(expr.input)} AS ${typeName(expr.type)})`;
    case 'and':
    case 'or':
      return expr.args.map(operand).join(expr.tag === 'and' ? ' AND ' : ' OR ');
    case 'field': {
      const { type } = expr.input;
      const name = type.tag === 'struct' ? type.fields[expr.index]?.name : undefined;
      return `${operand(expr.input)}.${name ?? `#${expr.index}`}`;
    }
    case 'struct':
      return `struct(${expr.args.map(print).join(', ')})`;
    case 'case': {
      const branches = expr.branches.map(
        ({ when, then }) => ` WHEN ${print(when)} THEN ${print(then)}`,
      );
      return `CASE${branches.join('')}${expr.otherwise === null ? '' : ` ELSE ${print(expr.otherwise)}`} END`;
    }
    case 'call':
      return printCall(expr, print, operand);
  }
}

function printCall(
  expr: Expr & { tag: 'call' },
  print: (part: Expr) => string,
  operand: (part: Expr) => string,
): string {
  const { name, infix, id } = functionById(expr.fn);
  const [first, ...rest] = expr.args as readonly [Expr, ...Expr[]];
  if (id === 'in') return `${operand(first)} IN (${rest.map(print).join(', ')})`;
  if (infix === undefined) return `${name}(${expr.args.map(print).join(', ')})`;
  const sign = infix.toUpperCase();
  if (expr.args.length === 1) {
    if (sign.startsWith('IS ')) return `${operand(first)} ${sign}`;
    return sign === '-' ? `-${operand(first)}` : `${sign} ${operand(first)}`;
  }
  const escape = expr.args.length === 3 ? ` ESCAPE ${print(expr.args[2] as Expr)}` : '';
  return `${operand(first)} ${sign} ${operand(rest[0] as Expr)}${escape}`;
}
