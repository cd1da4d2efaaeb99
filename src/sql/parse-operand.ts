/** Operands: literals, names, prefix operators, CASE, and everything in brackets. */
import type { Span } from '../base/errors.ts';
import type { Identifier } from './ast.ts';
import type { CaseBranch, Expression, IntervalLiteral, UnaryOperator } from './ast-expression.ts';
import {
  BARE_FUNCTIONS,
  INTERVAL_UNITS,
  intervalUnit,
  isReserved,
  LITERAL_TYPES,
  RESERVED_FUNCTION_NAMES,
} from './keywords.ts';
import { plainCall, parseCall } from './parse-call.ts';
import { parseBracketed } from './parse-bracketed.ts';
import { separated } from './parse-list.ts';
import { parseSimpleType } from './parse-type.ts';
import { PRECEDENCE } from './precedence.ts';
import type { TokenStream } from './token-stream.ts';

const SIGNS: Readonly<Record<string, number>> = {
  '-': PRECEDENCE.sign,
  '+': PRECEDENCE.sign,
  '~': PRECEDENCE.other + 1,
};

export function parseOperand(stream: TokenStream): Expression {
  const token = stream.peek();
  const { span } = token;
  switch (token.kind) {
    case 'number':
      stream.next();
      return { tag: 'number', text: token.text, span };
    case 'string':
      stream.next();
      return { tag: 'string', value: token.text, span };
    case 'bytes':
      stream.next();
      return { tag: 'bytes', hex: token.text, span };
    case 'symbol':
      return parseSymbolOperand(stream, token.text);
    case 'quoted':
      return parseName(stream);
    case 'word':
      return parseWordOperand(stream, token.text);
    default:
      return stream.fail('an expression');
  }
}

function parseSymbolOperand(stream: TokenStream, symbol: string): Expression {
  const { start } = stream.peek().span;
  if (symbol === '(') {
    const content = parseBracketed(stream);
    const span = stream.spanFrom(start);
    if (content.tag === 'query') return { tag: 'subquery', query: content, span };
    const [only] = content.items;
    if (content.items.length === 1 && only !== undefined) return only;
    const fields = content.items.map((value) => ({ name: null, value, span: value.span }));
    return { tag: 'row', fields, span };
  }
  if (symbol === '[') return parseArray(stream);
  const bindingPower = Object.hasOwn(SIGNS, symbol) ? SIGNS[symbol] : undefined;
  if (bindingPower === undefined) return failAtExpression(stream);
  return parsePrefix(stream, symbol as UnaryOperator, bindingPower);
}

function parsePrefix(
  stream: TokenStream,
  operator: UnaryOperator,
  bindingPower: number,
): Expression {
  const { start } = stream.next().span;
  const operand = stream.parseExpression(bindingPower);
  return { tag: 'unary', operator, operand, span: stream.spanFrom(start) };
}

/** `[a, b]`, with the word ARRAY before it or not. */
function parseArray(stream: TokenStream): Expression {
  const { start } = stream.peek().span;
  stream.accept('array');
  if (!stream.acceptSymbol('[')) stream.fail('"[" and the elements of the array');
  const elements = stream.atSymbol(']') ? [] : separated(stream, () => stream.parseExpression());
  stream.expectSymbol(']');
  return { tag: 'array', elements, span: stream.spanFrom(start) };
}

function parseWordOperand(stream: TokenStream, word: string): Expression {
  const { span } = stream.peek();
  const next = stream.peek(1);
  switch (word) {
    case 'true':
    case 'false':
      stream.next();
      return { tag: 'boolean', value: word === 'true', span };
    case 'null':
      stream.next();
      return { tag: 'null', span };
    case 'not':
      return parsePrefix(stream, 'not', PRECEDENCE.not + 1);
    case 'case':
      return parseCase(stream);
    case 'array':
      if (next.text === '[' || !stream.readsAsName()) return parseArray(stream);
      break;
    case 'interval':
      if (next.kind === 'string' || next.kind === 'number') return parseInterval(stream);
      break;
    case 'exists':
      if (stream.atSymbol('(', 1)) return parseExists(stream);
      break;
  }
  if (LITERAL_TYPES.has(word) && (next.kind === 'string' || atZone(stream)))
    return parseTypedLiteral(stream);
  if (stream.atSymbol('(', 1) && (!isReserved(word) || RESERVED_FUNCTION_NAMES.has(word)))
    return parseCall(stream);
  if (!isReserved(word) || stream.readsAsName()) return parseName(stream);
  return failAtExpression(stream);
}

/** At a type's name with WITH or WITHOUT TIME ZONE behind it. */
function atZone(stream: TokenStream): boolean {
  const isWith = stream.atWord('with', 1) || stream.atWord('without', 1);
  return isWith && stream.atWord('time', 2) && stream.atWord('zone', 3);
}

/** Says what is missing, and that a comma before it may be the trouble. */
function failAtExpression(stream: TokenStream): never {
  const hint = stream.previous.text === ',' ? 'remove the comma before it' : undefined;
  return stream.fail('an expression', [], hint);
}

/** A dotted path, or a call of a quoted or bare function name. */
function parseName(stream: TokenStream): Expression {
  const { start } = stream.peek().span;
  if (stream.peek().kind === 'quoted' && stream.atSymbol('(', 1)) return parseCall(stream);
  const first = stream.identifier('an expression');
  if (!first.quoted && BARE_FUNCTIONS.has(first.name) && !stream.atSymbol('.')) {
    return plainCall(first, [], first.span);
  }
  const parts: Identifier[] = [first];
  while (stream.acceptSymbol('.')) parts.push(stream.anyName('the name of a field'));
  return { tag: 'path', parts, span: stream.spanFrom(start) };
}

function parseCase(stream: TokenStream): Expression {
  const { start } = stream.next().span;
  stream.caseDepth++;
  const operand = stream.atWord('when') ? null : stream.parseExpression();
  const branches: CaseBranch[] = [];
  do {
    const branchStart = stream.expect('when').span.start;
    const when = stream.parseExpression();
    stream.expect('then');
    const then = stream.parseExpression();
    branches.push({ when, then, span: stream.spanFrom(branchStart) });
  } while (stream.atWord('when'));
  const otherwise = stream.accept('else') ? stream.parseExpression() : null;
  if (!stream.atWord('end')) stream.fail('WHEN, ELSE or END', ['WHEN', 'ELSE', 'END']);
  stream.next();
  stream.caseDepth--;
  return { tag: 'case', operand, branches, otherwise, span: stream.spanFrom(start) };
}

function parseExists(stream: TokenStream): Expression {
  const { start } = stream.next().span;
  const content = parseBracketed(stream);
  const span: Span = stream.spanFrom(start);
  if (content.tag === 'query') return { tag: 'exists', query: content, span };
  const [only] = content.items;
  if (only?.tag === 'subquery') return { tag: 'exists', query: only.query, span };
  return stream.reject('SYNTAX', 'EXISTS needs a query in its parentheses', {
    hint: 'write EXISTS (SELECT …)',
    span,
  });
}

/** At the word INTERVAL with its quantity behind it. */
export function parseInterval(stream: TokenStream): IntervalLiteral {
  const { start } = stream.next().span;
  const quantity = stream.next();
  const word = stream.peek();
  const unit = word.kind === 'word' ? intervalUnit(word.text) : null;
  if (unit !== null) stream.next();
  if (unit === null && quantity.kind === 'number') {
    stream.fail(
      'the unit of the interval',
      INTERVAL_UNITS.map((name) => name.toUpperCase()),
      "for example INTERVAL '5 minutes'",
    );
  }
  if (unit !== null && stream.atWord('to') && intervalUnit(stream.peek(1).text) !== null) {
    stream.reject('UNSUPPORTED', 'an interval with a range of units is not supported', {
      hint: "write the units out, for example INTERVAL '1 hour 30 minutes'",
      span: stream.peek().span,
    });
  }
  return { tag: 'interval', text: quantity.text, unit, span: stream.spanFrom(start) };
}

function parseTypedLiteral(stream: TokenStream): Expression {
  const { start } = stream.peek().span;
  const type = parseSimpleType(stream);
  const token = stream.peek();
  if (token.kind !== 'string') stream.fail(`a string after ${type.name.toUpperCase()}`);
  stream.next();
  return { tag: 'typed_literal', type, text: token.text, span: stream.spanFrom(start) };
}
