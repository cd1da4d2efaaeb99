/**
 * The tokens of a text that parses, each with what the formatter must know of it: what it was written as, what part it
 * plays, and the comments around it.
 */
import type { Position, Span } from '../base/errors.ts';
import type { Program } from './ast-statement.ts';
import type { Token } from './lexer.ts';
import { Places } from './places.ts';

export type Comment = {
  text: string;
  /** It began a line. */
  own: boolean;
  /** It ended a line. */
  last: boolean;
  /** An empty line stood before it. */
  blank: boolean;
};

export type Role =
  | 'keyword'
  | 'name'
  /** The name of a function, before its parenthesis. */
  | 'call'
  | 'type'
  | 'value'
  | 'symbol'
  /** A sign of its own: minus, plus, tilde. */
  | 'unary'
  /** It stands close to what is before it, as the `+` of a pattern. */
  | 'quantifier'
  /** The brackets of ARRAY<INT>. */
  | 'angle'
  | 'end';

export type FormatToken = {
  /** As it is printed. */
  text: string;
  /** A keyword in upper case, a symbol; otherwise empty. */
  word: string;
  role: Role;
  before: Comment[];
  after: Comment[];
  /** An empty line stood before it. */
  blank: boolean;
};

const UNARY = new Set(['-', '+', '~']);

/** Where words are no keywords, and where signs mean something else. */
type Marks = {
  roles: Map<number, Role>;
  /** Stretches of the keys of options, of types, and of wildcards with their EXCEPT. */
  keys: Span[];
  types: Span[];
  wildcards: Span[];
  quantifiers: Span[];
};

const keyOf = ({ line, column }: Position): number => line * 1_048_576 + column;

export function formatTokens(
  text: string,
  tokens: readonly Token[],
  program: Program,
): FormatToken[] {
  const marks: Marks = { roles: new Map(), keys: [], types: [], wildcards: [], quantifiers: [] };
  mark(program, marks);
  const inKeys = within(marks.keys);
  const inTypes = within(marks.types);
  const inWildcards = within(marks.wildcards);
  const inQuantifiers = within(marks.quantifiers);
  const places = new Places(text);
  const result: FormatToken[] = [];
  let end = 0;
  for (const token of tokens) {
    const from = places.offsetOf(token.span.start);
    const at = keyOf(token.span.start);
    const role = roleOf(
      token,
      inKeys(at) ? 'name' : marks.roles.get(at),
      inTypes(at),
      inQuantifiers(at),
    );
    const isShift =
      token.text === '>' &&
      from === end &&
      tokens[result.length - 1]?.text === '>' &&
      role === 'symbol';
    const made = formatToken(
      text.slice(from, places.offsetOf(token.span.end)),
      token,
      isShift ? 'quantifier' : role,
    );
    if (role === 'keyword' && inWildcards(at)) made.word = '';
    const gap = comments(text.slice(end, from), result.length === 0, token.kind === 'end');
    made.before = gap.before;
    made.blank = gap.blank;
    result.at(-1)?.after.push(...gap.after);
    result.push(made);
    end = places.offsetOf(token.span.end);
  }
  settle(result);
  return result;
}

function formatToken(source: string, token: Token, role: Role): FormatToken {
  const isWord = role === 'keyword' || role === 'type';
  // The upper case of a letter outside of ASCII may be another word.
  const folds = isWord && token.kind === 'word' && /^\w+$/.test(source);
  const text = folds ? source.toUpperCase() : source;
  const word = role === 'keyword' || token.kind === 'symbol' ? text : '';
  return { text, word, role, before: [], after: [], blank: false };
}

function roleOf(
  token: Token,
  marked: Role | undefined,
  isType: boolean,
  isQuantifier: boolean,
): Role {
  const { kind, text } = token;
  if (kind === 'end') return 'end';
  if (kind === 'symbol') {
    if (isQuantifier) return 'quantifier';
    if (isType && (text === '<' || text === '>')) return 'angle';
    return marked === 'unary' && UNARY.has(text) ? 'unary' : 'symbol';
  }
  if (kind === 'quoted') return marked === 'call' ? 'call' : 'name';
  if (kind !== 'word') return 'value';
  if (marked === 'name' || marked === 'call') return marked;
  return isType ? 'type' : 'keyword';
}

/** Whether a place, asked for in the order of the text, is in one of the stretches. */
function within(spans: readonly Span[]): (at: number) => boolean {
  const ordered = spans
    .map(({ start, end }) => ({ from: keyOf(start), to: keyOf(end) }))
    .sort((left, right) => left.from - right.from);
  let next = 0;
  let until = 0;
  return (at) => {
    for (; next < ordered.length && (ordered[next] as { from: number }).from <= at; next++)
      until = Math.max(until, (ordered[next] as { to: number }).to);
    return at < until;
  };
}

const TYPES = new Set<unknown>(['simple', 'array', 'struct', 'map']);

/** Goes through a tree of any height without recursion. */
function mark(root: unknown, marks: Marks): void {
  const stack: unknown[] = [root];
  while (stack.length > 0) {
    const node = stack.pop();
    if (typeof node !== 'object' || node === null) continue;
    if (Array.isArray(node)) {
      for (const each of node as unknown[]) stack.push(each);
      continue;
    }
    markNode(node as Record<string, unknown>, marks);
    for (const value of Object.values(node)) if (typeof value === 'object') stack.push(value);
  }
}

function markNode(node: Record<string, unknown>, marks: Marks): void {
  const span = node['span'] as Span | undefined;
  if (span === undefined) return;
  const { roles } = marks;
  const at = keyOf(span.start);
  if ('quoted' in node && 'text' in node) {
    if (!roles.has(at)) roles.set(at, 'name');
    return;
  }
  if ('keySpan' in node) {
    marks.keys.push(node['keySpan'] as Span);
    const value = node['value'] as { tag?: unknown; span: Span };
    if (value.tag === 'boolean') roles.set(keyOf(value.span.start), 'name');
  }
  switch (node['tag']) {
    case 'call':
    case 'windowed':
      roles.set(keyOf((node['name'] as { span: Span }).span.start), 'call');
      return;
    case 'create_function':
      roles.set(keyOf((node['name'] as { span: Span }).span.start), 'call');
      return;
    case 'unary':
      roles.set(at, 'unary');
      return;
    case 'number':
      if (String(node['text']).startsWith('-')) roles.set(at, 'unary');
      return;
    case 'wildcard':
      marks.wildcards.push(span);
      return;
    case 'repeat':
      marks.quantifiers.push({
        start: (node['pattern'] as { span: Span }).span.end,
        end: span.end,
      });
      return;
    default:
      if (TYPES.has(node['tag']) && !('elements' in node)) marks.types.push(span);
  }
}

/** The comments between two tokens: those that belong to the line before, and those before the next token. */
function comments(
  gap: string,
  first: boolean,
  final: boolean,
): { before: Comment[]; after: Comment[]; blank: boolean } {
  const before: Comment[] = [];
  const after: Comment[] = [];
  const pattern = /\n|--[^\n]*|\/\*/g;
  // Of the comments on the line under way.
  let line: Comment[] = [];
  let isFirstLine = !first;
  let feeds = 0;
  const endLine = (): void => {
    const target = isFirstLine ? after : before;
    line.forEach((comment, at) => {
      comment.own = !isFirstLine && at === 0;
      comment.last = isFirstLine ? isOfLine(comment) : at === line.length - 1;
    });
    target.push(...line);
    line = [];
    isFirstLine = false;
  };
  for (let found = pattern.exec(gap); found !== null; found = pattern.exec(gap)) {
    if (found[0] === '\n') {
      endLine();
      feeds++;
      continue;
    }
    const content = found[0] === '/*' ? blockAt(gap, found.index) : found[0].trimEnd();
    pattern.lastIndex = found.index + (found[0] === '/*' ? content.length : found[0].length);
    line.push({ text: content, own: false, last: false, blank: feeds > 1 });
    feeds = 0;
  }
  if (final) endLine();
  // What is left stands before the token, on its line.
  before.push(...line);
  return { before, after, blank: feeds > 1 };
}

/** The comment that begins at `from`; comments nest. */
function blockAt(gap: string, from: number): string {
  const marks = /\/\*|\*\//g;
  marks.lastIndex = from;
  let open = 0;
  for (let found = marks.exec(gap); found !== null; found = marks.exec(gap)) {
    open += found[0] === '/*' ? 1 : -1;
    if (open === 0) return gap.slice(from, marks.lastIndex);
  }
  return gap.slice(from);
}

const isOfLine = ({ text }: Comment): boolean => text.startsWith('--');

const OPENING = new Set(['(', '[', '{']);
const CLOSING = new Set([',', ';', ')', ']']);
/** Others that stand close to what is before them. */
const CLOSE = new Set(['.', '::', '}']);

/**
 * Comments around commas and closing brackets: each where it will be found again when the text is formatted once more, and
 * in the order in which they were written.
 */
function settle(tokens: readonly FormatToken[]): void {
  for (let at = 1; at < tokens.length; at++) {
    const token = tokens[at] as FormatToken;
    if (OPENING.has(token.word) && token.after.every(isInline))
      tokens[at + 1]?.before.unshift(...token.after.splice(0));
    const isClosing = CLOSING.has(token.word);
    if (!isClosing && !CLOSE.has(token.word)) continue;
    const previous = tokens[at - 1] as FormatToken;
    // What stands on its line goes to what it stands behind.
    previous.after.push(...token.before.splice(0, leading(token.before, isInline)));
    if (!isClosing) continue;
    const next = tokens[at + 1];
    const ends = token.word === ',' || (token.word === ';' && token.before.length === 0);
    if (ends) {
      // What ends a line, and all behind that, stands behind the comma.
      const moved = previous.after.splice(leading(previous.after, isInline));
      token.after.unshift(...moved, ...token.before.splice(0));
    }
    if (next === undefined) continue;
    // One comment ends a line: others have lines of their own.
    const beside = leading(token.after, ({ own }) => !own);
    const ending = token.after.findIndex(isOfLine);
    const kept = ending < 0 ? beside : Math.min(beside, ending + 1);
    const others = token.after.splice(kept);
    next.before.unshift(...others.map((comment) => ({ ...comment, own: true, last: true })));
  }
}

/** How many comments from the first on are such. */
function leading(comments: readonly Comment[], isSuch: (comment: Comment) => boolean): number {
  const other = comments.findIndex((comment) => !isSuch(comment));
  return other < 0 ? comments.length : other;
}

const isInline = (comment: Comment): boolean => !comment.own && !comment.last && !isOfLine(comment);
