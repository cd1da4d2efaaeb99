/** What a cursor stands in: the statement, the tables it names, and the option list, call or type around it. Pure. */
import { isName, isSign, isWord, nameOf, type Token, tokensOf } from './tokens.ts';

/** `FROM orders AS o`: o means orders. */
export type TableUse = { table: string; alias: string };

export type TextFunction = { name: string; signature: string; from: number };

export type Cursor = {
  /** Of the statement, without comments, up to the cursor. */
  before: readonly Token[];
  /** Of the whole statement. */
  statement: readonly Token[];
  /** The word that is being written; empty between two. */
  word: Token | null;
  /** In a comment, the body of a function, or a text. */
  inside: Token | null;
};

export function cursorAt(text: string, at: number): Cursor {
  const tokens = tokensOf(text);
  const inside =
    tokens.find(
      (token) =>
        ['comment', 'body', 'text'].includes(token.kind) &&
        token.from < at &&
        (at < token.to || (at === token.to && (token.open || token.text.startsWith('--')))),
    ) ?? null;
  const told = tokens.filter(({ kind }) => kind !== 'comment');
  const ends = told.filter((token) => isSign(token, ';'));
  const start = ends.filter(({ to }) => to <= at).at(-1)?.to ?? 0;
  const end = ends.find(({ from }) => from >= at)?.from ?? text.length;
  const statement = told.filter(({ from, to }) => from >= start && to <= end);
  const last = statement.findLast(({ from }) => from < at);
  const word = last !== undefined && isName(last) && last.to >= at ? last : null;
  const limit = word?.from ?? inside?.from ?? at;
  return { statement, before: statement.filter(({ to }) => to <= limit), word, inside };
}

const BEFORE_TABLE = ['from', 'join', 'into', 'lateral'];
const NO_ALIAS =
  /^(where|group|order|having|limit|on|using|join|left|right|full|inner|outer|cross|union|intersect|except|window|select|for|asof|match_recognize|with|values|lateral|set|as)$/;

export function tablesUsed(statement: readonly Token[]): TableUse[] {
  const uses: TableUse[] = [];
  statement.forEach((token, index) => {
    const before = statement[index - 1];
    if (!isName(token) || before === undefined || isSign(statement[index + 1], '(')) return;
    if (!isWord(before, ...BEFORE_TABLE) && !isComma(statement, index)) return;
    const table = nameOf(token);
    const next = statement[index + 1];
    const named = isWord(next, 'as') ? statement[index + 2] : next;
    const alias =
      named !== undefined && isName(named) && !NO_ALIAS.test(nameOf(named)) ? nameOf(named) : table;
    uses.push({ table, alias });
  });
  return uses;
}

/** `FROM a, b`: no sign between FROM and the comma but commas. */
function isComma(statement: readonly Token[], index: number): boolean {
  let at = index - 1;
  if (!isSign(statement[at], ',')) return false;
  while (at >= 0 && !isWord(statement[at], 'from')) {
    const token = statement[at];
    if (token === undefined || (!isName(token) && !isSign(token, ','))) return false;
    if (isWord(token, 'select', 'by', 'where', 'on', 'values')) return false;
    at--;
  }
  return at >= 0;
}

export const wantsTable = (before: readonly Token[]): boolean =>
  isWord(before.at(-1), ...BEFORE_TABLE);

/** Of the tokens before the cursor: where the innermost parenthesis opens that is not closed; -1: none. */
export function openParenthesis(before: readonly Token[]): number {
  let depth = 0;
  for (let index = before.length - 1; index >= 0; index--) {
    if (isSign(before[index], ')')) depth++;
    else if (isSign(before[index], '(') && depth-- === 0) return index;
  }
  return -1;
}

export type OptionList = {
  /** Already named, with what they are set to. */
  given: ReadonlyMap<string, string>;
  /** Behind `name =`; null: a name is wanted. */
  valueOf: string | null;
};

/** The list behind WITH that the cursor stands in. */
export function optionList({ before, statement }: Cursor): OptionList | null {
  const open = openParenthesis(before);
  if (open < 1 || !isWord(before[open - 1], 'with')) return null;
  if (!isWord(before[0], 'create')) return null;
  const given = new Map<string, string>();
  for (let index = open + 1; index < statement.length; index++) {
    if (isSign(statement[index], ')')) break;
    if (!isSign(statement[index], '=')) continue;
    const value = statement[index + 1];
    given.set(optionName(statement, index), value === undefined ? '' : plainText(value));
  }
  const valueOf = isSign(before.at(-1), '=') ? optionName(before, before.length - 1) : null;
  return { given, valueOf };
}

/** `partitioning.fields`, a name with a point, stands in several tokens. */
function optionName(tokens: readonly Token[], equals: number): string {
  let first = equals - 1;
  while (first > 1 && isSign(tokens[first - 1], '.')) first -= 2;
  return tokens
    .slice(Math.max(0, first), equals)
    .map((token) => (token.kind === 'text' ? plainText(token) : token.text.toLowerCase()))
    .join('');
}

const plainText = ({ text }: Token): string => text.replace(/^'|'$/g, '').replaceAll("''", "'");

/** In the columns of CREATE TABLE, behind a name. */
export function wantsType({ before }: Cursor): boolean {
  if (isSign(before.at(-1), ':') || isWord(before.at(-1), 'returns')) return true;
  if (!isWord(before[0], 'create')) return false;
  const open = openParenthesis(before);
  const last = before.at(-1);
  if (open < 2 || last === undefined || !isName(last)) return false;
  if (isWord(last, 'watermark', 'primary', 'for')) return false;
  const first = before[before.length - 2];
  return (
    isWord(before[1], 'table', 'temporary', 'function') &&
    (isSign(first, ',') || isSign(first, '('))
  );
}

/** The JavaScript functions that a text defines. */
export function functionsIn(text: string): TextFunction[] {
  const tokens = tokensOf(text).filter(({ kind }) => kind !== 'comment');
  return tokens.flatMap((token, index) => {
    const [first, second] = [tokens[index - 1], tokens[index - 2]];
    if (!isName(token) || !isWord(first, 'function')) return [];
    if (!isWord(second, 'create', 'replace')) return [];
    const end = tokens.findIndex((other, at) => at > index && isWord(other, 'language', 'as'));
    const last = tokens[(end === -1 ? tokens.length : end) - 1] ?? token;
    const signature = text.slice(token.from, last.to).replace(/\s+/g, ' ');
    return { name: nameOf(token), signature, from: token.from };
  });
}
