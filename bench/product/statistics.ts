/** What is made of repeated measurements. */

export type Summary = { median: number; min: number; max: number; runs: number };

/** Throws when there is nothing to summarise: an empty measurement is no measurement. */
export function summarise(values: readonly number[]): Summary {
  if (values.length === 0) throw new Error('nothing was measured');
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] as number;
  const median = sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
  return { median, min: sorted[0] as number, max: sorted.at(-1) as number, runs: values.length };
}

/** Three digits that count, with thousands separated. */
export function readable(value: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: 3 });
}
