/** Files of Parquet that grow by whole files. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { INT64, type Schema, TEXT } from '../../../src/batch/types.ts';
import { batchFromRows, type Row } from '../../../src/batch/values.ts';
import { endsInPieces, footerOfFile, joinFiles } from '../../../src/formats/parquet/joined-file.ts';
import { ParquetWriter } from '../../../src/formats/parquet/parquet-writer.ts';
import { Reader } from './duckdb.ts';

const TIMEOUT_MS = 30_000;

let reader: Reader;
beforeAll(async () => {
  reader = await Reader.open();
});
afterAll(() => reader.close());

const SCHEMA: Schema = [
  { name: 'n', type: INT64, nullable: true },
  { name: 'many', type: { tag: 'list', element: TEXT }, nullable: true },
];

function fileOf(rows: readonly Row[], schema = SCHEMA): Uint8Array {
  const writer = new ParquetWriter(schema, { compression: 'snappy', rowGroupBytes: 50 });
  for (const row of rows) writer.append(batchFromRows(schema, [row]));
  return writer.finish();
}

const anyPiece = fc.array(
  fc.record(
    {
      n: fc.option(fc.bigInt({ min: -9n, max: 9n })),
      many: fc.option(fc.array(fc.option(fc.string({ maxLength: 5 })), { maxLength: 3 })),
    },
    { noNullPrototype: true },
  ),
  { minLength: 1, maxLength: 8 },
);

test(
  'what was added in any number of calls is one file with all the rows in their order',
  async () => {
    const property = fc.asyncProperty(
      fc.array(fc.array(anyPiece, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 }),
      async (calls) => {
        let file: Uint8Array | null = null;
        for (const pieces of calls)
          file = joinFiles(
            file,
            pieces.map((rows) => fileOf(rows)),
          );
        const all = calls.flat();
        expect(file).toEqual(
          joinFiles(
            null,
            all.map((rows) => fileOf(rows)),
          ),
        );
        expect(await reader.rows(file as Uint8Array, SCHEMA)).toStrictEqual(all.flat());
      },
    );
    await fc.assert(property, { seed: 4, numRuns: 40 });
  },
  TIMEOUT_MS,
);

test('a file ends in its pieces; one that was changed anywhere in its footer does not', () => {
  const pieces = [fileOf([{ n: 1n, many: ['a'] }]), fileOf([{ n: 2n, many: null }])];
  const [first, second] = pieces as [Uint8Array, Uint8Array];
  const file = joinFiles(null, pieces);
  expect(endsInPieces(file, pieces, true)).toBe(true);
  expect(endsInPieces(file, [second], true)).toBe(false);
  expect(endsInPieces(file, [second], false)).toBe(true);
  expect(endsInPieces(file, [first], false)).toBe(false);
  expect(endsInPieces(file, [second, first], true)).toBe(false);
  const { start } = footerOfFile(file);
  for (let at = start; at < file.length; at++) {
    const changed = file.slice();
    changed[at] = (changed[at] as number) ^ 4;
    let found: boolean;
    try {
      found = endsInPieces(changed, pieces, true);
    } catch (thrown) {
      expect(thrown).toMatchObject({ code: 'BROKEN_PARQUET' });
      found = false;
    }
    expect(found, `byte ${at} of ${file.length}`).toBe(false);
  }
});

test('pieces of another schema, and bytes that are no Parquet, are not joined', () => {
  const file = fileOf([{ n: 1n, many: [] }]);
  const other = fileOf([{ n: 1n }], SCHEMA.slice(0, 1));
  expect(() => joinFiles(file, [other])).toThrow('other columns');
  expect(() => joinFiles(new TextEncoder().encode('{"n":1}\n'), [file])).toThrow('PAR1');
  expect(() => joinFiles(file.subarray(0, file.length - 1), [file])).toThrow('PAR1');
});
