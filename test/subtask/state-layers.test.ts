import { expect, test } from 'vitest';
import { INT64, type Schema } from '../../src/batch/types.ts';
import { batchFromRows } from '../../src/batch/values.ts';
import type { StateTable } from '../../src/state/state-table.ts';
import { StateLayers } from '../../src/subtask/state-layers.ts';
import type { Subtasks } from '../../src/subtask/subtasks.ts';

const SCHEMA: Schema = [{ name: 'k', type: INT64, nullable: false }];
const POLICY = { wholeBytesMin: 100, layersMax: 3, partBytesMax: 1_000_000 };

function table(rows: number, changes: boolean): StateTable {
  const { columns } = batchFromRows(
    SCHEMA,
    Array.from({ length: rows }, (_, at) => ({ k: BigInt(at) })),
  );
  return {
    table: 't',
    schema: SCHEMA,
    rows,
    columns,
    hashes: new Uint32Array(rows),
    changes: changes ? { keyColumns: 1, removed: null, droppedBelow: null } : null,
  };
}

/** Cuts, and stores what was cut at so many bytes. */
class Host {
  readonly layers = new StateLayers({ parallelismOf: () => 1 } as unknown as Subtasks, 0, POLICY);
  #files = 0;

  cut(epoch: number, size: number, attempt = 1): string {
    const kind = this.layers.kindFor('op', true);
    this.layers.cut('op', { epoch, attempt }, kind, [table(3, kind === 'changes')]);
    for (let part = this.layers.next(); part !== null; part = this.layers.next())
      this.layers.stored(part, { key: `f${++this.#files}`, size, hash: '' });
    return kind;
  }

  settle(epoch: number, attempt = 1): void {
    this.layers.settle({ epoch, attempt });
  }

  get names(): string[] {
    return this.layers.files().map((file) => `${file.key}:${file.layer}`);
  }
}

test('changes are laid over a settled snapshot, and the report names all layers', () => {
  const host = new Host();
  expect(host.cut(1, 500)).toBe('whole');
  host.settle(1);
  expect(host.cut(2, 50)).toBe('changes');
  expect(host.names).toEqual(['f1:0', 'f2:1']);
});

test('after a checkpoint that was given up the next one is whole', () => {
  const host = new Host();
  host.cut(1, 500);
  host.settle(1);
  host.cut(2, 50);
  expect(host.cut(2, 500, 2)).toBe('whole');
  expect(host.names).toEqual(['f3:0']);
  host.settle(2, 1);
  expect(host.layers.kindFor('op', true)).toBe('whole');
  host.settle(2, 2);
  expect(host.layers.kindFor('op', true)).toBe('changes');
});

test('a chain begins anew when it is long, when changes outweigh the whole, and when the state is small', () => {
  const long = new Host();
  for (const epoch of [1, 2, 3, 4]) {
    expect([epoch, long.cut(epoch, epoch === 1 ? 500 : 10)]).toEqual([
      epoch,
      epoch === 1 || epoch === 4 ? 'whole' : 'changes',
    ]);
    long.settle(epoch);
  }
  expect(long.names).toEqual(['f4:0']);
  const heavy = new Host();
  heavy.cut(1, 500);
  heavy.settle(1);
  heavy.cut(2, 501);
  heavy.settle(2);
  expect(heavy.cut(3, 500)).toBe('whole');
  const small = new Host();
  small.cut(1, 99);
  small.settle(1);
  expect(small.cut(2, 99)).toBe('whole');
});

test('a table that is whole and empty takes its files along', () => {
  const host = new Host();
  host.cut(1, 500);
  host.layers.cut('op', { epoch: 2, attempt: 1 }, 'whole', [table(0, false)]);
  expect(host.names).toEqual([]);
});

test('an operator that keeps no changes is asked for its whole state every time', () => {
  const host = new Host();
  host.cut(1, 500);
  host.settle(1);
  expect(host.layers.kindFor('op', false)).toBe('whole');
});
