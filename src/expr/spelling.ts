/** The nearest right spelling of a wrong name. */

/** Edits (insert, delete, replace, swap of neighbours) between two words. */
export function editDistance(left: string, right: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const current = [i];
    for (let j = 1; j <= right.length; j++) {
      const same = left[i - 1] === right[j - 1];
      let best = Math.min(
        (previous[j] as number) + 1,
        (current[j - 1] as number) + 1,
        (previous[j - 1] as number) + (same ? 0 : 1),
      );
      const swapped =
        i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
      if (swapped) best = Math.min(best, (before[j - 2] as number) + 1);
      current.push(best);
    }
    before = previous;
    previous = current;
  }
  return previous[right.length] as number;
}

/** Up to `count` candidates within a third of the word's length, nearest first, then in alphabetical order. */
export function nearestNames(wrong: string, candidates: Iterable<string>, count = 3): string[] {
  const word = wrong.toLowerCase();
  const limit = Math.max(1, Math.floor(word.length / 3));
  return [...new Set(candidates)]
    .map((name) => ({ name, distance: editDistance(word, name.toLowerCase()) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, count)
    .map(({ name }) => name);
}
