/** The words and signs of a text in our dialect, also of one that is still being written. For an editor only: it never fails. Pure. */

export type TokenKind = 'word' | 'quoted' | 'text' | 'number' | 'sign' | 'comment' | 'body';

/** `to` is behind its last character; `open`: the text ends before its closing sign. */
export type Token = { kind: TokenKind; text: string; from: number; to: number; open: boolean };

type Rule = { kind: TokenKind; pattern: RegExp; end?: string };

const RULES: readonly Rule[] = [
  { kind: 'comment', pattern: /--[^\n]*/y },
  { kind: 'comment', pattern: /\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?/y, end: '*/' },
  { kind: 'body', pattern: /\$\$(?:[^$]|\$(?!\$))*(?:\$\$)?/y, end: '$$' },
  { kind: 'text', pattern: /'(?:[^']|'')*'?/y, end: "'" },
  { kind: 'quoted', pattern: /"(?:[^"]|"")*"?/y, end: '"' },
  { kind: 'number', pattern: /\d[\d._eE]*/y },
  { kind: 'word', pattern: /[\p{L}_][\p{L}\p{N}_$]*/uy },
  { kind: 'sign', pattern: /\S/uy },
];

export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const token = tokenAt(text, at);
    if (token === null) {
      at++;
      continue;
    }
    tokens.push(token);
    at = token.to;
  }
  return tokens;
}

function tokenAt(text: string, at: number): Token | null {
  for (const { kind, pattern, end } of RULES) {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found === undefined) continue;
    const open = end !== undefined && (found.length < 2 * end.length || !closes(found, end));
    return { kind, text: found, from: at, to: at + found.length, open };
  }
  return null;
}

/** `'it''s` is open although it ends like `'it''`. */
function closes(found: string, end: string): boolean {
  if (!found.endsWith(end)) return false;
  if (end.length > 1) return true;
  const inside = found.slice(1);
  const signs = inside.length - inside.replace(/['"]+$/, '').length;
  return signs % 2 === 1;
}

/** The name that a word or quoted word means. */
export const nameOf = ({ kind, text }: Token): string =>
  kind === 'quoted' ? text.replace(/^"|"$/g, '').replaceAll('""', '"') : text.toLowerCase();

export const isName = ({ kind }: Token): boolean => kind === 'word' || kind === 'quoted';

export const isSign = (token: Token | undefined, sign: string): boolean =>
  token?.kind === 'sign' && token.text === sign;

export const isWord = (token: Token | undefined, ...words: readonly string[]): boolean =>
  token?.kind === 'word' && words.includes(token.text.toLowerCase());
