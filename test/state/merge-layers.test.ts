import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyRangeOf } from '../../src/base/hash.ts';
import { hashRows } from '../../src/batch/row-hash.ts';
import { INT64, TEXT, TIMESTAMP, type Schema } from '../../src/batch/types.ts';
import { batchFromRows, rowsOf, type Row } from '../../src/batch/values.ts';
import { type LayerPart, mergeLayers } from '../../src/state/merge-layers.ts';
import type { StateTable } from '../../src/state/state-table.ts';
import { decodeStateTable, encodeStateTable } from '../../src/state/table-file.ts';
import { partsOf } from '../../src/state/table-parts.ts';

/** A window's start and a key name a row; rows are routed by the key alone, as behind a GROUP BY. */
const SCHEMA: Schema = [
  { name: 'start', type: TIMESTAMP, nullable: false },
  { name: 'k', type: TEXT, nullable: true },
  { name: 'n', type: INT64, nullable: true },
];

type Change =
  | { tag: 'put'; start: number; k: string | null; n: bigint }
  | { tag: 'remove'; start: number; k: string | null }
  | { tag: 'drop'; below: number };

const start = fc.integer({ min: -3, max: 6 });
const k = fc.option(fc.constantFrom('', 'a', 'b', 'ä', 'long enough'));
const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      tag: fc.constant('put' as const),
      start,
      k,
      n: fc.bigInt({ min: -5n, max: 2n ** 60n }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ tag: fc.constant('remove' as const), start, k }) },
  { weight: 1, arbitrary: fc.record({ tag: fc.constant('drop' as const), below: start }) },
);

/** The table as a map, with what has changed since the last snapshot. */
class Model {
  readonly rows = new Map<string, Row>();
  #dirty = new Map<string, { start: number; k: string | null }>();
  #droppedBelow: number | null = null;

  apply(each: Change): void {
    if (each.tag === 'drop') {
      this.#droppedBelow = Math.max(this.#droppedBelow ?? -Infinity, each.below);
      for (const [name, row] of this.rows)
        if ((row.start as bigint) < BigInt(each.below)) this.rows.delete(name);
      return;
    }
    const name = JSON.stringify([each.start, each.k]);
    this.#dirty.set(name, { start: each.start, k: each.k });
    if (each.tag === 'remove') this.rows.delete(name);
    else this.rows.set(name, { start: BigInt(each.start), k: each.k, n: each.n });
  }

  snapshot(kind: 'whole' | 'changes'): StateTable {
    const dirty = this.#dirty;
    const droppedBelow = this.#droppedBelow;
    this.#dirty = new Map();
    this.#droppedBelow = null;
    if (kind === 'whole') return tableOf([...this.rows.values()], SCHEMA);
    const put = [...dirty.keys()].flatMap((name): Row[] => {
      const row = this.rows.get(name);
      return row === undefined ? [] : [row];
    });
    const gone = [...dirty].flatMap(([name, key]) =>
      this.rows.has(name) ? [] : [{ start: BigInt(key.start), k: key.k }],
    );
    return {
      ...tableOf(put, SCHEMA),
      changes: {
        keyColumns: 2,
        droppedBelow,
        removed: gone.length === 0 ? null : tableOf(gone, SCHEMA.slice(0, 2)),
      },
    };
  }
}

function tableOf(rows: readonly Row[], schema: Schema): StateTable {
  const { columns } = batchFromRows(schema, rows);
  const hashes = new Uint32Array(rows.length);
  hashRows(columns.slice(1, 2), rows.length, hashes);
  return { table: 't', schema, rows: rows.length, columns, hashes, changes: null };
}

const sorted = (rows: Iterable<Row>): string[] =>
  [...rows].map((row) => `${String(row.start)} ${JSON.stringify(row.k)} ${String(row.n)}`).sort();

const rowsOfTable = ({ rows, columns, schema }: StateTable): Row[] =>
  rowsOf({ rows, columns, eventTime: null, retract: null }, schema);

test('layers merge into the table of the last snapshot, whatever was put, removed and dropped', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(change, { maxLength: 25 }), { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 3 }),
      fc.constantFrom(40, 1_000_000),
      (epochs, subtasks, partBytes) => {
        const model = new Model();
        const files = epochs.map((changes, layer) => {
          changes.forEach((each) => model.apply(each));
          const table = model.snapshot(layer === 0 ? 'whole' : 'changes');
          return partsOf(table, partBytes).map(encodeStateTable);
        });
        const merged = Array.from({ length: subtasks }, (_, index) => {
          const parts: LayerPart[] = files.flatMap((ofLayer, layer) =>
            ofLayer.map((bytes) => ({
              layer,
              table: decodeStateTable(bytes, keyRangeOf(index, subtasks)),
            })),
          );
          return mergeLayers(parts.toReversed());
        });
        expect(sorted(merged.flatMap(rowsOfTable))).toEqual(sorted(model.rows.values()));
        for (const table of merged) expect(table.hashes.length).toBe(table.rows);
      },
    ),
    { seed: 7, numRuns: 300 },
  );
});

test('a layer that is missing is named, never skipped', () => {
  const model = new Model();
  model.apply({ tag: 'put', start: 1, k: 'a', n: 1n });
  const whole = model.snapshot('whole');
  const changes = model.snapshot('changes');
  expect(() =>
    mergeLayers([
      { layer: 0, table: whole },
      { layer: 2, table: changes },
    ]),
  ).toThrow('layer 1 of the state t is missing');
});
