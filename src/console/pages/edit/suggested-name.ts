/** A name for a pipeline, from what its text says first. Pure. */
import { isName, isWord, nameOf, tokensOf } from '../../parts/editor/tokens.ts';

const MOST = 60;

/** The question in the first comment; else the table that is read. */
export function suggestedName(text: string): string {
  const tokens = tokensOf(text);
  const [first] = tokens;
  if (first?.kind === 'comment') {
    const [sentence = ''] = first.text.replace(/^[-/*\s]+/, '').split(/[.:?!]/);
    const words = sentence.trim().toLowerCase();
    if (words !== '' && words.length <= MOST) return words;
  }
  const at = tokens.findIndex((token) => isWord(token, 'from'));
  const table = tokens[at + 1];
  return at !== -1 && table !== undefined && isName(table) ? `rows of ${nameOf(table)}` : 'query';
}
