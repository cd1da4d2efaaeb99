/** `where needed` tells that a call is not made for every row. */
import { printExpr } from '../expr/print.ts';
import { userCallId } from '../expr/user-function.ts';
import type { UserFunctionNode } from './logical.ts';
import { quoteName } from './name-text.ts';

export function describeUserFunctions({ calls, input, rows }: UserFunctionNode): string {
  const names = input.schema.map(({ name }) => (name.endsWith(')') ? name : quoteName(name)));
  const texts = calls.map(({ fn, args, guard }) => {
    const call = printExpr({ tag: 'call', fn: userCallId(fn.name), args, type: fn.returns }, names);
    return guard === null ? call : `${call} where ${printExpr(guard, names)}`;
  });
  const what = rows === null ? 'call' : rows === 'outer' ? 'rows or none of' : 'rows of';
  return `${what} ${texts.join(', ')}`;
}
