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
  const table = tokens.find((token, index) => {
    const before = tokens[index - 1];
    return before !== undefined && isWord(before, 'from') && isName(token);
  });
  return table !== undefined ? `rows of ${nameOf(table)}` : 'query';
}
