/** Types, kept as they were written: which of them exist is the binder's to say. */
import type { SimpleType, StructField, TypeName } from './ast-type.ts';
import { isReserved } from './keywords.ts';
import { separated } from './parse-list.ts';
import type { TokenStream } from './token-stream.ts';

const SIGNED_TYPES = /^(?:tiny|small|big)?int(?:eger|\d)?$/;
const TYPE_PARAMETER_MAX = 1_000_000_000;

export function parseType(stream: TokenStream): TypeName {
  return stream.nested(() => {
    const start = stream.peek().span.start;
    let type = parseTypeHead(stream);
    stream.measured((grow) => {
      while (stream.atSymbol('[') && stream.atSymbol(']', 1)) {
        stream.next();
        stream.next();
        grow();
        type = { tag: 'array', element: type, span: stream.spanFrom(start) };
      }
    });
    return type;
  });
}

function parseTypeHead(stream: TokenStream): TypeName {
  const start = stream.peek().span.start;
  if (stream.accept('array')) {
    if (!stream.atSymbol('<'))
      stream.fail('"<" and the type of the elements', [], 'an array type is ARRAY<INT> or INT[]');
    const element = inAngles(stream, () => parseType(stream));
    return { tag: 'array', element, span: stream.spanFrom(start) };
  }
  if (stream.atWord('struct') && stream.atSymbol('<', 1)) {
    stream.next();
    const fields = inAngles(stream, () => separated(stream, () => parseStructField(stream)));
    return { tag: 'struct', fields, span: stream.spanFrom(start) };
  }
  if (stream.atWord('map') && stream.atSymbol('<', 1)) {
    stream.next();
    const [key, value] = inAngles(stream, () => {
      const first = parseType(stream);
      stream.expectSymbol(',');
      return [first, parseType(stream)] as const;
    });
    return { tag: 'map', key, value, span: stream.spanFrom(start) };
  }
  return parseSimpleType(stream);
}

function inAngles<T>(stream: TokenStream, rule: () => T): T {
  stream.expectSymbol('<');
  stream.angleDepth++;
  const result = rule();
  stream.expectSymbol('>');
  stream.angleDepth--;
  return result;
}

function parseStructField(stream: TokenStream): StructField {
  const start = stream.peek().span.start;
  const name = stream.identifier('the name of a field', true);
  const type = parseType(stream);
  const notNull = stream.accept('not', 'null');
  if (!notNull) stream.accept('null');
  return { name, type, notNull, span: stream.spanFrom(start) };
}

export function parseSimpleType(stream: TokenStream): SimpleType {
  const token = stream.peek();
  const start = token.span.start;
  if (token.kind !== 'word' || isReserved(token.text)) stream.fail('a type');
  stream.next();
  let name = token.text;
  if (name === 'double' && stream.accept('precision')) name = 'double precision';
  if (name === 'character' && stream.accept('varying')) name = 'character varying';
  const parameters = parseTypeParameters(stream);
  if (SIGNED_TYPES.test(name) && stream.accept('unsigned')) name += ' unsigned';
  if (name === 'timestamp' || name === 'time') {
    if (stream.accept('with', 'time', 'zone')) name += ' with time zone';
    else stream.accept('without', 'time', 'zone');
  }
  return { tag: 'simple', name, parameters, span: stream.spanFrom(start) };
}

function parseTypeParameters(stream: TokenStream): readonly number[] {
  if (!stream.acceptSymbol('(')) return [];
  const parameters = separated(stream, () => {
    const token = stream.peek();
    const value =
      token.kind === 'number' && /^\d{1,10}$/.test(token.text) ? Number(token.text) : Infinity;
    if (value > TYPE_PARAMETER_MAX) stream.fail('a whole number');
    stream.next();
    return value;
  });
  stream.expectSymbol(')');
  return parameters;
}
