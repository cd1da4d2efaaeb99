/** Tables that are hashed when they are encoded are the tables that were hashed at once, also in parts. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyRangeOf } from '../../src/base/hash.ts';
import { INT64, TEXT } from '../../src/batch/types.ts';
import { columnFromValues } from '../../src/batch/values.ts';
import { hashesOfKeys } from '../../src/state/group-index.ts';
import { hashedLater } from '../../src/state/hashed-later.ts';
import { decodeStateTable, encodeStateTable } from '../../src/state/table-file.ts';
import { partsOf } from '../../src/state/table-parts.ts';

test('parts of a table that is hashed later have the files of one that was hashed at once', () => {
  const row = fc.tuple(fc.integer(), fc.option(fc.string({ maxLength: 12 })), fc.integer());
  fc.assert(
    fc.property(
      fc.array(row, { maxLength: 60 }),
      fc.nat(3),
      fc.integer({ min: 40, max: 4000 }),
      (rows, keys, bytesMax) => {
        const columns = [
          columnFromValues(
            INT64,
            rows.map(([one]) => BigInt(one)),
          ),
          columnFromValues(
            TEXT,
            rows.map(([, text]) => text),
          ),
          columnFromValues(
            INT64,
            rows.map(([, , other]) => BigInt(other)),
          ),
        ];
        const schema = columns.map(({ type }, at) => ({ name: `c${at}`, type, nullable: true }));
        const table = { table: 't', schema, rows: rows.length, columns, changes: null };
        const hashes = hashesOfKeys(columns.slice(0, keys), rows.length);
        const wanted = partsOf({ ...table, hashes }, bytesMax).map(encodeStateTable);
        const parts = partsOf(hashedLater(table, keys), bytesMax);
        expect(parts.map(encodeStateTable)).toEqual(wanted);
        const back = parts.flatMap((part) => [
          ...decodeStateTable(encodeStateTable(part), keyRangeOf(0, 1)).hashes,
        ]);
        expect(back).toEqual([...hashes]);
      },
    ),
    { seed: 20_261_130, numRuns: 100 },
  );
});
