/** Patterns and characters. */

/** LIKE as a regular expression. */
export function likePattern(pattern: string, ignoreCase: boolean, escape = '\\'): RegExp {
  let source = '';
  const characters = [...pattern];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] as string;
    if (character === escape && at + 1 < characters.length) source += plain(characters[++at] ?? '');
    else if (character === '%') source += '[^]*';
    else if (character === '_') source += '[^]';
    else source += plain(character);
  }
  return new RegExp(`^${source}$`, ignoreCase ? 'iu' : 'u');
}

const plain = (character: string): string =>
  /[\\^$.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character;

/** `count` characters from a position counted from 1, which may lie before the text. */
export function substring(text: string, from: number, count = Infinity): string {
  return [...text].slice(Math.max(0, from - 1), Math.max(0, from - 1 + count)).join('');
}

/** Part `n` between separators, from 1; from the end when negative. */
export function splitPart(text: string, separator: string, n: number): string {
  const parts = separator === '' ? [text] : text.split(separator);
  return (n > 0 ? parts[n - 1] : parts[parts.length + n]) ?? '';
}

export function pad(text: string, length: number, fill: string, atStart: boolean): string {
  const characters = [...text];
  if (length <= characters.length) return characters.slice(0, Math.max(0, length)).join('');
  const filling = [...fill];
  if (filling.length === 0) return text;
  const added = Array.from(
    { length: length - characters.length },
    (_, at) => filling[at % filling.length],
  ).join('');
  return atStart ? added + text : text + added;
}

/** Capitals at the start of words, small letters elsewhere; words are of letters and digits. */
export const capitalised = (text: string): string =>
  text
    .toLowerCase()
    .replace(
      /(^|[^\p{L}\p{N}])(\p{L})/gu,
      (_, before: string, first: string) => before + first.toUpperCase(),
    );
