/**
 * Aggregate functions of the user's own, in terms of the built-in ones: `f(a, b)` is `f(array_agg(ROW(a, b)))`, where the outer
 * call gets the rows of a group in one list. So they stand wherever array_agg stands, take DISTINCT, ORDER BY, FILTER and
 * OVER as it does, keep in their state what it keeps, and rows can be taken back from them.
 *
 * Place in the walk: stage 2, on the tree, ahead of binding a statement.
 */
import type { UserFunction } from '../expr/user-function.ts';
import type { Identifier } from '../sql/ast.ts';
import type { CallExpression, Expression } from '../sql/ast-expression.ts';
import { plainCall } from '../sql/parse-call.ts';
import { signatureOf } from './bind-user-call.ts';
import { functionsOf } from './declared-functions.ts';
import type { Diagnostics } from './diagnostics.ts';

/** The same tree with every call of such a function written out. */
export function writeOutAggregates<T>(tree: T, diagnostics: Diagnostics): T {
  const functions = functionsOf(diagnostics);
  const aggregates = new Map<string, UserFunction>();
  for (const { fn } of functions.values()) if (fn.kind === 'aggregate') aggregates.set(fn.name, fn);
  return aggregates.size === 0 ? tree : (visit(tree, aggregates, diagnostics) as T);
}

function visit(
  value: unknown,
  aggregates: ReadonlyMap<string, UserFunction>,
  diagnostics: Diagnostics,
): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => visit(each, aggregates, diagnostics));
  const inner = Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, visit(part, aggregates, diagnostics)]),
  );
  if ((inner as { tag?: unknown }).tag !== 'call') return inner;
  const call = inner as CallExpression;
  const fn = aggregates.get(call.name.name);
  return fn === undefined ? call : writtenOut(call, fn, diagnostics);
}

function writtenOut(call: CallExpression, fn: UserFunction, diagnostics: Diagnostics): Expression {
  const { name, args, span } = call;
  if (args.length !== fn.parameters.length || call.star) {
    diagnostics.error(
      'TYPE_ERROR',
      `${fn.name}() takes ${fn.parameters.length} arguments and is given ${call.star ? '*' : args.length}`,
      span,
      { hint: `it is ${signatureOf(fn)}` },
    );
    return { tag: 'null', span };
  }
  const [only] = args;
  const row: Expression =
    args.length === 1 && only !== undefined
      ? only.value
      : {
          tag: 'row',
          fields: args.map(({ value }, at) => ({
            name: identifier(fn.parameters[at]?.name ?? '', value.span),
            value,
            span: value.span,
          })),
          span,
        };
  const collected: CallExpression = {
    ...call,
    name: { ...name, name: 'array_agg' },
    args: [{ name: null, value: row, span }],
  };
  return plainCall(name, [collected], span);
}

const identifier = (name: string, span: CallExpression['span']): Identifier => ({
  name,
  quoted: false,
  text: name,
  span,
});
