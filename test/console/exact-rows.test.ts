import { describe, expect, test } from 'vitest';
import { cellText, exactRows, jsonText } from '../../src/console/lib/exact-rows.ts';
import { ago, bytes, count, duration, short, utc } from '../../src/console/lib/format.ts';

describe('rows on the page', () => {
  test('numbers keep every digit that the server wrote', () => {
    const [row] = exactRows(
      '[{"id":9007199254740993,"d":0.10000000000000000001,"e":1e3,"n":null,"t":"9007199254740993"}]',
    );
    expect(Object.values(row ?? {}).map((value) => cellText(value))).toEqual([
      '9007199254740993',
      '0.10000000000000000001',
      '1e3',
      'NULL',
      '9007199254740993',
    ]);
  });

  test('also within lists and structures', () => {
    const [row] = exactRows('[{"s":{"a":[12345678901234567890,{"b":-1.50}],"c":"x\\"y"}}]');
    expect(jsonText(row?.['s'] ?? null)).toBe(
      '{"a": [12345678901234567890, {"b": -1.50}], "c": "x\\"y"}',
    );
  });
});

describe('numbers and times for people', () => {
  test('counts show every digit, also past 2^53', () => {
    expect([count(1234567), count('9007199254740993'), count(12345678901234567890n)]).toEqual([
      '1,234,567',
      '9,007,199,254,740,993',
      '12,345,678,901,234,567,890',
    ]);
  });

  test('rates, sizes and durations are short', () => {
    expect([short(0), short(0.25), short(999), short(12_345), short(1_620_000)]).toEqual([
      '0',
      '0.25',
      '999',
      '12.3K',
      '1.62M',
    ]);
    expect([bytes(0), bytes(1023), bytes(1536), bytes(5 * 1024 ** 3)]).toEqual([
      '0 B',
      '1023 B',
      '1.5 KiB',
      '5.0 GiB',
    ]);
    expect(
      [500, 420_000, 3_200_000, 59_900_000, 250_000_000, 7_500_000_000, 273_600_000_000].map(
        duration,
      ),
    ).toEqual(['500 µs', '420 ms', '3.2 s', '59 s', '4 min 10 s', '2 h 5 min', '3 d 4 h']);
  });

  test('times are in UTC', () => {
    const at = Date.UTC(2026, 10, 30, 14, 5, 9, 123) * 1000;
    expect([utc(at), utc(at, 'time'), utc(at, 'millis')]).toEqual([
      '2026-11-30 14:05:09',
      '14:05:09',
      '14:05:09.123',
    ]);
    expect([ago(at, at + 3_000_000), ago(at + 3_000_000, at), ago(at, at)]).toEqual([
      '3 s ago',
      'in 3 s',
      'now',
    ]);
  });
});
