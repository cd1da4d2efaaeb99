/** Where a query begins and where it may go on, told from the words at the cursor. */
import type { TokenStream } from './token-stream.ts';

/** At the first word of a query; a parenthesis may start one too, which this leaves open. */
export function atQueryStart(stream: TokenStream): boolean {
  return (
    stream.atWord('select') ||
    stream.atWord('with') ||
    (stream.atWord('values') && stream.atSymbol('(', 1))
  );
}

/** At a word that makes the parenthesised query before it a part of a larger one. */
export function atQueryTail(stream: TokenStream): boolean {
  return ['union', 'except', 'intersect', 'order', 'limit', 'offset'].some((word) =>
    stream.atWord(word),
  );
}

/** At `WINDOW name AS (`: the word alone is a name like any other. */
export function atWindowClause(stream: TokenStream): boolean {
  const name = stream.peek(1);
  return (
    stream.atWord('window') &&
    (name.kind === 'word' || name.kind === 'quoted') &&
    stream.atWord('as', 2) &&
    stream.atSymbol('(', 3)
  );
}
