/** MATCH_RECOGNIZE behind a table. */
import type {
  MatchDefinition,
  MatchRecognize,
  MatchSkip,
  Measure,
  Pattern,
  PatternRepeat,
} from './ast-match.ts';
import type { Position } from '../base/errors.ts';
import type { Expression } from './ast-expression.ts';
import type { TableAlias, TableReference } from './ast-query.ts';
import { separated } from './parse-list.ts';
import { parseOrderBy } from './parse-order.ts';
import type { TokenStream } from './token-stream.ts';

/** The table with every MATCH_RECOGNIZE behind it. */
export function parseMatches(
  stream: TokenStream,
  table: TableReference,
  parseAlias: (stream: TokenStream) => TableAlias | null,
): TableReference {
  return stream.measured((grow) => {
    let input = table;
    while (stream.atWord('match_recognize') && stream.atSymbol('(', 1)) {
      input = parseMatch(stream, input, parseAlias);
      grow();
    }
    return input;
  });
}

function parseMatch(
  stream: TokenStream,
  input: TableReference,
  parseAlias: (stream: TokenStream) => TableAlias | null,
): MatchRecognize {
  stream.expect('match_recognize');
  stream.expectSymbol('(');
  const partitionBy = parsePartition(stream);
  const orderBy = parseOrderBy(stream);
  const measures = stream.accept('measures') ? separated(stream, () => parseMeasure(stream)) : [];
  parseRowsPerMatch(stream);
  const skip = stream.atWords('after', 'match') ? parseSkip(stream) : null;
  stream.expect('pattern');
  stream.expectSymbol('(');
  const pattern = parsePattern(stream);
  stream.expectSymbol(')');
  const within = stream.accept('within') ? stream.parseExpression() : null;
  if (stream.atWord('subset'))
    refuse(stream, 'SUBSET is not supported', 'name the variables one by one in MEASURES');
  const define = stream.accept('define') ? separated(stream, () => parseDefinition(stream)) : [];
  stream.expectSymbol(')');
  const alias = parseAlias(stream);
  return {
    tag: 'match',
    input,
    partitionBy,
    orderBy,
    measures,
    skip,
    pattern,
    within,
    define,
    alias,
    span: stream.spanFrom(input.span.start),
  };
}

function refuse(stream: TokenStream, message: string, hint: string): never {
  return stream.reject('UNSUPPORTED', message, { hint, span: stream.peek().span });
}

function parsePartition(stream: TokenStream): readonly Expression[] {
  if (!stream.accept('partition')) return [];
  stream.expect('by');
  return separated(stream, () => stream.parseExpression());
}

function parseMeasure(stream: TokenStream): Measure {
  const { start } = stream.peek().span;
  const expression = stream.parseExpression();
  stream.expect('as');
  const name = stream.anyName('the name of a measure');
  return { expression, name, span: stream.spanFrom(start) };
}

function parseDefinition(stream: TokenStream): MatchDefinition {
  const { start } = stream.peek().span;
  const name = stream.identifier('a pattern variable');
  stream.expect('as');
  const condition = stream.parseExpression();
  return { name, condition, span: stream.spanFrom(start) };
}

function parseRowsPerMatch(stream: TokenStream): void {
  if (stream.atWords('all', 'rows', 'per', 'match'))
    refuse(
      stream,
      'ALL ROWS PER MATCH is not supported',
      'ONE ROW PER MATCH gives a row for each match; MEASURES can hold array_agg(…) of its rows',
    );
  if (stream.accept('one')) {
    if (!stream.accept('row', 'per', 'match')) stream.fail('ROW PER MATCH', ['ROW']);
  }
}

function parseSkip(stream: TokenStream): MatchSkip {
  const { start } = stream.peek().span;
  stream.expectAll('after', 'match');
  if (!stream.accept('skip')) stream.fail('SKIP', ['SKIP']);
  if (stream.accept('past', 'last', 'row'))
    return { tag: 'past_last', span: stream.spanFrom(start) };
  if (!stream.accept('to')) stream.fail('PAST LAST ROW or TO', ['PAST', 'TO']);
  if (stream.accept('next', 'row')) return { tag: 'next_row', span: stream.spanFrom(start) };
  const named = stream.peek(1).kind === 'word' || stream.peek(1).kind === 'quoted';
  const isFirst = stream.atWord('first') && named;
  const isLast = stream.atWord('last') && named;
  if (isFirst || isLast) stream.next();
  const variable = stream.identifier('NEXT ROW, FIRST, LAST or a pattern variable');
  return { tag: isFirst ? 'to_first' : 'to_last', variable, span: stream.spanFrom(start) };
}

// Patterns.

function parsePattern(stream: TokenStream): Pattern {
  return stream.nested(() => {
    const { start } = stream.peek().span;
    const parts = [parseSequence(stream)];
    while (stream.acceptSymbol('|')) parts.push(parseSequence(stream));
    return grouped(stream, 'alternation', parts, start);
  });
}

function parseSequence(stream: TokenStream): Pattern {
  const { start } = stream.peek().span;
  const parts = [parseRepeated(stream)];
  while (!stream.atEnd() && !stream.atSymbol('|') && !stream.atSymbol(')'))
    parts.push(parseRepeated(stream));
  return grouped(stream, 'sequence', parts, start);
}

function grouped(
  stream: TokenStream,
  tag: 'sequence' | 'alternation',
  parts: readonly Pattern[],
  start: Position,
): Pattern {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) return first;
  return { tag, parts, span: stream.spanFrom(start) };
}

function parseRepeated(stream: TokenStream): Pattern {
  return stream.measured((grow) => {
    const { start } = stream.peek().span;
    let pattern = parsePrimary(stream);
    grow();
    for (;;) {
      const bounds = parseQuantifier(stream);
      if (bounds === null) return pattern;
      const reluctant = stream.acceptSymbol('?');
      pattern = { tag: 'repeat', pattern, ...bounds, reluctant, span: stream.spanFrom(start) };
      grow();
    }
  });
}

function parsePrimary(stream: TokenStream): Pattern {
  if (stream.acceptSymbol('(')) {
    const inner = parsePattern(stream);
    stream.expectSymbol(')');
    return inner;
  }
  if (stream.atSymbol('{') && stream.atSymbol('-', 1))
    refuse(
      stream,
      'leaving rows out of a match by {- … -} is not supported',
      'with ONE ROW PER MATCH it makes no difference: write the variables without it',
    );
  if (stream.atSymbol('^'))
    refuse(
      stream,
      'the anchor ^ is not supported',
      'leave it out; PREV(x.key) IS NULL in DEFINE, of a column without NULLs, finds the first row of a partition',
    );
  if (stream.atWord('permute') && stream.atSymbol('(', 1))
    refuse(stream, 'PERMUTE is not supported', 'write the orders out: (A B | B A)');
  const name = stream.identifier('a pattern variable');
  return { tag: 'variable', name, span: name.span };
}

type Bounds = Pick<PatternRepeat, 'least' | 'most'>;

function parseQuantifier(stream: TokenStream): Bounds | null {
  if (stream.acceptSymbol('*')) return { least: 0, most: null };
  if (stream.acceptSymbol('+')) return { least: 1, most: null };
  if (stream.acceptSymbol('?')) return { least: 0, most: 1 };
  if (!stream.atSymbol('{') || stream.atSymbol('-', 1)) return null;
  const { start } = stream.next().span;
  const least = stream.atSymbol(',') ? 0 : parseCount(stream);
  let most: number | null = least;
  if (stream.acceptSymbol(',')) most = stream.atSymbol('}') ? null : parseCount(stream);
  stream.expectSymbol('}');
  if (most !== null && (most < least || most === 0))
    stream.reject('SYNTAX', `{${least},${most}} allows no number of rows`, {
      hint: 'the second number is the larger one, and not 0',
      span: stream.spanFrom(start),
    });
  return { least, most };
}

function parseCount(stream: TokenStream): number {
  const token = stream.peek();
  const count = Number(token.text);
  if (token.kind !== 'number' || !Number.isSafeInteger(count)) stream.fail('a whole number');
  stream.next();
  return count;
}
