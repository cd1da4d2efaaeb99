/** Seeded rows for the measurements: equal seeds give equal rows. */
import { Prng } from '../../src/base/prng.ts';

export const EVENTS_START_MS = Date.UTC(2026, 0, 1);

export type EventOptions = {
  seed: string;
  keys: number;
  /** Event time between rows. */
  stepMs: number;
};

/** NDJSON of rows `[from, from + count)` of the sequence that `options` names: about 70 bytes a row. */
export function eventLines(options: EventOptions, from: number, count: number): string {
  const prng = new Prng(`${options.seed} ${from}`);
  const lines: string[] = [];
  for (let index = from; index < from + count; index++) {
    const ts = new Date(EVENTS_START_MS + Math.floor(index * options.stepMs)).toISOString();
    const value = prng.below(1_000_000) / 100;
    lines.push(
      `{"ts":"${ts}","k":"key-${prng.below(options.keys)}","v":${prng.below(10_000)},"x":${value}}`,
    );
  }
  return lines.join('\n');
}

/** A row at an event time of its own; it closes the windows before it. */
export const markerLine = (atMs: number): string =>
  JSON.stringify({ ts: new Date(atMs).toISOString(), k: 'marker', v: 0, x: 0 });
