/** What the binder asks of the function registry, with arguments cast to what an overload wants. */
import type { ErrorCode, ErrorExtras } from '../base/errors.ts';
import {
  INTEGERS,
  type SqlType,
  UINT64,
  isIntegerTag,
  sameType,
  typeName,
} from '../batch/types.ts';
import { makeAccumulator } from '../expr/aggregate-registry.ts';
import { canCast, castHint } from '../expr/cast.ts';
import { commonTypeOf } from '../expr/coercion.ts';
import { foldConstants } from '../expr/compile.ts';
import type { AggregateCall, Expr } from '../expr/expr.ts';
import { printExpr } from '../expr/print.ts';
import { type ResolveError, functionById, resolveFunction } from '../expr/registry.ts';
import { isUntyped } from './literals.ts';

export type CallError = {
  tag: 'error';
  code: ErrorCode;
  message: string;
  extras: Omit<ErrorExtras, 'span'>;
};

/** The call of the overload that the arguments mean. */
export function resolveCall(
  name: string,
  args: readonly Expr[],
): { tag: 'expr'; expr: Expr } | CallError {
  const typed = withUnsignedLiterals(name, args);
  const resolved = resolveFunction(
    name,
    typed.map((arg) => arg.type),
    typed.map(isUntyped),
  );
  if ('error' in resolved) return refusal(name, resolved);
  const cast = castAll(typed, resolved.coerced);
  if (cast.tag === 'error') return cast;
  const values = cast.args.map((arg) => (arg.tag === 'literal' ? arg.value : undefined));
  const problem = functionById(resolved.fn).check?.(values) ?? null;
  if (problem !== null)
    return { tag: 'error', code: 'TYPE_ERROR', message: `${name}: ${problem}`, extras: {} };
  return {
    tag: 'expr',
    expr: { tag: 'call', fn: resolved.fn, args: cast.args, type: resolved.type },
  };
}

/** Operators that give a BIGINT UNSIGNED for a BIGINT UNSIGNED and a constant; a difference may be negative. */
const KEEPS_UNSIGNED: ReadonlySet<string> = new Set([
  '=',
  '<>',
  '<',
  '<=',
  '>',
  '>=',
  '+',
  '*',
  '/',
  '%',
  'in',
]);

/** A whole-number constant beside a BIGINT UNSIGNED is one as well, rather than both becoming DECIMAL. */
function withUnsignedLiterals(name: string, args: readonly Expr[]): readonly Expr[] {
  if (!KEEPS_UNSIGNED.has(name) || !args.some(({ type }) => type.tag === 'uint64')) return args;
  return args.map((arg) => {
    if (arg.tag !== 'literal' || arg.value === null) return arg;
    const { type } = arg;
    const whole = isIntegerTag(type.tag) || (type.tag === 'decimal' && type.scale === 0);
    const value = whole ? BigInt(String(arg.value)) : -1n;
    if (value < 0n || value > INTEGERS.uint64.max) return arg;
    return { tag: 'literal', value: value.toString(), type: UINT64 };
  });
}

export function castAll(
  args: readonly Expr[],
  types: readonly SqlType[],
): { tag: 'args'; args: Expr[] } | CallError {
  const done: Expr[] = [];
  for (const [index, arg] of args.entries()) {
    const result = castTo(arg, types[index] as SqlType, false);
    if (result.tag === 'refused')
      return {
        tag: 'error',
        code: 'TYPE_ERROR',
        message: result.message,
        extras: { hint: result.hint },
      };
    done.push(result.expr);
  }
  return { tag: 'args', args: done };
}

export function refusal(name: string, error: ResolveError): CallError {
  const isWord = /^[a-z_]/i.test(name);
  const suggestion = error.error === 'UNKNOWN_FUNCTION' ? error.candidates[0] : undefined;
  const extras = {
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    ...(suggestion === undefined ? {} : { suggestion }),
  };
  // An operator is in the grammar, so not having it is ours and not a mistyped name.
  if (error.error === 'UNKNOWN_FUNCTION' && !isWord)
    return {
      tag: 'error',
      code: 'UNSUPPORTED',
      message: `the operator ${name} is not supported yet`,
      extras: { hint: 'write the expression with functions' },
    };
  return { tag: 'error', code: error.error, message: error.message, extras };
}

/** `expr` as `type`; a constant is converted here, so that one that can not be is found before anything runs. */
export function castTo(
  expr: Expr,
  type: SqlType,
  orNull: boolean,
): { tag: 'expr'; expr: Expr } | { tag: 'refused'; message: string; hint: string } {
  if (sameType(expr.type, type)) return { tag: 'expr', expr };
  if (expr.tag === 'literal' && expr.value === null)
    return { tag: 'expr', expr: { tag: 'literal', value: null, type } };
  if (!canCast(expr.type, type))
    return {
      tag: 'refused',
      message: `${typeName(expr.type)} can not become ${typeName(type)}`,
      hint: castHint(expr.type, type),
    };
  const cast: Expr = { tag: 'cast', input: expr, orNull, type };
  if (expr.tag !== 'literal') return { tag: 'expr', expr: cast };
  const folded = foldExpr(cast);
  if (folded.tag === 'literal') return { tag: 'expr', expr: folded };
  return {
    tag: 'refused',
    message: `${printExpr(expr, [])} is not a value of ${typeName(type)}`,
    hint: `write a value of ${typeName(type)}`,
  };
}

/** The type all of them can become; null: none. */
export const sharedType = (exprs: readonly Expr[]): SqlType | null =>
  commonTypeOf(
    exprs.map((expr) => expr.type),
    exprs.map(isUntyped),
  );

/** Constants computed; what would fail stays as it is and fails at the row that needs it. */
export const foldExpr = (expr: Expr): Expr => foldConstants(expr);

/** Whether an aggregate can take rows back. */
export const isInvertible = (call: AggregateCall): boolean => makeAccumulator(call).invertible;
