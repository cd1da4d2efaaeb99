/** One expression for one row, by three-valued logic, read straight from the syntax tree. */
import type {
  BinaryExpression,
  CallExpression,
  CaseExpression,
  Expression,
} from '../../src/sql/ast-expression.ts';
import { aggregate, isAggregate } from './aggregates.ts';
import { arithmetic, bitwise, negate } from './arithmetic.ts';
import { cast, castText, textOf } from './cast.ts';
import { callFunction } from './functions.ts';
import { NO_KEYS } from './keys.ts';
import { type Context, fieldOf, lookUp } from './scope.ts';
import { likePattern } from './text.ts';
import { atTimeZone, intervalOf } from './time.ts';
import {
  compare,
  compareNullable,
  Decimal,
  Moment,
  Day,
  Struct,
  type Value,
  whole,
  Whole,
} from './value.ts';

export function evaluate(expression: Expression, context: Context): Value {
  const { leftOut, kept } = context;
  if (leftOut.size > 0) {
    if (kept.named(expression)) return evaluate(expression, { ...context, leftOut: NO_KEYS });
    if (leftOut.named(expression) || leftOut.meant(expression)) return null;
    if (kept.meant(expression)) return evaluate(expression, { ...context, leftOut: NO_KEYS });
  }
  const of = (operand: Expression): Value => evaluate(operand, context);
  switch (expression.tag) {
    case 'number':
      return numberOf(expression.text);
    case 'string':
      return expression.value;
    case 'boolean':
      return expression.value;
    case 'null':
      return null;
    case 'typed_literal':
      return castText(expression.text, expression.type);
    case 'interval':
      return intervalOf(expression.text, expression.unit);
    case 'path':
      return path(
        expression.parts.map((part) => part.name),
        context,
      );
    case 'field':
      return fieldOf(of(expression.base), [expression.name.name]);
    case 'subscript':
      return element(of(expression.base), of(expression.index));
    case 'unary':
      return unary(expression.operator, of(expression.operand));
    case 'binary':
      return binary(expression, context);
    case 'is':
      return test(of(expression.operand), expression.test) !== expression.negated;
    case 'is_distinct': {
      const equal = compareLoose(of(expression.left), of(expression.right)) === 0;
      return equal === expression.negated;
    }
    case 'between': {
      const value = of(expression.operand);
      const lower = compared(value, of(expression.low), (order) => order >= 0);
      const upper = (): Value => compared(value, of(expression.high), (order) => order <= 0);
      return negatedIf(expression.negated, and(lower, upper));
    }
    case 'in_list':
      return negatedIf(expression.negated, isIn(of(expression.operand), expression.items.map(of)));
    case 'in_query': {
      const { rows } = context.subquery(expression.query, context.scope, false);
      const values = rows.map((row) => row.values[0] as Value);
      return negatedIf(expression.negated, isIn(of(expression.operand), values));
    }
    case 'exists':
      return context.subquery(expression.query, context.scope, false).rows.length > 0;
    case 'subquery': {
      const { rows } = context.subquery(expression.query, context.scope, true);
      if (rows.length > 1) throw new Error('a subquery that is a value gave several rows');
      return rows[0]?.values[0] ?? null;
    }
    case 'like': {
      if (expression.kind === 'similar') throw new Error('SIMILAR TO is not in the evaluator');
      const [value, pattern] = [of(expression.operand), of(expression.pattern)];
      if (typeof value !== 'string' || typeof pattern !== 'string') return null;
      const found = likePattern(pattern, expression.kind === 'ilike', expression.escape?.value);
      return found.test(value) !== expression.negated;
    }
    case 'case':
      return chosen(expression, context);
    case 'cast':
      return cast(of(expression.operand), expression.type, expression.safe);
    case 'call':
      return call(expression, context);
    case 'at_time_zone': {
      const [moment, zone] = [of(expression.operand), of(expression.zone)];
      return moment === null || zone === null ? null : atTimeZone(moment as Moment, zone as string);
    }
    case 'array':
      return expression.elements.map(of);
    case 'row':
      return new Struct(
        new Map(
          expression.fields.map((field, at) => [field.name?.name ?? `c${at}`, of(field.value)]),
        ),
      );
    default:
      throw new Error(`${expression.tag} is not in the evaluator`);
  }
}

export const isTrue = (expression: Expression, context: Context): boolean =>
  evaluate(expression, context) === true;

export function numberOf(text: string): Value {
  if (/e/i.test(text)) return Number(text);
  const [digits = '', fraction = ''] = text.split('.');
  if (text.includes('.')) return new Decimal(BigInt(`0${digits}${fraction}`), fraction.length);
  const value = BigInt(digits);
  return whole(value, value < 2n ** 31n ? 32 : 64);
}

function path(parts: readonly string[], context: Context): Value {
  const found = lookUp(context.scope, parts);
  if (found !== undefined) return found;
  const alias = context.aliases.get(parts[0] ?? '');
  if (alias === undefined) throw new Error(`no column ${parts.join('.')}`);
  return fieldOf(evaluate(alias, context), parts.slice(1));
}

function element(base: Value, index: Value): Value {
  if (base === null || index === null) return null;
  if (base instanceof Struct) return fieldOf(base, [String(index)]);
  if (!Array.isArray(base) || !(index instanceof Whole)) throw new Error('no elements');
  return (base as readonly Value[])[Number(index.value) - 1] ?? null;
}

function unary(operator: string, operand: Value): Value {
  if (operator === 'not') return operand === null ? null : operand !== true;
  if (operator === '+' || operand === null) return operand;
  if (operator === '-') return negate(operand);
  if (operator === '~' && operand instanceof Whole) return whole(~operand.value, operand.bits);
  throw new Error(`${operator} is not in the evaluator`);
}

function and(left: Value, right: () => Value): Value {
  if (left === false) return false;
  const other = right();
  if (other === false) return false;
  return left === null || other === null ? null : true;
}

const not = (value: Value): Value => (value === null ? null : value !== true);

const negatedIf = (negated: boolean, value: Value): Value => (negated ? not(value) : value);

/** A text beside a moment means that moment, as untyped constants do. */
function meet(left: Value, right: Value): readonly [Value, Value] {
  if (typeof left === 'string' && (right instanceof Moment || right instanceof Day))
    return [castText(left, { name: right instanceof Day ? 'date' : 'timestamp' }), right];
  if (typeof right === 'string' && (left instanceof Moment || left instanceof Day))
    return [left, castText(right, { name: left instanceof Day ? 'date' : 'timestamp' })];
  return [left, right];
}

const compareLoose = (left: Value, right: Value): number => compareNullable(...meet(left, right));

function compared(left: Value, right: Value, holds: (order: number) => boolean): Value {
  return left === null || right === null ? null : holds(compare(...meet(left, right)));
}

/** @returns NULL when the value is not there but might be one of the NULLs */
function isIn(value: Value, values: readonly Value[]): Value {
  if (values.length === 0) return false;
  if (value === null) return null;
  if (values.some((each) => each !== null && compareLoose(value, each) === 0)) return true;
  return values.includes(null) ? null : false;
}

const ORDERS: Readonly<Record<string, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '<>': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

function binary({ operator, left, right }: BinaryExpression, context: Context): Value {
  const first = evaluate(left, context);
  if (operator === 'and') return and(first, () => evaluate(right, context));
  if (operator === 'or') return not(and(not(first), () => not(evaluate(right, context))));
  const second = evaluate(right, context);
  const holds = ORDERS[operator];
  if (holds !== undefined) return compared(first, second, holds);
  if (first === null || second === null) return null;
  if (operator === '||') {
    if (Array.isArray(first) && Array.isArray(second)) return [...first, ...second];
    return `${textOf(first)}${textOf(second)}`;
  }
  if (['&', '|', '#', '<<', '>>'].includes(operator)) return bitwise(operator, first, second);
  return arithmetic(operator, first, second);
}

function test(value: Value, what: string): boolean {
  if (what === 'null' || what === 'unknown') return value === null;
  return value === (what === 'true');
}

function chosen({ operand, branches, otherwise }: CaseExpression, context: Context): Value {
  const value = operand === null ? null : evaluate(operand, context);
  for (const { when, then } of branches) {
    const found = evaluate(when, context);
    const holds =
      operand === null
        ? found === true
        : value !== null && found !== null && compareLoose(value, found) === 0;
    if (holds) return evaluate(then, context);
  }
  return otherwise === null ? null : evaluate(otherwise, context);
}

export const WINDOW_FUNCTIONS: readonly string[] = ['tumble', 'hop', 'cumulate', 'session'];

/** One bit for each key, set where the grouping set leaves it out. */
function groupingBits(call: CallExpression, context: Context): Value {
  const bits = call.args.map(({ value }) => {
    const name =
      value.tag === 'path' && value.parts.length === 1 ? value.parts[0]?.name : undefined;
    const meant = context.aliases.get(name ?? '') ?? value;
    return [value, meant].some((each) => context.leftOut.named(each) || context.leftOut.meant(each))
      ? '1'
      : '0';
  });
  return whole(BigInt(`0b${bits.join('')}`), 64);
}

/** Forms whose arguments are not all evaluated. */
function lazily(name: string, call: CallExpression, context: Context): Value | undefined {
  const args = call.args.map((arg) => arg.value);
  const at = (index: number): Value => evaluate(args[index] as Expression, context);
  switch (name) {
    case 'coalesce':
      for (let index = 0; index < args.length; index++) {
        const value = at(index);
        if (value !== null) return value;
      }
      return null;
    case 'iff':
    case 'if':
      return at(0) === true ? at(1) : at(2);
    case 'nvl2':
      return at(0) !== null ? at(1) : at(2);
    case 'row_time': {
      const { time } = context.scope.row;
      return time === null ? null : new Moment(time);
    }
    default:
      return undefined;
  }
}

function call(expression: CallExpression, context: Context): Value {
  const { name } = expression.name;
  if (expression.over !== null) {
    const found = context.over?.get(expression);
    if (found === undefined) throw new Error(`${name} with OVER stands where it cannot`);
    return found;
  }
  if (WINDOW_FUNCTIONS.includes(name)) return context.window;
  if (name === 'grouping') return groupingBits(expression, context);
  if (isAggregate(name)) {
    const { group } = context;
    if (group === null) throw new Error(`${name} stands where there is no group`);
    return aggregate(
      expression,
      group.map((scope) => ({ ...context, scope, group: null, leftOut: NO_KEYS })),
      evaluate,
    );
  }
  const early = lazily(name, expression, context);
  if (early !== undefined) return early;
  return callFunction(
    name,
    expression.args.map((arg) => evaluate(arg.value, context)),
  );
}
