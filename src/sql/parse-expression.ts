/** Operators: precedence climbing over the operands of parse-operand.ts. */
import type {
  BinaryOperator,
  Expression,
  LikeExpression,
  StringLiteral,
} from './ast-expression.ts';
import { parseOperand } from './parse-operand.ts';
import { parseBracketed } from './parse-bracketed.ts';
import { parseType } from './parse-type.ts';
import { BINARY_PRECEDENCE, PRECEDENCE } from './precedence.ts';
import type { TokenStream } from './token-stream.ts';

/** Other spellings of the same operator. */
const SPELLINGS: Readonly<Record<string, BinaryOperator>> = { '==': '=', '!=': '<>' };

/** An expression whose operators all bind at least as tightly as `bindingPower`; 0 takes everything. */
export function expressionRule(stream: TokenStream, bindingPower: number): Expression {
  return stream.measured((grow) => {
    let left = parseOperand(stream);
    grow();
    // The tightest operator that may still come: after `a < b` no second comparison.
    let ceiling: number = PRECEDENCE.primary;
    for (;;) {
      const operator = peekOperator(stream);
      if (operator === null || operator.precedence < bindingPower) return left;
      if (operator.precedence === PRECEDENCE.comparison && ceiling === PRECEDENCE.comparison) {
        stream.reject('SYNTAX', 'comparisons cannot be chained', {
          hint: 'write a < b AND b < c, or put one comparison into parentheses',
          span: stream.peek().span,
        });
      }
      ceiling = operator.precedence;
      left = operator.parse(stream, left);
      grow();
    }
  });
}

type Infix = {
  readonly precedence: number;
  readonly parse: (stream: TokenStream, left: Expression) => Expression;
};

const IS: Infix = { precedence: PRECEDENCE.is, parse: parseIs };
const BETWEEN: Infix = { precedence: PRECEDENCE.membership, parse: parseBetween };
const IN: Infix = { precedence: PRECEDENCE.membership, parse: parseIn };
const LIKE: Infix = { precedence: PRECEDENCE.membership, parse: parseLike };
const AT_TIME_ZONE: Infix = { precedence: PRECEDENCE.timeZone, parse: parseAtTimeZone };
const CAST: Infix = { precedence: PRECEDENCE.postfix, parse: parseCast };
const SUBSCRIPT: Infix = { precedence: PRECEDENCE.postfix, parse: parseSubscript };
const FIELD: Infix = { precedence: PRECEDENCE.postfix, parse: parseField };
const POSTFIX: Readonly<Record<string, Infix>> = { '::': CAST, '[': SUBSCRIPT, '.': FIELD };
const WORDS: Readonly<Record<string, Infix>> = {
  is: IS,
  isnull: IS,
  notnull: IS,
  between: BETWEEN,
  in: IN,
  like: LIKE,
  ilike: LIKE,
  similar: LIKE,
};

function peekOperator(stream: TokenStream): Infix | null {
  const token = stream.peek();
  if (token.kind === 'symbol') {
    const postfix = Object.hasOwn(POSTFIX, token.text) ? POSTFIX[token.text] : undefined;
    if (postfix !== undefined) return postfix;
    if (atShiftRight(stream)) return binary('>>', 2);
    const operator = SPELLINGS[token.text] ?? token.text;
    return Object.hasOwn(BINARY_PRECEDENCE, operator)
      ? binary(operator as BinaryOperator, 1)
      : null;
  }
  if (token.kind !== 'word') return null;
  if (token.text === 'and' || token.text === 'or') return binary(token.text, 1);
  if (stream.atWords('at', 'time', 'zone')) return AT_TIME_ZONE;
  const word = token.text === 'not' ? stream.peek(1).text : token.text;
  if (token.text === 'not' && WORDS[word] === IS) return null;
  return Object.hasOwn(WORDS, word) ? (WORDS[word] as Infix) : null;
}

/** Two closing signs without space between them. */
function atShiftRight(stream: TokenStream): boolean {
  if (!stream.atSymbol('>') || !stream.atSymbol('>', 1)) return false;
  const { end } = stream.peek().span;
  const { start } = stream.peek(1).span;
  return end.line === start.line && end.column === start.column;
}

function binary(operator: BinaryOperator, tokens: number): Infix {
  const precedence = BINARY_PRECEDENCE[operator];
  return {
    precedence,
    parse: (stream, left) => {
      const { start } = stream.peek().span;
      for (let taken = 0; taken < tokens; taken++) stream.next();
      const operatorSpan = stream.spanFrom(start);
      const right = stream.parseExpression(precedence + 1);
      return {
        tag: 'binary',
        operator,
        operatorSpan,
        left,
        right,
        span: stream.spanFrom(left.span.start),
      };
    },
  };
}

function parseIs(stream: TokenStream, operand: Expression): Expression {
  const { start } = operand.span;
  if (stream.accept('isnull'))
    return { tag: 'is', operand, test: 'null', negated: false, span: stream.spanFrom(start) };
  if (stream.accept('notnull'))
    return { tag: 'is', operand, test: 'null', negated: true, span: stream.spanFrom(start) };
  stream.expect('is');
  const negated = stream.accept('not');
  if (stream.accept('distinct', 'from')) {
    const right = stream.parseExpression(PRECEDENCE.comparison);
    return { tag: 'is_distinct', left: operand, right, negated, span: stream.spanFrom(start) };
  }
  for (const test of ['null', 'true', 'false', 'unknown'] as const) {
    if (stream.accept(test))
      return { tag: 'is', operand, test, negated, span: stream.spanFrom(start) };
  }
  const choices = ['NULL', 'TRUE', 'FALSE', 'UNKNOWN', 'DISTINCT FROM'];
  return stream.fail(`${negated ? '' : 'NOT, '}NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM`, [
    ...choices,
    'NOT',
    'DISTINCT',
  ]);
}

function parseBetween(stream: TokenStream, operand: Expression): Expression {
  const negated = stream.accept('not');
  stream.expect('between');
  const low = stream.parseExpression(PRECEDENCE.other);
  stream.expect('and');
  const high = stream.parseExpression(PRECEDENCE.other);
  return { tag: 'between', operand, low, high, negated, span: stream.spanFrom(operand.span.start) };
}

function parseIn(stream: TokenStream, operand: Expression): Expression {
  const negated = stream.accept('not');
  stream.expect('in');
  if (!stream.atSymbol('(')) stream.fail('"(" and a list or a query');
  const content = parseBracketed(stream);
  const span = stream.spanFrom(operand.span.start);
  if (content.tag === 'query') return { tag: 'in_query', operand, query: content, negated, span };
  const [only] = content.items;
  if (content.items.length === 1 && only?.tag === 'subquery') {
    return { tag: 'in_query', operand, query: only.query, negated, span };
  }
  return { tag: 'in_list', operand, items: content.items, negated, span };
}

function parseLike(stream: TokenStream, operand: Expression): LikeExpression {
  const negated = stream.accept('not');
  const kind = stream.next().text as 'like' | 'ilike' | 'similar';
  if (kind === 'similar') stream.expect('to');
  const pattern = stream.parseExpression(PRECEDENCE.other);
  let escape: StringLiteral | null = null;
  if (stream.accept('escape')) {
    const token = stream.peek();
    if (token.kind !== 'string') stream.fail('the escape character as a string');
    stream.next();
    escape = { tag: 'string', value: token.text, span: token.span };
  }
  return {
    tag: 'like',
    kind,
    operand,
    pattern,
    escape,
    negated,
    span: stream.spanFrom(operand.span.start),
  };
}

function parseAtTimeZone(stream: TokenStream, operand: Expression): Expression {
  stream.expectAll('at', 'time', 'zone');
  const zone = stream.parseExpression(PRECEDENCE.timeZone + 1);
  return { tag: 'at_time_zone', operand, zone, span: stream.spanFrom(operand.span.start) };
}

function parseCast(stream: TokenStream, operand: Expression): Expression {
  stream.expectSymbol('::');
  const type = parseType(stream);
  return { tag: 'cast', operand, type, safe: false, span: stream.spanFrom(operand.span.start) };
}

function parseSubscript(stream: TokenStream, base: Expression): Expression {
  const { start } = base.span;
  stream.expectSymbol('[');
  const first = stream.atSymbol(':') ? null : stream.parseExpression();
  if (stream.acceptSymbol(':')) {
    const to = stream.atSymbol(']') ? null : stream.parseExpression();
    stream.expectSymbol(']');
    return { tag: 'slice', base, from: first, to, span: stream.spanFrom(start) };
  }
  stream.expectSymbol(']');
  // Without a colon the subscript has been parsed: nothing but a colon skips it.
  return { tag: 'subscript', base, index: first as Expression, span: stream.spanFrom(start) };
}

function parseField(stream: TokenStream, base: Expression): Expression {
  stream.expectSymbol('.');
  const name = stream.anyName('the name of a field');
  return { tag: 'field', base, name, span: stream.spanFrom(base.span.start) };
}
