/**
 * A table of changes: what happens to rows by their key, as records of Debezium, and what the table holds in the end.
 *
 * A row's changes lie within the watermark's bound of its event time, so that none is late for a window of it.
 */
import type { Prng } from '../../src/base/prng.ts';
import { type Value, Whole } from './value.ts';

/** What a record does; the row it tells stands beside it, with the key first. */
export type Deed = {
  readonly op: 'put' | 'delete';
  /** The key that the row had before, where the change is to give it another. */
  readonly from: Value;
  /** How much `before` tells: the row, its key, or nothing where `op` allows it. */
  readonly told: 'row' | 'key' | 'nothing';
  /** A record that says nothing of rows follows. */
  readonly idle: boolean;
};

/** @param keys  of rows that may get another key; 0: none, since what is taken back then is of another time */
export function drawDeed(prng: Prng, keys: number): Deed {
  return {
    op: prng.chance(0.3) ? 'delete' : 'put',
    from: keys > 0 && prng.chance(0.1) ? new Whole(BigInt(1 + prng.below(keys)), 32) : null,
    told: prng.pick(['row', 'row', 'key', 'nothing']),
    idle: prng.chance(0.1),
  };
}

type Line = {
  readonly op: 'c' | 'r' | 'u' | 'd';
  readonly before: readonly Value[] | null;
  readonly after: readonly Value[] | null;
};

/** Records in order, and the rows that they leave; the deletion of what is not there is left out. */
export function replay(
  rows: readonly (readonly Value[])[],
  deeds: readonly Deed[],
): { lines: (Line | null)[]; held: (readonly Value[])[] } {
  const held = new Map<string, readonly Value[]>();
  const lines: (Line | null)[] = [];
  rows.forEach((row, at) => {
    const { op, from, told, idle } = deeds[at] as Deed;
    const key = keyOf(row[0]);
    const moved = op === 'put' && from !== null && held.has(keyOf(from)) && keyOf(from) !== key;
    const before = held.get(moved ? keyOf(from) : key);
    if (op === 'delete') {
      if (before === undefined) return;
      held.delete(key);
      lines.push({ op: 'd', before: told === 'row' ? before : before.slice(0, 1), after: null });
    } else {
      if (moved) held.delete(keyOf(from));
      held.set(key, row);
      const image = moved && told === 'nothing' ? before : imageOf(before, told);
      const fresh = at % 2 === 0 ? 'c' : 'r';
      lines.push({ op: before === undefined ? fresh : 'u', before: image ?? null, after: row });
    }
    if (idle) lines.push(null);
  });
  return { lines, held: [...held.values()] };
}

const imageOf = (
  before: readonly Value[] | undefined,
  told: Deed['told'],
): readonly Value[] | null => {
  if (before === undefined || told === 'nothing') return null;
  return told === 'row' ? before : before.slice(0, 1);
};

const keyOf = (value: Value | undefined): string => String((value as Whole).value);

/** @param object  a row, or the first of its values, as JSON */
export const changesText = (
  lines: readonly (Line | null)[],
  object: (row: readonly Value[]) => string,
): string =>
  lines
    .map((line) => {
      if (line === null) return 'null\n';
      const image = (row: readonly Value[] | null): string => (row === null ? 'null' : object(row));
      return `{"before":${image(line.before)},"after":${image(line.after)},"op":"${line.op}"}\n`;
    })
    .join('');
