import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decimalText, readDecimal } from '../../src/batch/decimal-text.ts';
import { readInt64, writeInt32, writeInt64 } from '../../src/batch/int-text.ts';
import {
  daysOfDate,
  dateOfDays,
  readTimestamp,
  timestampText,
} from '../../src/batch/timestamp-text.ts';
import { bigintOfPair, bigintOfQuad } from '../../src/batch/words.ts';
import { INT64_MAX, INT64_MIN, anyInt64, scaledText } from './arbitrary.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const low = (value: bigint): number => Number(BigInt.asIntN(32, value));
const high = (value: bigint): number => low(value >> 32n);

function int64Text(value: bigint): string {
  const bytes = new Uint8Array(24);
  return decoder.decode(bytes.subarray(0, writeInt64(bytes, 0, low(value), high(value))));
}

test('an int64 is printed digit for digit', () => {
  fc.assert(
    fc.property(anyInt64, (value) => {
      expect(int64Text(value)).toBe(value.toString());
    }),
    { numRuns: 3000 },
  );
  for (let power = 1n; power < 10n ** 18n; power *= 10n) {
    for (const value of [power - 1n, power, power + 1n, -power, 1n - power])
      expect(int64Text(value)).toBe(value.toString());
  }
});

test('an int32 is printed digit for digit', () => {
  fc.assert(
    fc.property(fc.oneof(fc.integer(), fc.constantFrom(-2147483648, 2147483647, 0)), (value) => {
      const bytes = new Uint8Array(12);
      expect(decoder.decode(bytes.subarray(0, writeInt32(bytes, 0, value)))).toBe(String(value));
    }),
  );
});

test('digits are read as int64 exactly and refused beyond its range', () => {
  const anyDigits = fc.oneof(
    anyInt64.map(String),
    fc.bigInt({ min: INT64_MIN * 3n, max: INT64_MAX * 3n }).map(String),
    fc.constantFrom(
      `${INT64_MAX + 1n}`,
      `${INT64_MIN - 1n}`,
      '000000000000000000000000000000012',
      '-0',
      '+7',
      '',
      '-',
      '1x',
      '1.0',
    ),
  );
  fc.assert(
    fc.property(anyDigits, (text) => {
      const bytes = encoder.encode(`xx${text}99`);
      const pair = { low: 0, high: 0 };
      const result = readInt64(bytes, 2, bytes.length - 2, pair);
      if (!/^[-+]?[0-9]+$/.test(text)) {
        expect(result).toBe(false);
        return;
      }
      const value = BigInt(text.replace('+', ''));
      if (value < INT64_MIN || value > INT64_MAX) expect(result).toBe('range');
      else
        expect([result, bigintOfPair(Int32Array.of(pair.low, pair.high), 0)]).toEqual([
          true,
          value,
        ]);
    }),
    { numRuns: 3000 },
  );
});

/** The rule in words: scale the exact value, round half away from zero, then count digits. */
function decimalOracle(text: string, precision: number, scale: number): bigint | 'range' {
  const match = /^([-+]?)(\d*)\.?(\d*)(?:[eE]([-+]?\d+))?$/.exec(text) as RegExpExecArray;
  const digits = BigInt(`${match[2]}${match[3]}` || '0');
  const exponent = Number(match[4] ?? 0) - (match[3] as string).length + scale;
  let unscaled = digits;
  if (digits !== 0n && exponent > 200) return 'range';
  if (exponent >= 0) unscaled *= digits === 0n ? 1n : 10n ** BigInt(exponent);
  else if (exponent < -300) unscaled = 0n;
  else unscaled = (digits * 2n + 10n ** BigInt(-exponent)) / (2n * 10n ** BigInt(-exponent));
  if (unscaled >= 10n ** BigInt(precision)) return 'range';
  return match[1] === '-' ? -unscaled : unscaled;
}

test('decimals are read exactly, rounded half away from zero and refused beyond their precision', () => {
  const digits = fc.stringMatching(/^[0-9]{1,45}$/);
  const nines = fc.integer({ min: 1, max: 40 }).map((count) => '9'.repeat(count));
  const anyText = fc
    .tuple(
      fc.constantFrom('', '-', '+'),
      fc.oneof(digits, nines, fc.constant('0')),
      fc.option(fc.oneof(digits, nines, fc.constantFrom('5', '49', '005')), { nil: '' }),
      fc.option(fc.integer({ min: -60, max: 60 }), { nil: null, freq: 3 }),
    )
    .map(
      ([sign, whole, fraction, exponent]) =>
        `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}${exponent === null ? '' : `e${exponent}`}`,
    );
  const anyShape = fc
    .integer({ min: 1, max: 38 })
    .chain((precision) => fc.tuple(fc.constant(precision), fc.integer({ min: 0, max: precision })));
  fc.assert(
    fc.property(anyText, anyShape, (text, [precision, scale]) => {
      const bytes = encoder.encode(text);
      const words = new Int32Array(4);
      const result = readDecimal(bytes, 0, bytes.length, precision, scale, words);
      const expected = decimalOracle(text, precision, scale);
      if (expected === 'range') {
        expect(result).toBe('range');
        return;
      }
      expect(result).toBe(true);
      expect(bigintOfQuad(words, 0)).toBe(expected);
      expect(decimalText(words, 0, scale)).toBe(scaledText(expected, scale));
    }),
    { numRuns: 5000 },
  );
});

test('what is no number is no decimal', () => {
  for (const text of ['', '-', '.', 'e5', '1e', '1e+', '1.2.3', 'NaN', ' 1', '1 ', '0x1', '--1']) {
    const bytes = encoder.encode(text);
    expect(readDecimal(bytes, 0, bytes.length, 10, 2, new Int32Array(4)), text).toBe(false);
  }
});

test('dates and day numbers agree with the calendar of the language for a million years', () => {
  fc.assert(
    fc.property(fc.integer({ min: -99_999_999, max: 99_999_999 }), (days) => {
      const date = new Date(days * 86_400_000);
      expect(dateOfDays(days)).toEqual({
        year: date.getUTCFullYear(),
        month: date.getUTCMonth() + 1,
        day: date.getUTCDate(),
      });
      expect(daysOfDate(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate())).toBe(
        days,
      );
    }),
    { numRuns: 3000 },
  );
});

function read(text: string): bigint | null {
  const bytes = encoder.encode(text);
  const pair = { low: 0, high: 0 };
  return readTimestamp(bytes, 0, bytes.length, pair)
    ? bigintOfPair(Int32Array.of(pair.low, pair.high), 0)
    : null;
}

test('timestamps print without a zone and with a fraction only when there is one', () => {
  expect(timestampText(1_700_000_000_123_456n)).toBe('2023-11-14T22:13:20.123456');
  expect(timestampText(1_700_000_000_000_000n)).toBe('2023-11-14T22:13:20');
  expect(timestampText(1_700_000_000_100_000n)).toBe('2023-11-14T22:13:20.1');
  expect(timestampText(-1n)).toBe('1969-12-31T23:59:59.999999');
  expect(timestampText(253_402_300_800_000_000n)).toBe('+010000-01-01T00:00:00');
  expect(timestampText(-62_167_219_200_000_001n)).toBe('-000001-12-31T23:59:59.999999');
});

test('a printed timestamp reads back as itself over the whole range', () => {
  fc.assert(
    fc.property(
      fc.oneof(anyInt64, fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n })),
      (micros) => {
        const text = timestampText(micros);
        // Six year digits reach as far as int64 micros do.
        expect(read(text)).toBe(micros);
        if (micros > -8_640_000_000_000_000_000n && micros < 8_640_000_000_000_000_000n) {
          const millis = micros >= 0n ? micros / 1000n : -((-micros + 999n) / 1000n);
          expect(
            text.slice(0, -7).startsWith(new Date(Number(millis)).toISOString().slice(0, 10)),
          ).toBe(true);
        }
      },
    ),
    { numRuns: 3000 },
  );
});

test('offsets are shifted to UTC and fractions are cut to micros', () => {
  const noon = BigInt(Date.UTC(2024, 0, 1, 12)) * 1000n;
  expect(read('2024-01-01T12:00:00Z')).toBe(noon);
  expect(read('2024-01-01t12:00:00z')).toBe(noon);
  expect(read('2024-01-01 12:00:00')).toBe(noon);
  expect(read('2024-01-01T12:00')).toBe(noon);
  expect(read('2024-01-01')).toBe(noon - 43_200_000_000n);
  expect(read('2024-01-01T14:30:00+02:30')).toBe(noon);
  expect(read('2024-01-01T04:00:00-0800')).toBe(noon);
  expect(read('2024-01-01T13:00:00+01')).toBe(noon);
  expect(read('2024-01-01T12:00:00.123456789Z')).toBe(noon + 123_456n);
  expect(read('2024-01-01T12:00:00.5')).toBe(noon + 500_000n);
  expect(read('2024-02-29T12:00:00')).not.toBeNull();
});

test('dates that do not exist and malformed timestamps are refused', () => {
  for (const text of [
    '',
    '2024',
    '2023-02-29T00:00:00',
    '1900-02-29',
    '2024-13-01',
    '2024-00-01',
    '2024-04-31',
    '2024-01-01T',
    '2024-01-01T24:00:00',
    '2024-01-01T23:60:00',
    '2024-01-01T23:59:60',
    '2024-01-01T12:00:00.',
    '2024-01-01T12:00:00.1234567890',
    '2024-01-01T12:00:00+24:00',
    '2024-01-01T12:00:00+1',
    '2024-01-01T12:00:00 Z',
    '2024-01-01T12:00:00ZZ',
    '2024/01/01',
    'not a time',
    '+999999-01-01',
  ]) {
    expect(read(text), text).toBeNull();
  }
});
