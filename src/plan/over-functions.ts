/** The functions that exist with OVER only. */
import type { OverFunction } from '../expr/over.ts';

/** Functions and how many arguments they take. */
export const OVER_FUNCTIONS: ReadonlyMap<
  string,
  { fn: OverFunction; least: number; most: number }
> = new Map(
  (
    [
      ['row_number', 0, 0],
      ['rank', 0, 0],
      ['dense_rank', 0, 0],
      ['percent_rank', 0, 0],
      ['cume_dist', 0, 0],
      ['ntile', 1, 1],
      ['lag', 1, 3],
      ['lead', 1, 3],
      ['first_value', 1, 1],
      ['last_value', 1, 1],
      ['nth_value', 2, 2],
    ] as const
  ).map(([fn, least, most]) => [fn, { fn, least, most }]),
);

export const isOverFunction = (name: string): boolean => OVER_FUNCTIONS.has(name);
