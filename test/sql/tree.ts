/** Trees without their places, for comparing what was parsed with what was meant. */
import { parseProgram } from '../../src/sql/parser.ts';
import type { Expression } from '../../src/sql/ast-expression.ts';
import type { Query } from '../../src/sql/ast-query.ts';
import type { Statement } from '../../src/sql/ast-statement.ts';

const PLACES = new Set(['span', 'operatorSpan', 'keySpan']);

/** A copy without spans. */
export function withoutSpans(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSpans);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => !PLACES.has(key));
  return Object.fromEntries(entries.map(([key, child]) => [key, withoutSpans(child)]));
}

/** The statements of a text that must be right. */
export function statementsOf(text: string): readonly Statement[] {
  const { program, errors } = parseProgram(text);
  if (errors.length > 0) throw new Error(`${text}\n${JSON.stringify(errors, null, 2)}`);
  return program.statements;
}

export function statementOf<T extends Statement['tag']>(
  text: string,
  tag: T,
): Extract<Statement, { tag: T }> {
  const [statement, ...more] = statementsOf(text);
  if (statement === undefined || more.length > 0 || statement.tag !== tag)
    throw new Error(`not one ${tag}: ${text}`);
  return statement as Extract<Statement, { tag: T }>;
}

export function queryOf(text: string): Query {
  return statementOf(text, 'query_statement').query;
}

/** The one expression of `SELECT text`. */
export function expressionOf(text: string): Expression {
  const { body } = queryOf(`SELECT ${text}`);
  const item = body.tag === 'select' ? body.items[0] : undefined;
  if (item?.tag !== 'expression') throw new Error(`not an expression: ${text}`);
  return item.expression;
}
