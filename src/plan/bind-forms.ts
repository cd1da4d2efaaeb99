/**
 * Calls that are another form of an expression: conditions (`iff`, `nvl2`), structs, types, and the time.
 *
 * now() and its like are the row's event time: a replay of a row must give what the row gave before. Where a table has
 * no WATERMARK FOR that is the moment at which the row came in.
 */
import type { ErrorCode } from '../base/errors.ts';
import {
  BOOLEAN,
  BYTEA,
  DATE,
  FLOAT32,
  FLOAT64,
  type Field,
  INT8,
  INT16,
  INT32,
  INT64,
  type SqlType,
  TEXT,
  TIME,
  TIMESTAMP,
  TIMESTAMP_NS,
  UINT8,
  UINT16,
  UINT32,
  UINT64,
  typeName,
} from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import type { CallExpression, Expression } from '../sql/ast-expression.ts';
import { type ExpressionContext, POISON } from './expression-context.ts';
import { castTo, resolveCall, sharedType } from './functions.ts';
import { textLiteral } from './literals.ts';
import { readPath } from './scope.ts';

const CLOCKS: Readonly<Record<string, SqlType>> = {
  now: TIMESTAMP,
  current_timestamp: TIMESTAMP,
  localtimestamp: TIMESTAMP,
  transaction_timestamp: TIMESTAMP,
  statement_timestamp: TIMESTAMP,
  current_date: DATE,
  today: DATE,
  current_time: TIME,
  localtime: TIME,
};

const isClock = (name: string): boolean => Object.hasOwn(CLOCKS, name);

/** CURRENT_DATE and its like are written without parentheses too; null: the name is none of them. */
export function bindClockName(
  name: string,
  place: { span: CallExpression['span'] },
  context: ExpressionContext,
): Expr | null {
  return isClock(name) && name !== 'now' && name !== 'today' ? clock(name, place, context) : null;
}

function clock(
  name: string,
  place: { span: CallExpression['span'] },
  context: ExpressionContext,
): Expr {
  if (!context.rowTime)
    return refuse(
      context,
      'TYPE_ERROR',
      `${name} is the time of a row, and rows in ${context.place} have none`,
      place,
      'rows of a table have an event time, and so have those of a window',
    );
  const time: Expr = { tag: 'row-time', type: TIMESTAMP };
  const type = CLOCKS[name] as SqlType;
  return type === TIMESTAMP ? time : { tag: 'cast', input: time, orNull: false, type };
}

function refuse(
  context: ExpressionContext,
  code: ErrorCode,
  message: string,
  place: { span: CallExpression['span'] },
  hint: string,
): Expr {
  context.diagnostics.error(code, message, place.span, { hint });
  return POISON;
}

type Form = (args: readonly Expr[], call: CallExpression, context: ExpressionContext) => Expr;

const FORMS: Readonly<
  Record<string, { count: (given: number) => boolean; takes: string; bind: Form }>
> = {
  iff: { count: (given) => given === 3, takes: 'a condition and two values', bind: choose },
  if: { count: (given) => given === 3, takes: 'a condition and two values', bind: choose },
  nvl2: {
    count: (given) => given === 3,
    takes: 'three values',
    bind: ([tested, ...others], call, context) => {
      const present = resolveCall('is not null', [tested as Expr]);
      return present.tag === 'expr' ? choose([present.expr, ...others], call, context) : POISON;
    },
  },
  zeroifnull: { count: (given) => given === 1, takes: 'a number', bind: withZero('coalesce') },
  nullifzero: { count: (given) => given === 1, takes: 'a number', bind: withZero('nullif') },
  typeof: {
    count: (given) => given === 1,
    takes: 'a value',
    bind: ([arg]) => textLiteral(typeName((arg as Expr).type)),
  },
  pg_typeof: {
    count: (given) => given === 1,
    takes: 'a value',
    bind: ([arg]) => textLiteral(typeName((arg as Expr).type).toLowerCase()),
  },
  arrow_typeof: {
    count: (given) => given === 1,
    takes: 'a value',
    bind: ([arg]) => textLiteral(arrowName((arg as Expr).type)),
  },
  arrow_cast: {
    count: (given) => given === 2,
    takes: 'a value and the name of an Arrow type',
    bind: arrowCast,
  },
  version: { count: (given) => given === 0, takes: 'nothing', bind: () => textLiteral('Thalweg') },
  named_struct: {
    count: (given) => given > 0 && given % 2 === 0,
    takes: 'names and values in turn',
    bind: namedStruct,
  },
  struct_pack: {
    count: (given) => given > 0 && given % 2 === 0,
    takes: 'names and values in turn',
    bind: namedStruct,
  },
  get_field: {
    count: (given) => given === 2,
    takes: 'a struct and the name of a field',
    bind: getField,
  },
};

/** The expression a call is another form of; null: the call is none of these. */
export function bindForm(
  call: CallExpression,
  context: ExpressionContext,
  binder: { bind: (expression: Expression) => Expr },
): Expr | null {
  const { name } = call.name;
  if (isClock(name)) return clock(name, call, context);
  if (
    (name === 'uuid' || name === 'random' || name === 'gen_random_uuid') &&
    call.args.length === 0
  )
    return refuse(
      context,
      'UNSUPPORTED',
      `${name}() would give another value when rows are read again after a failure`,
      call,
      `give ${name === 'random' ? 'random' : 'uuid'}() the columns that make the row unique: equal ones give an equal value`,
    );
  const form = Object.hasOwn(FORMS, name) ? FORMS[name] : undefined;
  if (form === undefined) return null;
  if (!form.count(call.args.length))
    return refuse(
      context,
      'TYPE_ERROR',
      `${name}() takes ${form.takes}`,
      call,
      'see the list of functions',
    );
  const args = call.args.map((arg) => binder.bind(arg.value));
  return args.includes(POISON) ? POISON : form.bind(args, call, context);
}

function choose(args: readonly Expr[], call: CallExpression, context: ExpressionContext): Expr {
  const [when, then, otherwise] = args as readonly [Expr, Expr, Expr];
  const type = sharedType([then, otherwise]);
  const name = call.name.name;
  if (when.type.tag !== 'boolean')
    return refuse(
      context,
      'TYPE_ERROR',
      `${name}() needs a condition, and this is ${typeName(when.type)}`,
      call,
      'compare it with something',
    );
  if (type === null)
    return refuse(
      context,
      'TYPE_ERROR',
      `the results of ${name}() have no common type: ${typeName(then.type)} and ${typeName(otherwise.type)}`,
      call,
      'cast them to one type',
    );
  const [first, second] = [then, otherwise].map((value) => castTo(value, type, false));
  if (first?.tag !== 'expr' || second?.tag !== 'expr')
    return refuse(
      context,
      'TYPE_ERROR',
      `the results of ${name}() have no common type`,
      call,
      'cast them to one type',
    );
  return { tag: 'case', branches: [{ when, then: first.expr }], otherwise: second.expr, type };
}

function withZero(name: string): Form {
  return ([arg], call, context) => {
    const resolved = resolveCall(name, [arg as Expr, { tag: 'literal', value: 0, type: INT32 }]);
    if (resolved.tag === 'expr') return resolved.expr;
    return refuse(context, resolved.code, resolved.message, call, 'give it a number');
  };
}

function namedStruct(
  args: readonly Expr[],
  call: CallExpression,
  context: ExpressionContext,
): Expr {
  const fields: Field[] = [];
  const values: Expr[] = [];
  for (let at = 0; at < args.length; at += 2) {
    const name = args[at] as Expr;
    const value = args[at + 1] as Expr;
    if (name.tag !== 'literal' || typeof name.value !== 'string')
      return refuse(
        context,
        'TYPE_ERROR',
        'the name of a field is a constant text',
        call,
        "write named_struct('a', 1, 'b', 2)",
      );
    fields.push({ name: name.value, type: value.type, nullable: true });
    values.push(value);
  }
  return { tag: 'struct', args: values, type: { tag: 'struct', fields } };
}

function getField(args: readonly Expr[], call: CallExpression, context: ExpressionContext): Expr {
  const [base, name] = args as readonly [Expr, Expr];
  if (name.tag !== 'literal' || typeof name.value !== 'string')
    return refuse(
      context,
      'TYPE_ERROR',
      'the name of a field is a constant text',
      call,
      "write get_field(s, 'a')",
    );
  const { value } = name;
  const part = { name: value, quoted: true, text: value, span: call.span };
  return readPath(base, [part], context.diagnostics) ?? POISON;
}

const ARROW: readonly (readonly [string, SqlType])[] = [
  ['Boolean', BOOLEAN],
  ['Int8', INT8],
  ['Int16', INT16],
  ['Int32', INT32],
  ['Int64', INT64],
  ['UInt8', UINT8],
  ['UInt16', UINT16],
  ['UInt32', UINT32],
  ['UInt64', UINT64],
  ['Float32', FLOAT32],
  ['Float64', FLOAT64],
  ['Utf8', TEXT],
  ['Binary', BYTEA],
  ['Date32', DATE],
  ['Time64(Microsecond)', TIME],
  ['Timestamp(Microsecond, None)', TIMESTAMP],
  ['Timestamp(Nanosecond, None)', TIMESTAMP_NS],
];

function arrowName(type: SqlType): string {
  if (type.tag === 'decimal') return `Decimal128(${type.precision}, ${type.scale})`;
  if (type.tag === 'list') return `List(${arrowName(type.element)})`;
  return ARROW.find(([, known]) => known.tag === type.tag)?.[0] ?? typeName(type);
}

function arrowCast(args: readonly Expr[], call: CallExpression, context: ExpressionContext): Expr {
  const [value, name] = args as readonly [Expr, Expr];
  const wanted = name.tag === 'literal' ? String(name.value) : '';
  const decimal = /^Decimal128\((\d+), *(\d+)\)$/.exec(wanted);
  const type: SqlType | undefined =
    decimal === null
      ? ARROW.find(([known]) => known === wanted)?.[1]
      : { tag: 'decimal', precision: Number(decimal[1]), scale: Number(decimal[2]) };
  if (
    type === undefined ||
    (type.tag === 'decimal' && (type.precision > 38 || type.scale > type.precision))
  )
    return refuse(
      context,
      'UNKNOWN_TYPE',
      `there is no Arrow type '${wanted}' here`,
      call,
      `there are ${ARROW.map(([known]) => known).join(', ')} and Decimal128(p, s)`,
    );
  const cast = castTo(value, type, false);
  return cast.tag === 'expr'
    ? cast.expr
    : refuse(context, 'TYPE_ERROR', cast.message, call, cast.hint);
}
