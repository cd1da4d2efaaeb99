/**
 * Queries and expressions as documents: one clause a line, lists and conditions broken where they are too long, queries in
 * parentheses indented.
 *
 * It reads tokens, not the tree: each token is taken exactly once and in order, whatever is made of it.
 */
import type { FormatReader } from './format-reader.ts';
import { type Doc, HARD, LINE, SPACE, TIGHT_LINE, group, indent, widthOf } from './layout.ts';

/** A query in parentheses that is no longer stays on its line. */
const INNER_QUERY_MAX = 60;

const QUERY_STARTS = new Set(['SELECT', 'WITH', 'VALUES']);
const LIST_CLAUSES = new Set(['SELECT', 'GROUP', 'ORDER', 'WINDOW', 'VALUES']);
const SET_OPERATORS = new Set(['UNION', 'EXCEPT', 'INTERSECT']);
const JOIN_WORDS = new Set(
  'NATURAL ASOF INNER LEFT RIGHT FULL CROSS OUTER SEMI ANTI JOIN'.split(' '),
);
const CLAUSES = new Set([
  ...LIST_CLAUSES,
  ...SET_OPERATORS,
  ...JOIN_WORDS,
  ...'WITH FROM WHERE HAVING QUALIFY LIMIT OFFSET FETCH'.split(' '),
]);
const WINDOW_PARTS = new Set(['PARTITION', 'ORDER', 'ROWS', 'RANGE', 'GROUPS']);
const MATCH_PARTS = new Set('PARTITION ORDER MEASURES ONE AFTER PATTERN WITHIN DEFINE'.split(' '));

/** Whether an expression or list ends before the next token. */
type Stop = (reader: FormatReader) => boolean;

const atClosing: Stop = (reader) =>
  reader.is(')') || reader.is(']') || reader.is(';') || reader.atEnd();

/** At a word that begins the next clause of a query. */
const atClause: Stop = (reader) => {
  if (atClosing(reader)) return true;
  if (!reader.isAny(CLAUSES)) return false;
  const before = reader.previous?.word;
  // IS DISTINCT FROM; WITH ORDINALITY; TIMESTAMP WITH TIME ZONE is a type.
  if (reader.is('FROM')) return before !== 'DISTINCT';
  if (reader.is('WITH')) return !reader.is('ORDINALITY', 1);
  return true;
};

const BEHIND_QUERY = new Set([...SET_OPERATORS, 'ORDER', 'LIMIT', 'OFFSET', 'FETCH', ')', ';']);

/** Whether a query begins here: a parenthesis begins one if nothing but a query goes on behind it. */
export function atQuery(reader: FormatReader, ahead = 0): boolean {
  if (!reader.is('(', ahead)) return reader.isAny(QUERY_STARTS, ahead);
  if (!atQuery(reader, ahead + 1)) return false;
  let open = 0;
  let at = ahead;
  do {
    if (reader.is('(', at)) open++;
    if (reader.is(')', at)) open--;
    at++;
  } while (open > 0 && reader.peek(at).role !== 'end');
  return reader.peek(at).role === 'end' || reader.isAny(BEHIND_QUERY, at);
}

/** The clauses of a query, up to its end. */
export function queryDocs(reader: FormatReader): Doc[] {
  const parts: Doc[] = [];
  while (!atClosing(reader)) {
    if (parts.length > 0) parts.push(LINE);
    parts.push(...clauseDocs(reader));
  }
  return parts;
}

function clauseDocs(reader: FormatReader): Doc[] {
  const head: Doc[] = [];
  reader.takeComments(head);
  if (reader.is('(')) return [...head, ...parenthesis(reader, true)];
  if (reader.is('WITH')) return [...head, ...withDocs(reader)];
  if (reader.is('FROM')) return [...head, ...fromDocs(reader)];
  if (reader.isAny(SET_OPERATORS)) {
    reader.takeBare(head);
    while (reader.is('ALL') || reader.is('DISTINCT')) reader.take(head);
    return head;
  }
  if (reader.isAny(JOIN_WORDS)) return [...head, ...joinDocs(reader)];
  const isList = reader.isAny(LIST_CLAUSES);
  reader.takeBare(head);
  if (reader.is('BY')) reader.take(head);
  if (reader.is('DISTINCT')) {
    reader.take(head);
    if (reader.is('ON')) {
      reader.take(head);
      head.push(SPACE, ...parenthesis(reader, false));
    }
  }
  if (!isList) {
    const condition = expression(reader, atClause);
    return [group([...head, SPACE, ...condition])];
  }
  const items = list(reader, atClause);
  return [group([...head, indent([LINE, ...items])])];
}

/** Elements with their commas; a line may break behind each. */
function list(reader: FormatReader, stop: Stop): Doc[] {
  const parts: Doc[] = [];
  while (!stop(reader)) {
    parts.push(group(expression(reader, (each) => each.is(',') || stop(each))));
    if (!reader.is(',')) break;
    reader.takeBare(parts);
    parts.push(LINE);
  }
  return parts;
}

function withDocs(reader: FormatReader): Doc[] {
  const parts: Doc[] = [];
  reader.takeBare(parts);
  if (reader.is('RECURSIVE')) reader.take(parts);
  for (;;) {
    while (!reader.is('(') && !reader.is('AS') && !atClosing(reader)) reader.take(parts);
    if (reader.is('(')) parts.push(SPACE, ...parenthesis(reader, false));
    while (!reader.is('(') && !atClosing(reader)) reader.take(parts);
    if (reader.is('(')) parts.push(SPACE, ...parenthesis(reader, true));
    if (!reader.is(',')) return parts;
    reader.takeBare(parts);
    parts.push(HARD);
    reader.takeComments(parts);
  }
}

function fromDocs(reader: FormatReader): Doc[] {
  const parts: Doc[] = [];
  reader.takeBare(parts);
  const more: Doc[] = [];
  let into = parts;
  for (;;) {
    into.push(SPACE, ...expression(reader, (each) => each.is(',') || atClause(each)));
    if (!reader.is(',')) break;
    reader.takeBare(into);
    into = more;
    into.push(LINE);
  }
  return more.length === 0 ? parts : [group([...parts, indent(more)])];
}

function joinDocs(reader: FormatReader): Doc[] {
  const parts: Doc[] = [];
  reader.takeBare(parts);
  while (reader.isAny(JOIN_WORDS)) reader.take(parts);
  const atCondition: Stop = (each) => each.is('ON') || each.is('USING') || atClause(each);
  parts.push(SPACE, ...expression(reader, atCondition));
  if (!reader.is('ON') && !reader.is('USING')) return [group(parts)];
  const condition: Doc[] = [LINE];
  reader.takeComments(condition);
  reader.takeBare(condition);
  condition.push(SPACE, ...expression(reader, atClause));
  return [...parts, group([indent(condition)])];
}

/** Up to where it stops; lines may break before AND and OR. */
function expression(reader: FormatReader, stop: Stop): Doc[] {
  const operand: Doc[] = [];
  const others: Doc[] = [];
  let parts = operand;
  // BETWEEN has an AND of its own.
  let betweens = 0;
  let first = true;
  while (!stop(reader) && !reader.atEnd()) {
    if (reader.is('BETWEEN')) betweens++;
    const isOfBetween = reader.is('AND') && betweens > 0;
    if (isOfBetween) betweens--;
    if (reader.is('OR') || (reader.is('AND') && !isOfBetween)) {
      parts = others;
      parts.push(LINE);
      reader.takeComments(parts);
      reader.takeBare(parts);
    } else term(reader, parts, first);
    first = false;
  }
  return others.length === 0 ? operand : [...operand, indent(others)];
}

/** The next token, or what it opens. @param first  nothing of the expression stands before it */
function term(reader: FormatReader, parts: Doc[], first: boolean): void {
  if (reader.is('CASE')) {
    if (!first) parts.push(SPACE);
    parts.push(caseDoc(reader));
  } else if (reader.is('(') || reader.is('[')) bracket(reader, parts);
  else if (first) {
    reader.takeComments(parts);
    reader.takeBare(parts);
  } else if (reader.peek().role === 'angle') angles(reader, parts);
  else reader.take(parts);
}

/** `<…>` of a type: its commas end no element. */
function angles(reader: FormatReader, parts: Doc[]): void {
  let open = 0;
  do {
    const { role, text } = reader.peek();
    if (role === 'angle') open += text === '<' ? 1 : -1;
    reader.take(parts);
  } while (open > 0 && !reader.atEnd());
}

/** A bracket within an expression, with the blank that belongs ahead of it. */
function bracket(reader: FormatReader, parts: Doc[]): void {
  const opening: Doc[] = [];
  reader.takeComments(opening);
  const head = reader.previous?.word;
  reader.take(opening);
  const isMatch = head === 'MATCH_RECOGNIZE';
  const isWindow = reader.isAny(WINDOW_PARTS) || reader.isAny(WINDOW_PARTS, 1);
  if (isMatch) parts.push(...opening, ...sections(reader, MATCH_PARTS, true));
  else if (atQuery(reader)) parts.push(...opening, ...innerQuery(reader));
  else if (isWindow && (head === 'OVER' || head === 'AS'))
    parts.push(...opening, ...sections(reader, WINDOW_PARTS, false));
  else parts.push(...opening, ...elements(reader));
}

function caseDoc(reader: FormatReader): Doc {
  const parts: Doc[] = [];
  reader.takeBare(parts);
  const stop: Stop = (each) =>
    each.is('WHEN') || each.is('ELSE') || each.is('END') || each.is(';') || each.atEnd();
  if (!stop(reader)) parts.push(SPACE, ...expression(reader, stop));
  const branches: Doc[] = [];
  while (reader.is('WHEN') || reader.is('ELSE')) {
    branches.push(LINE);
    reader.takeComments(branches);
    const branch: Doc[] = [];
    reader.takeBare(branch);
    branch.push(SPACE, ...expression(reader, stop));
    branches.push(group(branch));
  }
  if (reader.is('END')) reader.takeComments(branches);
  parts.push(indent(branches), LINE);
  if (reader.is('END')) reader.takeBare(parts);
  return group(parts);
}

/** A query or list in parentheses. @param broken  a query is not kept on one line */
export function parenthesis(reader: FormatReader, broken: boolean): Doc[] {
  const opening: Doc[] = [];
  reader.takeComments(opening);
  reader.takeBare(opening);
  if (atQuery(reader)) return [...opening, ...innerQuery(reader, broken)];
  return [...opening, ...elements(reader)];
}

/** Behind the parenthesis. */
function innerQuery(reader: FormatReader, broken = false): Doc[] {
  const query = queryDocs(reader);
  const close: Doc[] = [];
  reader.takeComments(query);
  reader.takeBare(close);
  const stays = !broken && widthOf(query) <= INNER_QUERY_MAX;
  return [group([indent([TIGHT_LINE, ...query]), TIGHT_LINE], !stays), ...close];
}

/** The elements of a bracket that is open, and its end. @param broken  each on a line of its own */
export function elements(reader: FormatReader, broken = false): Doc[] {
  const items = list(reader, atClosing);
  reader.takeComments(items);
  const close: Doc[] = [];
  reader.takeBare(close);
  if (items.length === 0) return close;
  return [group([indent([TIGHT_LINE, ...items]), TIGHT_LINE], broken), ...close];
}

/** A parenthesis of clauses, such as that of OVER. */
function sections(reader: FormatReader, words: ReadonlySet<string>, broken: boolean): Doc[] {
  const parts: Doc[] = [];
  const stop: Stop = (each) => atClosing(each) || each.isAny(words);
  while (!atClosing(reader)) {
    if (parts.length > 0) parts.push(LINE);
    reader.takeComments(parts);
    const section: Doc[] = [];
    reader.takeBare(section);
    if (reader.is('BY')) reader.take(section);
    let into = section;
    const others: Doc[] = [];
    while (!stop(reader)) {
      into.push(SPACE, ...expression(reader, (each) => each.is(',') || stop(each)));
      if (!reader.is(',')) break;
      reader.takeBare(into);
      into = others;
      into.push(LINE);
    }
    parts.push(group([...section, indent(others)]));
  }
  reader.takeComments(parts);
  const close: Doc[] = [];
  reader.takeBare(close);
  return [group([indent([TIGHT_LINE, ...parts]), TIGHT_LINE], broken), ...close];
}
