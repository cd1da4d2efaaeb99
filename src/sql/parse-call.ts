/** Calls, and the functions that SQL gives a syntax of their own. */
import type { Span } from '../base/errors.ts';
import type { Identifier } from './ast.ts';
import type {
  CallArgument,
  CallExpression,
  Expression,
  FrameBound,
  RowField,
  WindowFrame,
  WindowSpecification,
} from './ast-expression.ts';
import type { OrderItem } from './ast-query.ts';
import { isReserved } from './keywords.ts';
import { separated } from './parse-list.ts';
import { parseOrderBy } from './parse-order.ts';
import { parseType } from './parse-type.ts';
import { PRECEDENCE } from './precedence.ts';
import type { TokenStream } from './token-stream.ts';

type Special = (stream: TokenStream, name: Identifier) => Expression;

const SPECIAL: Readonly<Record<string, Special>> = {
  cast: (stream, name) => parseCastCall(stream, name, false),
  try_cast: (stream, name) => parseCastCall(stream, name, true),
  row: parseRow,
  struct: parseRow,
  extract: parseExtract,
  position: parsePosition,
  substring: parseSubstring,
  overlay: parseOverlay,
  trim: parseTrim,
};

/** At a function's name with a parenthesis behind it. */
export function parseCall(stream: TokenStream): Expression {
  const name = stream.anyName('a function');
  const special =
    !name.quoted && Object.hasOwn(SPECIAL, name.name) ? SPECIAL[name.name] : undefined;
  return special === undefined ? parseOrdinaryCall(stream, name) : special(stream, name);
}

/** A call with nothing but arguments. */
export function plainCall(
  name: Identifier,
  values: readonly Expression[],
  span: Span,
): CallExpression {
  const args = values.map((value) => ({ name: null, value, span: value.span }));
  return {
    tag: 'call',
    name,
    star: false,
    distinct: false,
    args,
    orderBy: [],
    withinGroup: [],
    filter: null,
    nullTreatment: null,
    over: null,
    span,
  };
}

/** The same call under another name, for a syntax that is only a spelling of it. */
function renamed(
  stream: TokenStream,
  name: Identifier,
  to: string,
  values: readonly Expression[],
): CallExpression {
  return plainCall(
    { name: to, quoted: false, text: to, span: name.span },
    values,
    stream.spanFrom(name.span.start),
  );
}

/** Behind the name, at the opening parenthesis. */
export function parseOrdinaryCall(stream: TokenStream, name: Identifier): CallExpression {
  stream.expectSymbol('(');
  let distinct = false;
  let star = false;
  let args: readonly CallArgument[] = [];
  let orderBy: readonly OrderItem[] = [];
  if (stream.atSymbol('*') && stream.atSymbol(')', 1)) {
    stream.next();
    star = true;
  } else if (!stream.atSymbol(')')) {
    distinct = stream.accept('distinct');
    if (!distinct) stream.accept('all');
    args = separated(stream, () => parseArgument(stream));
    orderBy = parseOrderBy(stream);
  }
  stream.expectSymbol(')');
  return parseCallTail(stream, { name, star, distinct, args, orderBy });
}

function parseCallTail(
  stream: TokenStream,
  head: Pick<CallExpression, 'name' | 'star' | 'distinct' | 'args' | 'orderBy'>,
): CallExpression {
  let withinGroup: readonly OrderItem[] = [];
  if (stream.accept('within', 'group')) {
    stream.expectSymbol('(');
    if (!stream.atWord('order')) stream.fail('ORDER BY', ['ORDER']);
    withinGroup = parseOrderBy(stream);
    stream.expectSymbol(')');
  }
  let filter: Expression | null = null;
  if (stream.atWord('filter') && stream.atSymbol('(', 1)) {
    stream.next();
    stream.next();
    stream.expect('where');
    filter = stream.parseExpression();
    stream.expectSymbol(')');
  }
  let nullTreatment: 'respect' | 'ignore' | null = null;
  if (stream.accept('respect', 'nulls')) nullTreatment = 'respect';
  else if (stream.accept('ignore', 'nulls')) nullTreatment = 'ignore';
  const over = parseOver(stream);
  return {
    tag: 'call',
    ...head,
    withinGroup,
    filter,
    nullTreatment,
    over,
    span: stream.spanFrom(head.name.span.start),
  };
}

function parseArgument(stream: TokenStream): CallArgument {
  const { start } = stream.peek().span;
  let name: Identifier | null = null;
  if (stream.atSymbol('=>', 1)) {
    name = stream.anyName('the name of an argument');
    stream.next();
  }
  const value = atRowsOf(stream) ? parseRowsOf(stream) : stream.parseExpression();
  return { name, value, span: stream.spanFrom(start) };
}

/** `x.*`: all rows of a variable of MATCH_RECOGNIZE. */
const atRowsOf = (stream: TokenStream): boolean =>
  (stream.peek().kind === 'word' || stream.peek().kind === 'quoted') &&
  stream.atSymbol('.', 1) &&
  stream.atSymbol('*', 2);

function parseRowsOf(stream: TokenStream): Expression {
  const name = stream.identifier('a name', true);
  stream.next();
  const star = stream.next();
  const all = { name: '*', quoted: true, text: '*', span: star.span };
  return { tag: 'path', parts: [name, all], span: stream.spanFrom(name.span.start) };
}

function parseOver(stream: TokenStream): WindowSpecification | null {
  if (!stream.atWord('over')) return null;
  const behind = stream.peek(1);
  if (behind.kind === 'quoted' || (behind.kind === 'word' && !isReserved(behind.text))) {
    stream.next();
    const base = stream.identifier('the name of a window', true);
    return { base, partitionBy: [], orderBy: [], frame: null, span: base.span };
  }
  if (!stream.atSymbol('(', 1)) return null;
  stream.next();
  return parseWindow(stream);
}

/** `([base] [PARTITION BY …] [ORDER BY …] [frame])`. */
export function parseWindow(stream: TokenStream): WindowSpecification {
  const { start } = stream.peek().span;
  stream.expectSymbol('(');
  const first = stream.peek();
  const startsPart =
    first.kind === 'word' &&
    (['partition', 'rows', 'range', 'groups'].includes(first.text) || isReserved(first.text));
  const base =
    first.kind === 'quoted' || (first.kind === 'word' && !startsPart)
      ? stream.identifier('the name of a window', true)
      : null;
  let partitionBy: readonly Expression[] = [];
  if (stream.accept('partition')) {
    stream.expect('by');
    partitionBy = separated(stream, () => stream.parseExpression());
  }
  const orderBy = parseOrderBy(stream);
  const frame = parseFrame(stream);
  if (!stream.atSymbol(')')) stream.fail('")"', ['PARTITION', 'ORDER', 'ROWS', 'RANGE', 'GROUPS']);
  stream.next();
  return { base, partitionBy, orderBy, frame, span: stream.spanFrom(start) };
}

function parseFrame(stream: TokenStream): WindowFrame | null {
  const { start } = stream.peek().span;
  for (const unit of ['rows', 'range', 'groups'] as const) {
    if (!stream.accept(unit)) continue;
    if (stream.accept('between')) {
      const first = parseFrameBound(stream);
      stream.expect('and');
      const last = parseFrameBound(stream);
      return { unit, start: first, end: last, span: stream.spanFrom(start) };
    }
    const first = parseFrameBound(stream);
    return {
      unit,
      start: first,
      end: { tag: 'current_row', span: first.span },
      span: stream.spanFrom(start),
    };
  }
  return null;
}

function parseFrameBound(stream: TokenStream): FrameBound {
  const { start } = stream.peek().span;
  if (stream.accept('current')) {
    stream.expect('row');
    return { tag: 'current_row', span: stream.spanFrom(start) };
  }
  const unbounded =
    stream.atWords('unbounded', 'preceding') || stream.atWords('unbounded', 'following');
  if (unbounded) stream.next();
  const offset = unbounded ? null : stream.parseExpression(PRECEDENCE.other);
  if (!stream.atWord('preceding') && !stream.atWord('following')) {
    stream.fail('PRECEDING or FOLLOWING', ['PRECEDING', 'FOLLOWING']);
  }
  const direction = stream.next().text as 'preceding' | 'following';
  const span = stream.spanFrom(start);
  return offset === null
    ? { tag: `unbounded_${direction}`, span }
    : { tag: direction, offset, span };
}

// Functions with a syntax of their own.

function parseCastCall(stream: TokenStream, name: Identifier, safe: boolean): Expression {
  stream.expectSymbol('(');
  const operand = stream.parseExpression();
  stream.expect('as');
  const type = parseType(stream);
  stream.expectSymbol(')');
  return { tag: 'cast', operand, type, safe, span: stream.spanFrom(name.span.start) };
}

function parseRow(stream: TokenStream, name: Identifier): Expression {
  stream.expectSymbol('(');
  const fields = stream.atSymbol(')') ? [] : separated(stream, () => parseRowField(stream));
  stream.expectSymbol(')');
  return { tag: 'row', fields, span: stream.spanFrom(name.span.start) };
}

function parseRowField(stream: TokenStream): RowField {
  const { start } = stream.peek().span;
  const value = stream.parseExpression();
  const name = stream.accept('as') ? stream.anyName('the name of a field') : null;
  return { name, value, span: stream.spanFrom(start) };
}

/** `EXTRACT(f FROM x)` is `date_part('f', x)`. */
function parseExtract(stream: TokenStream, name: Identifier): Expression {
  const field = stream.peek(1);
  const isSpecial = (field.kind === 'word' || field.kind === 'string') && stream.atWord('from', 2);
  if (!isSpecial) return parseOrdinaryCall(stream, name);
  stream.expectSymbol('(');
  stream.next();
  stream.expect('from');
  const source = stream.parseExpression();
  stream.expectSymbol(')');
  return renamed(stream, name, 'date_part', [
    { tag: 'string', value: field.text, span: field.span },
    source,
  ]);
}

/** `POSITION(a IN b)` is `strpos(b, a)`. */
function parsePosition(stream: TokenStream, name: Identifier): Expression {
  stream.expectSymbol('(');
  const first = stream.parseExpression(PRECEDENCE.other);
  const isSpecial = stream.accept('in');
  if (!isSpecial) stream.expectSymbol(',');
  const second = stream.parseExpression();
  stream.expectSymbol(')');
  if (isSpecial) return renamed(stream, name, 'strpos', [second, first]);
  return plainCall(name, [first, second], stream.spanFrom(name.span.start));
}

/** `SUBSTRING(x FROM a FOR b)` is `substring(x, a, b)`, from 1 when FROM is missing. */
function parseSubstring(stream: TokenStream, name: Identifier): Expression {
  stream.expectSymbol('(');
  const values = [...separated(stream, () => stream.parseExpression())];
  if (values.length === 1) {
    if (stream.accept('from')) values.push(stream.parseExpression());
    if (stream.accept('for')) {
      if (values.length === 1)
        values.push({ tag: 'number', text: '1', span: stream.previous.span });
      values.push(stream.parseExpression());
    }
  }
  stream.expectSymbol(')');
  return plainCall(name, values, stream.spanFrom(name.span.start));
}

/** `OVERLAY(x PLACING y FROM a FOR b)` is `overlay(x, y, a, b)`. */
function parseOverlay(stream: TokenStream, name: Identifier): Expression {
  stream.expectSymbol('(');
  const values = [...separated(stream, () => stream.parseExpression())];
  if (values.length === 1 && stream.accept('placing')) {
    values.push(stream.parseExpression());
    stream.expect('from');
    values.push(stream.parseExpression());
    if (stream.accept('for')) values.push(stream.parseExpression());
  }
  stream.expectSymbol(')');
  return plainCall(name, values, stream.spanFrom(name.span.start));
}

const TRIM_FUNCTIONS: Readonly<Record<string, string>> = {
  both: 'btrim',
  leading: 'ltrim',
  trailing: 'rtrim',
};

/** `TRIM(LEADING c FROM x)` is `ltrim(x, c)`, and so on. */
function parseTrim(stream: TokenStream, name: Identifier): Expression {
  stream.expectSymbol('(');
  const side = stream.peek();
  const behind = stream.peek(1);
  const hasSide =
    side.kind === 'word' &&
    Object.hasOwn(TRIM_FUNCTIONS, side.text) &&
    (behind.kind !== 'symbol' || behind.text === '(');
  if (hasSide) stream.next();
  const target = hasSide ? (TRIM_FUNCTIONS[side.text] as string) : 'btrim';
  if (stream.accept('from')) {
    const source = stream.parseExpression();
    stream.expectSymbol(')');
    return renamed(stream, name, target, [source]);
  }
  const values = separated(stream, () => stream.parseExpression());
  const [characters] = values;
  if (values.length === 1 && characters !== undefined && stream.accept('from')) {
    const source = stream.parseExpression();
    stream.expectSymbol(')');
    return renamed(stream, name, target, [source, characters]);
  }
  stream.expectSymbol(')');
  if (hasSide) return renamed(stream, name, target, values);
  return plainCall(name, values, stream.spanFrom(name.span.start));
}
