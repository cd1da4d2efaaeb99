/** `key = value`, in WITH and in SET. */
import type { Span } from '../base/errors.ts';
import type { OptionValue, TableOption } from './ast-statement.ts';
import { parseInterval } from './parse-operand.ts';
import { separated } from './parse-list.ts';
import type { TokenStream } from './token-stream.ts';

export function parseTableOption(stream: TokenStream): TableOption {
  const { start } = stream.peek().span;
  const { key, keySpan } = parseOptionKey(stream);
  if (!stream.acceptSymbol('='))
    stream.fail('"=" and a value', [], "an option is written key = 'value'");
  const value = parseOptionValue(stream);
  return { key, keySpan, value, span: stream.spanFrom(start) };
}

/** A bare, quoted or dotted key; any word may be a part of one. */
export function parseOptionKey(stream: TokenStream): { key: string; keySpan: Span } {
  const { start } = stream.peek().span;
  const parts: string[] = [];
  do {
    const token = stream.peek();
    if (token.kind !== 'word' && token.kind !== 'quoted' && token.kind !== 'string')
      stream.fail('the name of an option');
    parts.push(stream.next().text);
  } while (stream.acceptSymbol('.'));
  return { key: parts.join('.'), keySpan: stream.spanFrom(start) };
}

export function parseOptionValue(stream: TokenStream): OptionValue {
  const token = stream.peek();
  const { span } = token;
  const isNegative = stream.atSymbol('-') && stream.peek(1).kind === 'number';
  if (token.kind === 'number' || isNegative) {
    if (isNegative) stream.next();
    const { text } = stream.next();
    return {
      tag: 'number',
      text: isNegative ? `-${text}` : text,
      span: stream.spanFrom(span.start),
    };
  }
  if (token.kind === 'string') {
    stream.next();
    return { tag: 'string', value: token.text, span };
  }
  if (stream.atSymbol('[') || (stream.atWord('array') && stream.atSymbol('[', 1))) {
    stream.accept('array');
    stream.next();
    const elements = stream.atSymbol(']')
      ? []
      : separated(stream, () => stream.nested(() => parseOptionValue(stream)));
    stream.expectSymbol(']');
    return { tag: 'array_option', elements, span: stream.spanFrom(span.start) };
  }
  if (stream.atWord('true') || stream.atWord('false')) {
    return { tag: 'boolean', value: stream.next().text === 'true', span };
  }
  const behind = stream.peek(1).kind;
  if (stream.atWord('interval') && (behind === 'string' || behind === 'number'))
    return parseInterval(stream);
  if (token.kind !== 'word' && token.kind !== 'quoted') {
    stream.fail(
      'the value of the option',
      [],
      'a value is a string, a number, true, false, an interval, a name or a list in brackets',
    );
  }
  return { tag: 'name', name: stream.anyName('a name'), span };
}
