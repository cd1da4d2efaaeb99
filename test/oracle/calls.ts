/** The calls in an expression, outermost first; those in subqueries belong to them. */
import type { CallExpression } from '../../src/sql/ast-expression.ts';

export function callsOf(node: unknown): CallExpression[] {
  if (Array.isArray(node)) return node.flatMap(callsOf);
  if (typeof node !== 'object' || node === null) return [];
  const { tag } = node as { tag?: string };
  if (tag === 'query') return [];
  const inner = Object.values(node).flatMap(callsOf);
  return tag === 'call' ? [node as CallExpression, ...inner] : inner;
}
