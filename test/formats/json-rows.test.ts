import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Prng } from '../../src/base/prng.ts';
import { INT32, TEXT } from '../../src/batch/types.ts';
import { rowsOf } from '../../src/batch/values.ts';
import { JSON_FORMAT } from '../../src/formats/format.ts';
import { JsonDecoder } from '../../src/formats/json-decoder.ts';
import { toNdjson } from '../../src/formats/json-rows.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function rowsOfBody(text: string): string[] | string {
  const split = toNdjson(encoder.encode(text));
  if (split.tag === 'malformed') return `${split.line}:${split.column} ${split.message}`;
  const rows: string[] = [];
  for (let index = 0; index < split.ranges.length; index += 2)
    rows.push(decoder.decode(split.bytes.subarray(split.ranges[index], split.ranges[index + 1])));
  expect(split.rows).toBe(rows.length);
  // The buffer as a whole is NDJSON of the same rows.
  const lines = decoder
    .decode(split.bytes)
    .split('\n')
    .map((line) => line.replace(/^[ \t\r]+|[ \t\r]+$/g, ''))
    .filter((line) => line !== '');
  expect(lines).toEqual(rows);
  return rows;
}

test('NDJSON is split at LF and its lines are left as they are', () => {
  expect(rowsOfBody('{"a":1}\r\n\n  {"b":\n"\u2028"}')).toEqual(['{"a":1}', '{"b":', '"\u2028"}']);
  expect(rowsOfBody('')).toEqual([]);
  expect(rowsOfBody('\n \r\n')).toEqual([]);
});

test('an array gives its elements, whatever their layout', () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 8 }),
      fc.constantFrom(0, 1, '\t'),
      (values, indent) => {
        const rows = rowsOfBody(`\n${JSON.stringify(values, null, indent)}\r\n`);
        expect((rows as string[]).map((row) => JSON.parse(row) as unknown)).toEqual(
          JSON.parse(JSON.stringify(values)),
        );
      },
    ),
  );
});

test('one object over several lines is one row', () => {
  const rows = rowsOfBody('{\n  "a": 1,\n  "s": "x"\n}\n') as string[];
  expect(rows.map((row) => JSON.parse(row) as unknown)).toEqual([{ a: 1, s: 'x' }]);
});

test('a malformed array is refused as a whole with the place of the fault', () => {
  expect(rowsOfBody('[{"a":1},\n {"a":}]')).toBe('2:7 no JSON value starts like this');
  expect(rowsOfBody('[{"a":1}')).toBe('1:9 a comma or ] is due');
  expect(rowsOfBody('[{"a":1},]')).toBe('1:10 no JSON value starts like this');
  expect(rowsOfBody('[{"a":1}] x')).toBe('1:11 something follows the array');
  expect(rowsOfBody('[')).toMatch(/^1:2 /);
  expect(rowsOfBody('["a\nb"]')).toBe('1:4 a control character in a string');
});

test('elements of an array reach the decoder one by one, bad ones too', () => {
  const split = toNdjson(encoder.encode('[{"id":1,\n"s":"x"},5,{"id":"y"},{"id":4}]'));
  if (split.tag !== 'rows') throw new Error('an array of rows');
  const columns = [
    { name: 'id', type: INT32, nullable: false, default: null },
    { name: 's', type: TEXT, nullable: true, default: null },
  ];
  const result = new JsonDecoder(columns, JSON_FORMAT).decode(
    split.bytes,
    0,
    split.bytes.length,
    100,
    true,
  );
  expect(rowsOf(result.batch, columns)).toEqual([
    { id: 1, s: 'x' },
    { id: 4, s: null },
  ]);
  expect(result.errors.map(({ rowIndex, code }) => `${rowIndex} ${code}`)).toEqual([
    '1 PARSE_ERROR',
    '2 TYPE_MISMATCH',
  ]);
});

test('random bodies are split or refused, never anything else', () => {
  const alphabet = encoder.encode('[[{}]],:"\\1ea \n\r\t');
  for (let round = 0; round < 3000; round++) {
    const prng = new Prng(`body ${round}`);
    const body = Uint8Array.from(
      { length: prng.below(30) },
      () => alphabet[prng.below(alphabet.length)] as number,
    );
    const text = decoder.decode(body);
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      parsed = null;
    }
    const split = toNdjson(body);
    if (/^\s*\[/.test(text))
      expect(split.tag, `body ${round}`).toBe(Array.isArray(parsed) ? 'rows' : 'malformed');
    else expect(split.tag, `body ${round}`).toBe('rows');
    if (split.tag === 'rows' && Array.isArray(parsed)) expect(split.rows).toBe(parsed.length);
  }
});
