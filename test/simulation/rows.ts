/** Rows of simulated inputs, and what a reader that takes one after the other makes of them. */
import { Prng } from '../../src/base/prng.ts';

export type Row = { ts: string; k: string; v: number };

export const BASE_MS = Date.UTC(2026, 0, 1);
const WINDOW_MS = 10_000;
const LAG_MS = 3_000;

export const timeText = (ms: number): string => new Date(ms).toISOString().replace('Z', '');
export const timeOf = (row: Row): number => Date.parse(`${row.ts}Z`);

/** Rows two seconds out of order; of those that are `late` with that probability, each is a minute behind. */
export function rowsOf(seed: string, count: number, late = 0.02): Row[] {
  const prng = new Prng(seed);
  return Array.from({ length: count }, (_, index) => ({
    ts: timeText(BASE_MS + index * 50 - (prng.chance(late) ? 60_000 : prng.below(2_000))),
    k: `key-${prng.below(9)}`,
    v: prng.below(1_000) - 300,
  }));
}

export const ndjson = (rows: readonly unknown[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('');

export type Window = { k: string; s: string; n: number; total: number };

/** Tumbling windows of ten seconds behind a watermark of three: late is what comes after its window has closed. */
export function windowsOf(
  rows: readonly Row[],
  keyOf: (row: Row) => string = (row) => row.k,
): { windows: Window[]; late: number } {
  const groups = new Map<string, Window>();
  let watermarkMs = -Infinity;
  let late = 0;
  for (const row of rows) {
    const atMs = timeOf(row);
    const startMs = Math.floor(atMs / WINDOW_MS) * WINDOW_MS;
    const isLate = startMs + WINDOW_MS <= watermarkMs;
    watermarkMs = Math.max(watermarkMs, atMs - LAG_MS);
    if (row.v % 7 === 0) continue;
    if (isLate) {
      late++;
      continue;
    }
    const s = timeText(startMs).slice(0, 19);
    const k = keyOf(row);
    const group = groups.get(`${k}/${s}`) ?? { k, s, n: 0, total: 0 };
    group.n++;
    group.total += row.v;
    groups.set(`${k}/${s}`, group);
  }
  return { windows: [...groups.values()], late };
}

export const linesOf = (rows: readonly unknown[]): string[] =>
  rows.map((row) => JSON.stringify(row)).sort();

/** Before and after of a line of changes; either may be absent. */
type Change = { before: unknown; after: unknown };

/** The rows that a list of changes leaves, in the order given. Taking back what is not there is an error. */
export function foldChanges(lines: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of lines) {
    const { before, after } = JSON.parse(line) as Change;
    if (before !== null) {
      const key = JSON.stringify(before);
      const count = counts.get(key) ?? 0;
      if (count === 0) throw new Error(`${line} takes back a row that is not there`);
      counts.set(key, count - 1);
    }
    if (after !== null)
      counts.set(JSON.stringify(after), (counts.get(JSON.stringify(after)) ?? 0) + 1);
  }
  return [...counts].flatMap(([row, count]) => Array<string>(count).fill(row)).sort();
}
