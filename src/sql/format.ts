/**
 * SQL in the house style: keywords in upper case, one clause a line, queries in parentheses indented, lists broken at about
 * 100 columns.
 *
 * It knows syntax only. Invariants: every token stays, in order, and every comment; a text that was formatted stays as it
 * is; names, strings and numbers stay as they were written. A text with an error is left alone, and the errors are answered:
 * what its author meant is not known.
 */
import type { ErrorReport } from '../base/errors.ts';
import type { Program } from './ast-statement.ts';
import { FormatReader } from './format-reader.ts';
import { atQuery, elements, parenthesis, queryDocs } from './format-query.ts';
import { formatTokens } from './format-tokens.ts';
import { BLANK, type Doc, HARD, LINE, SPACE, group, indent, render } from './layout.ts';
import { type Token, tokenize } from './lexer.ts';
import { parseProgram } from './parser.ts';

const WIDTH = 100;
/** Columns of a table, or options, that stand on one line. */
const COLUMNS_MAX = 3;
const OPTIONS_MAX = 2;

export type Formatted =
  | { tag: 'formatted'; text: string }
  | { tag: 'refused'; errors: ErrorReport[] };

export function formatSql(text: string): Formatted {
  const { program, errors } = parseProgram(text);
  if (errors.length > 0) return { tag: 'refused', errors };
  const { tokens } = tokenize(text);
  const formatted = layOut(text, tokens, program);
  // A fault here must never cost anybody a query.
  const isSafe = sameTokens(tokens, formatted) && parseProgram(formatted).errors.length === 0;
  return { tag: 'formatted', text: isSafe ? formatted : text };
}

/** Whether a text has these tokens, but for the case of words. */
export function sameTokens(tokens: readonly Token[], text: string): boolean {
  const { tokens: others } = tokenize(text);
  return (
    tokens.length === others.length &&
    tokens.every((token, at) => token.kind === others[at]?.kind && token.text === others[at]?.text)
  );
}

/** The text without the last check. */
export function layOut(text: string, tokens: readonly Token[], program: Program): string {
  const reader = new FormatReader(formatTokens(text, tokens, program));
  const parts: Doc[] = [];
  let previous = '';
  while (!reader.atEnd()) {
    const head = reader.peek().word;
    if (parts.length > 0 && head !== ';') parts.push(separator(previous, head, reader.peek()));
    reader.takeCommentsOfStatement(parts);
    parts.push(...statement(reader));
    if (reader.is(';')) {
      reader.takeComments(parts);
      reader.takeBare(parts);
    }
    previous = head;
  }
  if (parts.length > 0 && reader.peek().before.length > 0) parts.push(HARD);
  reader.takeCommentsOfStatement(parts);
  return render(parts, WIDTH);
}

/** Settings stand together; other statements apart. */
function separator(
  previous: string,
  head: string,
  { before }: { before: readonly unknown[] },
): Doc {
  return previous === 'SET' && head === 'SET' && before.length === 0 ? HARD : BLANK;
}

function statement(reader: FormatReader): Doc[] {
  if (reader.is('CREATE')) return createDocs(reader);
  if (reader.is('INSERT')) return insertDocs(reader);
  if (reader.is('EXPLAIN')) {
    const head: Doc[] = [];
    reader.takeBare(head);
    while (reader.is('LOGICAL') || reader.is('PHYSICAL')) reader.take(head);
    return [...head, HARD, ...statement(reader)];
  }
  if (atQuery(reader)) return [group(queryDocs(reader), true)];
  const parts: Doc[] = [];
  plain(reader, parts, () => false);
  return parts;
}

/** Tokens one after the other, up to the end of the statement. */
function plain(reader: FormatReader, into: Doc[], stop: () => boolean): void {
  let first = true;
  while (!reader.is(';') && !reader.atEnd() && !stop()) {
    if (first) reader.takeBare(into);
    else reader.take(into);
    first = false;
  }
}

function insertDocs(reader: FormatReader): Doc[] {
  const parts: Doc[] = [];
  plain(reader, parts, () => reader.is('(') || atQuery(reader));
  if (reader.is('(') && !atQuery(reader)) parts.push(SPACE, ...parenthesis(reader, false));
  parts.push(HARD, group(queryDocs(reader), true));
  return parts;
}

function createDocs(reader: FormatReader): Doc[] {
  const parts: Doc[] = [];
  plain(reader, parts, () => reader.is('(') || reader.is('AS') || reader.is('WITH'));
  const isFunction = reader.previous?.role === 'call';
  if (isFunction) return functionDocs(reader, parts);
  if (reader.is('(')) {
    reader.take(parts);
    parts.push(...elements(reader, commas(reader) >= COLUMNS_MAX));
  }
  while (!reader.is(';') && !reader.atEnd()) {
    if (reader.is('AS')) {
      reader.take(parts);
      parts.push(HARD, group(queryDocs(reader), true));
    } else if (reader.is('(')) {
      const isOptions = reader.previous?.word === 'WITH';
      reader.take(parts);
      parts.push(...elements(reader, isOptions && commas(reader) >= OPTIONS_MAX));
    } else reader.take(parts);
  }
  return parts;
}

/** Commas of the bracket that is open, outside of others. */
function commas(reader: FormatReader): number {
  let depth = 0;
  let count = 0;
  for (let ahead = 0; reader.peek(ahead).role !== 'end'; ahead++) {
    const { word } = reader.peek(ahead);
    if (word === '(' || word === '[') depth++;
    if (word === ')' || word === ']') depth--;
    if (depth < 0) break;
    if (depth === 0 && word === ',') count++;
  }
  return count;
}

const FUNCTION_CLAUSES = new Set('LANGUAGE IMMUTABLE STABLE VOLATILE CALLED WITH AS'.split(' '));

function functionDocs(reader: FormatReader, head: Doc[]): Doc[] {
  const clauses: Doc[] = [];
  let into = head;
  while (!reader.is(';') && !reader.atEnd()) {
    const isNullInput = reader.is('RETURNS') && reader.is('NULL', 1);
    if (reader.is('(')) {
      const isOptions = reader.previous?.word === 'WITH';
      reader.take(into);
      into.push(...elements(reader, isOptions && commas(reader) >= OPTIONS_MAX));
    } else if (reader.isAny(FUNCTION_CLAUSES) || isNullInput) {
      into = clauses;
      into.push(LINE);
      reader.takeComments(into);
      reader.takeBare(into);
    } else reader.take(into);
  }
  return [group([...head, indent(clauses)])];
}
