/** The nearest known spelling of a mistyped word, for suggestions in error messages. */

/** Words longer than this are never compared: a suggestion is not worth quadratic work on hostile text. */
const WORD_LENGTH_MAX = 64;

/**
 * The candidate nearest to `word`, ignoring case, or null when none is near enough to be a likely slip:
 * at most one edit for short words, about one for every three letters of long ones, none for a single
 * letter. An edit inserts, drops
 * or replaces a letter or swaps two neighbours. Of equally near candidates the earliest wins.
 */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  if (word.length < 2 || word.length > WORD_LENGTH_MAX) return null;
  const wanted = word.toLowerCase();
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - wanted.length) >= bestDistance) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    // A word with every letter replaced is not a slip, however short it is.
    if (distance < bestDistance && distance < Math.max(wanted.length, candidate.length)) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Edits (insert, drop, replace, swap of neighbours) that turn one word into the other. */
export function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const replaced = left[row - 1] === right[column - 1] ? 0 : 1;
      let cost = Math.min(
        (last[column] as number) + 1,
        (current[column - 1] as number) + 1,
        (last[column - 1] as number) + replaced,
      );
      const swapped =
        row > 1 &&
        column > 1 &&
        left[row - 1] === right[column - 2] &&
        left[row - 2] === right[column - 1];
      if (swapped) cost = Math.min(cost, (beforeLast[column - 2] as number) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[right.length] as number;
}
