/**
 * Expressions as written → typed expressions over the columns of a scope.
 *
 * What is wrong is reported and becomes `POISON`, which silences everything built on it, so that one
 * mistake gives one message and the mistakes beside it are found as well.
 * Failure behaviour: never throws on what a user can write.
 */
import { type Span } from '../base/errors.ts';
import { intervalLiteral } from '../batch/interval.ts';
import { readInterval } from '../batch/interval-text.ts';
import { BOOLEAN, BYTEA, type Field, INTERVAL, type SqlType, typeName } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import { SLICE_FROM, SLICE_TO } from '../expr/functions/lists.ts';
import type { Identifier } from '../sql/ast.ts';
import type {
  ArrayExpression,
  BetweenExpression,
  BinaryExpression,
  CaseExpression,
  CastExpression,
  Expression,
  InListExpression,
  IntervalLiteral,
  IsExpression,
  LikeExpression,
  PathExpression,
  RowExpression,
  SliceExpression,
  SubscriptExpression,
  TypedLiteral,
  UnaryExpression,
} from '../sql/ast-expression.ts';
import { bindCall } from './bind-call.ts';
import { bindClockName } from './bind-forms.ts';
import { bindType } from './bind-type.ts';
import { type ExpressionContext, type OtherExpression, POISON } from './expression-context.ts';
import { castTo, resolveCall, sharedType } from './functions.ts';
import { numberLiteral, textLiteral, untypedNull } from './literals.ts';
import { readPath, reportUnresolved, resolvePath } from './scope.ts';

export class ExpressionBinder {
  readonly #context: ExpressionContext;
  /** Aliases being followed, so that one that leads to itself ends. */
  readonly #following = new Set<string>();

  constructor(context: ExpressionContext) {
    this.#context = context;
  }

  bind(expression: Expression): Expr {
    const key = this.#context.keys?.get(expression);
    if (key !== undefined) return key;
    switch (expression.tag) {
      case 'path':
        return this.#path(expression);
      case 'field': {
        const base = this.bind(expression.base);
        return this.#readFields(base, [expression.name]);
      }
      case 'subscript':
        return this.#subscript(expression);
      case 'unary':
        return this.#unary(expression);
      case 'binary':
        return this.#binary(expression);
      case 'is':
        return this.#is(expression);
      case 'is_distinct': {
        const name = expression.negated ? 'is not distinct from' : 'is distinct from';
        return this.#call(name, [expression.left, expression.right], expression.span);
      }
      case 'between':
        return this.#between(expression);
      case 'in_list':
        return this.#inList(expression);
      case 'like':
        return this.#like(expression);
      case 'case':
        return this.#case(expression);
      case 'cast':
        return this.#cast(expression);
      case 'call':
        return bindCall(expression, this.#context, this);
      case 'row':
        return this.#row(expression);
      default:
        return this.#literal(expression);
    }
  }

  /** Constants, and the forms that are refused by name. */
  #literal(expression: OtherExpression): Expr {
    const { span } = expression;
    switch (expression.tag) {
      case 'number': {
        const { text } = expression;
        const literal = numberLiteral(text, false);
        return literal ?? this.#refuse('TYPE_ERROR', `the number ${text} is out of range`, span);
      }
      case 'string':
        return textLiteral(expression.value);
      case 'boolean':
        return { tag: 'literal', value: expression.value, type: BOOLEAN };
      case 'null':
        return untypedNull();
      case 'typed_literal':
        return this.#typedLiteral(expression);
      case 'interval':
        return this.#interval(expression);
      case 'bytes':
        return { tag: 'literal', value: `\\x${expression.hex}`, type: BYTEA };
      case 'slice':
        return this.#slice(expression);
      case 'array':
        return this.#array(expression);
      case 'at_time_zone':
        return this.#call('timezone', [expression.zone, expression.operand], span);
      case 'in_query':
      case 'exists':
      case 'subquery':
        return (
          this.#context.subquery?.(expression) ??
          this.#unsupported(
            `a subquery in ${this.#context.place}`,
            span,
            'use it in WHERE or in the SELECT list, or join the query in FROM',
          )
        );
    }
  }

  #readFields(base: Expr, fields: readonly Identifier[]): Expr {
    return base === POISON ? POISON : (readPath(base, fields, this.#context.diagnostics) ?? POISON);
  }

  /** A condition: BOOLEAN, or an error. */
  bindCondition(expression: Expression): Expr {
    const bound = this.bind(expression);
    if (bound === POISON || bound.type.tag === 'boolean') return bound;
    if (bound.tag === 'literal' && bound.value === null) return { ...bound, type: BOOLEAN };
    return this.#refuse(
      'TYPE_ERROR',
      `${this.#context.place} needs a condition, and this is ${typeName(bound.type)}`,
      expression.span,
    );
  }

  #refuse(
    code: 'TYPE_ERROR' | 'INVALID_GROUPING' | 'INVALID_WINDOW' | 'UNSUPPORTED',
    message: string,
    span: Span,
    hint?: string,
  ): Expr {
    this.#context.diagnostics.error(code, message, span, hint === undefined ? {} : { hint });
    return POISON;
  }

  #unsupported(what: string, span: Span, hint: string): Expr {
    return this.#refuse('UNSUPPORTED', `${what} is not supported yet`, span, hint);
  }

  #typedLiteral(literal: TypedLiteral): Expr {
    const type = bindType(literal.type, this.#context.diagnostics);
    if (type === null) return POISON;
    return this.#finishCast(textLiteral(literal.text), type, false, literal.span);
  }

  #interval(literal: IntervalLiteral): Expr {
    const interval = readInterval(literal.text, literal.unit);
    if (interval === null || interval === 'range')
      return this.#refuse(
        'TYPE_ERROR',
        interval === null
          ? `'${literal.text}' is not an interval`
          : `the interval '${literal.text}' is out of range`,
        literal.span,
        "write interval '1 hour 30 minutes'",
      );
    return { tag: 'literal', value: intervalLiteral(interval), type: INTERVAL };
  }

  #path(path: PathExpression): Expr {
    const { scope, diagnostics, aliases, origins } = this.#context;
    const resolution = resolvePath(path.parts, scope);
    if (resolution.tag === 'found') {
      const { column, fields } = resolution;
      if (column.broken) return POISON;
      const base: Expr = { tag: 'column', index: column.index, type: column.type };
      origins.set(base, path);
      return readPath(base, fields, diagnostics) ?? POISON;
    }
    const [first] = path.parts;
    const alias = first === undefined ? undefined : aliases.get(first.name);
    if (
      resolution.tag === 'unknown' &&
      first !== undefined &&
      alias !== undefined &&
      !this.#following.has(first.name)
    ) {
      this.#following.add(first.name);
      const base = this.bind(alias);
      this.#following.delete(first.name);
      return this.#readFields(base, path.parts.slice(1));
    }
    const outside = resolution.tag === 'unknown' ? this.#outside(path) : null;
    if (outside !== null) return outside;
    if (resolution.tag === 'unknown' && this.#context.open) return POISON;
    const clock =
      resolution.tag === 'unknown' &&
      first !== undefined &&
      path.parts.length === 1 &&
      !first.quoted
        ? bindClockName(first.name, path, this.#context)
        : null;
    if (clock !== null) return clock;
    reportUnresolved(path, resolution, scope, aliases.keys(), diagnostics);
    return POISON;
  }

  /** A column of the query outside; null: it has none of the name either. */
  #outside(path: PathExpression): Expr | null {
    const { outer, diagnostics } = this.#context;
    if (outer === undefined) return null;
    const found = resolvePath(path.parts, outer);
    if (found.tag !== 'found') return null;
    const { column, fields } = found;
    if (column.broken) return POISON;
    const base: Expr = { tag: 'column', index: column.index, type: column.type };
    return readPath(base, fields, diagnostics) ?? POISON;
  }

  #subscript(subscript: SubscriptExpression): Expr {
    const base = this.bind(subscript.base);
    if (base === POISON) return POISON;
    if (base.type.tag === 'json' || subscript.index.tag !== 'string') {
      const index = this.bind(subscript.index);
      if (index === POISON) return POISON;
      if (base.type.tag === 'json') return this.#resolve('->', [base, index], subscript.span);
      if (base.type.tag === 'list')
        return this.#resolve('array_element', [base, index], subscript.span);
      return this.#refuse(
        'TYPE_ERROR',
        `${typeName(base.type)} has no elements`,
        subscript.span,
        "list[1] reads an element, and .name or ['name'] a field of a struct",
      );
    }
    const { value, span } = subscript.index;
    return (
      readPath(
        base,
        [{ name: value, quoted: true, text: value, span }],
        this.#context.diagnostics,
      ) ?? POISON
    );
  }

  #slice(slice: SliceExpression): Expr {
    const base = this.bind(slice.base);
    const from = slice.from === null ? SLICE_FROM : this.bind(slice.from);
    const to = slice.to === null ? SLICE_TO : this.bind(slice.to);
    if (base === POISON || from === POISON || to === POISON) return POISON;
    return this.#resolve('array_slice', [base, from, to], slice.span);
  }

  #array(array: ArrayExpression): Expr {
    return this.#call('make_array', array.elements, array.span);
  }

  #unary(unary: UnaryExpression): Expr {
    const { operand, operator, span } = unary;
    if (operand.tag === 'number' && (operator === '-' || operator === '+')) {
      return (
        numberLiteral(operand.text, operator === '-') ??
        this.#refuse('TYPE_ERROR', `the number ${operator}${operand.text} is out of range`, span)
      );
    }
    if (operator === 'not') {
      const condition = this.bind(operand);
      return condition === POISON ? POISON : this.#resolve('not', [condition], span);
    }
    if (operator === '+') {
      const bound = this.bind(operand);
      // Plus changes nothing, but `+'x'` must still be an error.
      if (bound === POISON || this.#resolve('-', [bound], span) === POISON) return POISON;
      return bound;
    }
    return this.#call(operator, [operand], span);
  }

  #binary(binary: BinaryExpression): Expr {
    const { operator, left, right, span } = binary;
    if (left.tag === 'null' || right.tag === 'null') this.#warnOfNull(binary);
    if (operator !== 'and' && operator !== 'or') return this.#call(operator, [left, right], span);
    const args = [left, right].map((side) => this.#operandCondition(side, operator));
    if (args.includes(POISON)) return POISON;
    // A chain of the same word becomes one node, so that rules see all conditions at once.
    const flat = args.flatMap((arg) => (arg.tag === operator ? arg.args : [arg]));
    return { tag: operator, args: flat, type: BOOLEAN };
  }

  /** `x = NULL` is NULL for every x, which nobody means. */
  #warnOfNull({ operator, span }: BinaryExpression): void {
    if (operator !== '=' && operator !== '<>') return;
    const test = operator === '=' ? 'IS NULL' : 'IS NOT NULL';
    this.#context.diagnostics.warn(
      'NULL_COMPARISON',
      `a comparison by ${operator} with NULL is never true`,
      span,
      { hint: `write ${test}` },
    );
  }

  #operandCondition(expression: Expression, operator: string): Expr {
    const bound = this.bind(expression);
    if (bound === POISON || bound.type.tag === 'boolean') return bound;
    if (bound.tag === 'literal' && bound.value === null) return { ...bound, type: BOOLEAN };
    return this.#refuse(
      'TYPE_ERROR',
      `${operator.toUpperCase()} needs conditions, and this is ${typeName(bound.type)}`,
      expression.span,
    );
  }

  #is(test: IsExpression): Expr {
    if (test.test === 'unknown')
      return this.#call(test.negated ? 'is not null' : 'is null', [test.operand], test.span);
    return this.#call(`is ${test.negated ? 'not ' : ''}${test.test}`, [test.operand], test.span);
  }

  #between(between: BetweenExpression): Expr {
    const [operand, low, high] = [between.operand, between.low, between.high].map((part) =>
      this.bind(part),
    );
    if (
      operand === undefined ||
      low === undefined ||
      high === undefined ||
      [operand, low, high].includes(POISON)
    )
      return POISON;
    const lower = this.#resolve('>=', [operand, low], between.span);
    const upper = this.#resolve('<=', [operand, high], between.span);
    if (lower === POISON || upper === POISON) return POISON;
    const both: Expr = { tag: 'and', args: [lower, upper], type: BOOLEAN };
    return between.negated ? this.#resolve('not', [both], between.span) : both;
  }

  #inList(list: InListExpression): Expr {
    const found = this.#call('in', [list.operand, ...list.items], list.span);
    return list.negated && found !== POISON ? this.#resolve('not', [found], list.span) : found;
  }

  #like(like: LikeExpression): Expr {
    const name = like.kind === 'similar' ? 'similar to' : like.kind;
    const args: Expression[] = [like.operand, like.pattern];
    if (like.escape !== null) args.push(like.escape);
    const found = this.#call(name, args, like.span);
    return like.negated && found !== POISON ? this.#resolve('not', [found], like.span) : found;
  }

  #case(expression: CaseExpression): Expr {
    const operand = expression.operand === null ? null : this.bind(expression.operand);
    const branches = expression.branches.map((branch) => {
      const when =
        operand === null
          ? this.#operandCondition(branch.when, 'WHEN')
          : this.#equals(operand, branch.when);
      return { when, then: this.bind(branch.then) };
    });
    const otherwise = expression.otherwise === null ? null : this.bind(expression.otherwise);
    const results = [
      ...branches.map((branch) => branch.then),
      ...(otherwise === null ? [] : [otherwise]),
    ];
    if (
      operand === POISON ||
      results.includes(POISON) ||
      branches.some((branch) => branch.when === POISON)
    )
      return POISON;
    const type = sharedType(results);
    if (type === null) {
      const types = [...new Set(results.map((result) => typeName(result.type)))].join(' and ');
      return this.#refuse(
        'TYPE_ERROR',
        `the results of CASE have no common type: ${types}`,
        expression.span,
        'cast them to one type',
      );
    }
    return {
      tag: 'case',
      branches: branches.map(({ when, then }) => ({
        when,
        then: this.#coerce(then, type, expression.span),
      })),
      otherwise: otherwise === null ? null : this.#coerce(otherwise, type, expression.span),
      type,
    };
  }

  #equals(operand: Expr, when: Expression): Expr {
    const bound = this.bind(when);
    return operand === POISON || bound === POISON
      ? POISON
      : this.#resolve('=', [operand, bound], when.span);
  }

  #coerce(expr: Expr, type: SqlType, span: Span): Expr {
    return this.#finishCast(expr, type, false, span);
  }

  #cast(cast: CastExpression): Expr {
    const operand = this.bind(cast.operand);
    const type = bindType(cast.type, this.#context.diagnostics);
    return operand === POISON || type === null
      ? POISON
      : this.#finishCast(operand, type, cast.safe, cast.span);
  }

  #finishCast(expr: Expr, type: SqlType, orNull: boolean, span: Span): Expr {
    const result = castTo(expr, type, orNull);
    if (result.tag === 'expr') return result.expr;
    return this.#refuse('TYPE_ERROR', result.message, span, result.hint);
  }

  #row(row: RowExpression): Expr {
    const args = row.fields.map((field) => this.bind(field.value));
    if (args.includes(POISON)) return POISON;
    const fields: Field[] = args.map((arg, index) => ({
      name: row.fields[index]?.name?.name ?? `c${index}`,
      type: arg.type,
      nullable: true,
    }));
    return { tag: 'struct', args, type: { tag: 'struct', fields } };
  }

  #call(name: string, operands: readonly Expression[], span: Span): Expr {
    const args = operands.map((operand) => this.bind(operand));
    return args.includes(POISON) ? POISON : this.#resolve(name, args, span);
  }

  #resolve(name: string, args: readonly Expr[], span: Span): Expr {
    const resolution = resolveCall(name, args);
    if (resolution.tag === 'expr') return resolution.expr;
    this.#context.diagnostics.error(resolution.code, resolution.message, span, resolution.extras);
    return POISON;
  }
}
