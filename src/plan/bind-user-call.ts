/** Calls of functions of the user's own: arguments as their parameters want them. */
import type { Span } from '../base/errors.ts';
import {
  type SqlType,
  isIntegerTag,
  isNested,
  listType,
  sameType,
  typeName,
} from '../batch/types.ts';
import { matchPattern } from '../expr/coercion.ts';
import type { Expr } from '../expr/expr.ts';
import { type UserFunction, userCallId } from '../expr/user-function.ts';
import type { DeclaredFunction } from './declared-functions.ts';
import type { Diagnostics } from './diagnostics.ts';
import { POISON } from './expression-context.ts';
import { castTo } from './functions.ts';
import { isUntyped } from './literals.ts';

/** The arguments as the code gets them; null after an error. */
export function bindUserArguments(
  declared: DeclaredFunction,
  args: readonly Expr[],
  span: Span,
  diagnostics: Diagnostics,
): Expr[] | null {
  const { fn } = declared;
  declared.called ??= span;
  const types = argumentTypes(fn);
  if (args.length !== types.length) {
    diagnostics.error(
      'TYPE_ERROR',
      `${fn.name}() takes ${fn.parameters.length} arguments and is given ${args.length}`,
      span,
      { hint: `it is ${signatureOf(fn)}` },
    );
    return null;
  }
  const done: Expr[] = [];
  for (const [index, arg] of args.entries()) {
    const type = types[index] as SqlType;
    const cast = becomes(arg, type) ? castTo(arg, type, false) : null;
    if (cast?.tag !== 'expr') {
      diagnostics.error('TYPE_ERROR', cast?.message ?? mismatch(fn, index, arg.type, type), span, {
        hint: `it is ${signatureOf(fn)}; a CAST may help`,
      });
      return null;
    }
    done.push(cast.expr);
  }
  return done;
}

function mismatch(fn: UserFunction, index: number, given: SqlType, wanted: SqlType): string {
  if (fn.kind !== 'aggregate')
    return `the argument "${fn.parameters[index]?.name}" of ${fn.name}() is ${typeName(wanted)}, not ${typeName(given)}`;
  const row = given.tag === 'list' ? given.element : given;
  const types = row.tag === 'struct' ? row.fields.map(({ type }) => type) : [row];
  return `${fn.name}() is not defined for (${types.map(typeName).join(', ')})`;
}

/** An aggregate function gets the values of its rows in one list, as structs when a row has several. */
export function argumentTypes({ kind, parameters }: UserFunction): SqlType[] {
  const [only] = parameters;
  if (kind !== 'aggregate') return parameters.map(({ type }) => type);
  if (parameters.length === 1 && only !== undefined) return [listType(only.type)];
  const fields = parameters.map(({ name, type }) => ({ name, type, nullable: true }));
  return [listType({ tag: 'struct', fields })];
}

/** Whether the value may be given without a cast in the text. */
function becomes(arg: Expr, type: SqlType): boolean {
  if (sameType(arg.type, type) || isUntyped(arg)) return true;
  // A constant of a wider type is looked at: castTo refuses what the narrow one does not hold.
  if (arg.tag === 'literal' && isIntegerTag(arg.type.tag) && isNumeric(type)) return true;
  if (arg.tag === 'literal' && isNumeric(arg.type) && /^(?:float|decimal)/.test(type.tag))
    return true;
  if (isNested(type)) return fits(arg.type, type);
  return matchPattern(type.tag, arg.type, false) !== null;
}

function fits(from: SqlType, to: SqlType): boolean {
  if (from.tag === 'list' && to.tag === 'list') return fits(from.element, to.element);
  if (from.tag === 'struct' && to.tag === 'struct')
    return (
      from.fields.length === to.fields.length &&
      from.fields.every((field, index) => fits(field.type, to.fields[index]?.type ?? field.type))
    );
  if (isNested(from) || isNested(to)) return false;
  return sameType(from, to) || matchPattern(to.tag, from, false) !== null;
}

const isNumeric = ({ tag }: SqlType): boolean => /^(?:u?int|float|decimal)/.test(tag);

export function signatureOf(fn: UserFunction): string {
  const parameters = fn.parameters.map(({ name, type }) => `${name} ${typeName(type)}`);
  return `${fn.name}(${parameters.join(', ')})`;
}

/** A call in an expression. */
export function bindUserCall(
  declared: DeclaredFunction,
  args: readonly Expr[],
  span: Span,
  diagnostics: Diagnostics,
): Expr {
  const { fn } = declared;
  if (fn.kind === 'table') {
    diagnostics.error('TYPE_ERROR', `${fn.name}() gives rows, not a value`, span, {
      hint: `use it in FROM: FROM t, LATERAL ${fn.name}(…) AS r`,
    });
    return POISON;
  }
  const bound = bindUserArguments(declared, args, span, diagnostics);
  if (bound === null) return POISON;
  return { tag: 'call', fn: userCallId(fn.name), args: bound, type: fn.returns };
}
