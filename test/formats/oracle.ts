/**
 * An independent reading of one NDJSON line by the language's own JSON parser: what a decoder must
 * make of it. Numbers keep their source text, so that nothing is rounded on the way.
 */
import type { DecodeColumn } from '../../src/formats/format.ts';
import type { Row, Value } from '../../src/batch/values.ts';
import type { SqlType } from '../../src/batch/types.ts';
import { scaledText } from '../batch/arbitrary.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type Verdict = { tag: 'row'; row: Row } | { tag: 'bad'; parse: boolean } | { tag: 'blank' };

const BAD = Symbol('bad');

/** Splits bytes on LF. */
export function linesOf(bytes: Uint8Array): { start: number; end: number }[] {
  const lines: { start: number; end: number }[] = [];
  let start = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === 10) {
      lines.push({ start, end: at });
      start = at + 1;
    }
  }
  if (start < bytes.length) lines.push({ start, end: bytes.length });
  return lines;
}

/** The exact value of a number text times 10^scale, rounded half away from zero. */
function scaled(text: string, scale: number): { unscaled: bigint; exact: boolean } | null {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text);
  if (match === null) return null;
  const digits = BigInt(`${match[2]}${match[3] ?? ''}`);
  const shift = Number(match[4] ?? 0) - (match[3] ?? '').length + scale;
  const sign = match[1] === '-' ? -1n : 1n;
  if (digits === 0n) return { unscaled: 0n, exact: true };
  if (shift >= 0)
    return {
      unscaled: shift > 400 ? sign * 10n ** 400n : sign * digits * 10n ** BigInt(shift),
      exact: true,
    };
  const divisor = 10n ** BigInt(Math.min(-shift, 3000));
  return {
    unscaled: sign * ((2n * digits + divisor) / (2n * divisor)),
    exact: digits % divisor === 0n,
  };
}

function whole(text: string, bits: bigint): bigint | typeof BAD {
  const value = scaled(text, 0);
  if (value === null || !value.exact) return BAD;
  const bound = 2n ** (bits - 1n);
  return value.unscaled >= -bound && value.unscaled < bound ? value.unscaled : BAD;
}

function timeOf(text: string): bigint | typeof BAD {
  const match =
    /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?([Zz]|[-+]\d\d(?::?\d\d)?)?)?$/.exec(
      text,
    );
  if (match === null) return BAD;
  const [year, month, day, hour, minute, second] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0)) as [number, number, number, number, number, number];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (
    date.getUTCFullYear() !== year ||
    date.getUTCMonth() !== month - 1 ||
    date.getUTCDate() !== day
  )
    return BAD;
  if (hour > 23 || minute > 59 || second > 59) return BAD;
  let offset = 0;
  const zone = match[8] ?? 'Z';
  if (zone.toUpperCase() !== 'Z') {
    const hours = Number(zone.slice(1, 3));
    const minutes = Number(zone.slice(3).replace(':', '') || 0);
    if (hours > 23 || minutes > 59) return BAD;
    offset = (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
  }
  const micros = BigInt((match[7] ?? '').padEnd(6, '0').slice(0, 6) || '0');
  return (
    BigInt(date.getTime() + ((hour * 60 + minute - offset) * 60 + second) * 1000) * 1000n + micros
  );
}

const hasLoneSurrogate = (text: string): boolean => !text.isWellFormed();

function convert(value: unknown, type: SqlType): Value | typeof BAD {
  const number =
    value instanceof NumberText
      ? value.text
      : typeof value === 'string' && /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(value)
        ? value
        : null;
  switch (type.tag) {
    case 'boolean':
      return typeof value === 'boolean' ? value : BAD;
    case 'int32': {
      const result = number === null ? BAD : whole(number, 32n);
      return result === BAD ? BAD : Number(result);
    }
    case 'int64':
      return number === null ? BAD : whole(number, 64n);
    case 'float64': {
      const result = number === null ? Number.NaN : Number(number);
      return Number.isFinite(result) ? result : BAD;
    }
    case 'decimal': {
      const result = number === null ? null : scaled(number, type.scale);
      const bound = 10n ** BigInt(type.precision);
      if (result === null || result.unscaled >= bound || result.unscaled <= -bound) return BAD;
      return scaledText(result.unscaled, type.scale);
    }
    case 'text':
      return typeof value === 'string' ? value : BAD;
    case 'timestamp':
      return typeof value === 'string' ? timeOf(value) : BAD;
    case 'struct':
      if (
        typeof value !== 'object' ||
        value === null ||
        Array.isArray(value) ||
        value instanceof NumberText
      )
        return BAD;
      return rowOf(
        value as Record<string, unknown>,
        type.fields.map((field) => ({ ...field, default: null })),
      );
    default:
      return BAD;
  }
}

function rowOf(
  object: Record<string, unknown>,
  columns: readonly DecodeColumn[],
): Row | typeof BAD {
  const row: Record<string, Value> = {};
  const found = new Map<string, unknown>();
  for (const [key, value] of Object.entries(object)) {
    const column =
      columns.find(({ name }) => name === key) ??
      columns.find(({ name }) => name.toLowerCase() === key.toLowerCase());
    if (column !== undefined) found.set(column.name, value);
  }
  for (const column of columns) {
    const value = found.get(column.name);
    if (value === undefined) {
      if (!column.nullable) return BAD;
      row[column.name] = null;
      continue;
    }
    if (value === null) {
      if (!column.nullable) return BAD;
      row[column.name] = null;
      continue;
    }
    const converted = convert(value, column.type);
    if (converted === BAD) return BAD;
    row[column.name] = converted;
  }
  return row;
}

/** Any string of the text, key or value, that is no sequence of characters makes the row unreadable. */
function wellFormed(value: unknown): boolean {
  if (typeof value === 'string') return !hasLoneSurrogate(value);
  if (Array.isArray(value)) return value.every(wellFormed);
  if (value instanceof NumberText || typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, inner]) => !hasLoneSurrogate(key) && wellFormed(inner));
}

/** A dropped duplicate may hide a lone surrogate from the parser's result, so escapes are looked at as text too. */
const loneInText = (text: string): boolean => {
  let rest = text.replace(/\\\\/g, '');
  rest = rest.replace(/\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}/g, '');
  return /\\u[dD][89a-fA-F][0-9a-fA-F]{2}/.test(rest);
};

export function judge(line: Uint8Array, columns: readonly DecodeColumn[]): Verdict {
  if (line.every((byte) => byte === 32 || byte === 9 || byte === 13)) return { tag: 'blank' };
  let parsed: unknown;
  try {
    const text = utf8.decode(line);
    parsed = JSON.parse(text, (_key: string, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' ? new NumberText(context?.source ?? String(value)) : value,
    );
    if (loneInText(text)) return { tag: 'bad', parse: true };
  } catch {
    return { tag: 'bad', parse: true };
  }
  if (!wellFormed(parsed)) return { tag: 'bad', parse: true };
  if (
    typeof parsed !== 'object' ||
    parsed === null ||
    Array.isArray(parsed) ||
    parsed instanceof NumberText
  ) {
    return { tag: 'bad', parse: true };
  }
  const row = rowOf(parsed as Record<string, unknown>, columns);
  return row === BAD ? { tag: 'bad', parse: false } : { tag: 'row', row };
}
