/**
 * Sample rows → the columns a table for them would have.
 *
 * Columns stand in the order in which their keys are first met. Types are the narrowest that hold every value: whole
 * numbers BIGINT (beyond it BIGINT UNSIGNED or DECIMAL), others DOUBLE, or DECIMAL where a DOUBLE would lose digits; texts
 * that are all moments TIMESTAMP, all days DATE; objects STRUCT, arrays of one kind a list; values of several kinds JSON.
 * A column is required when at least two rows were read and every one has a value there.
 */
import { readDate, readTimestamp } from '../batch/timestamp-text.ts';
import type { TimestampFormat } from './format.ts';
import type { SampleValue } from './sample-values.ts';

/** A type as SQL writes it; structs by their fields, so that names can be quoted. */
export type InferredType =
  | { tag: 'simple'; name: string }
  | { tag: 'list'; element: InferredType }
  | { tag: 'struct'; fields: { name: string; type: InferredType }[] };

export type InferredField = {
  name: string;
  type: InferredType;
  required: boolean;
  /** Different values as they were written; at most 3. */
  examples: string[];
  note: string | null;
};

export type InferredSchema = {
  columns: InferredField[];
  /** Numbers are moments in this unit. */
  timestampFormat: TimestampFormat | null;
  eventTime: string | null;
};

const COLUMNS_MAX = 500;
const FIELDS_MAX = 50;
const DEPTH_MAX = 6;
const EXAMPLES_MAX = 3;
const EXAMPLE_LENGTH_MAX = 80;

const encoder = new TextEncoder();

const simple = (name: string): InferredType => ({ tag: 'simple', name });

/** All values met at one place. */
class Evidence {
  values: SampleValue[] = [];
  rows = 0;
}

/** @param asJson  columns whose values a narrower type turned out not to hold */
export function inferSchema(
  rows: readonly ReadonlyMap<string, SampleValue>[],
  asJson: ReadonlySet<string> = new Set(),
): InferredSchema {
  const met = new Map<string, Evidence>();
  for (const row of rows)
    for (const [name, value] of row) {
      // Nobody can name a column without a name.
      if (name === '' || (met.size >= COLUMNS_MAX && !met.has(name))) continue;
      const evidence = met.get(name) ?? new Evidence();
      met.set(name, evidence);
      evidence.rows++;
      evidence.values.push(value);
    }
  const columns = [...met].map(([name, { values, rows: count }]): InferredField => {
    const present = values.filter(({ tag }) => tag !== 'null');
    const { type, note } = asJson.has(name)
      ? { type: simple('JSON'), note: 'no narrower type holds every value' }
      : typeOf(present, 0);
    const required = rows.length >= 2 && count === rows.length && present.length === count;
    return { name, type, required, examples: examplesOf(present), note };
  });
  return withTimes(columns, met, asJson);
}

const KIND_NAMES: Readonly<Record<SampleValue['tag'], string>> = {
  null: 'null',
  boolean: 'booleans',
  number: 'numbers',
  string: 'texts',
  array: 'arrays',
  object: 'objects',
};

type Typed = { type: InferredType; note: string | null };

function typeOf(values: readonly SampleValue[], depth: number): Typed {
  const kinds = [...new Set(values.map(({ tag }) => tag))];
  const [kind] = kinds;
  if (kind === undefined)
    return { type: simple('TEXT'), note: 'always NULL in the sample: the type is a guess' };
  if (kinds.length > 1)
    return {
      type: simple('JSON'),
      note: `of several kinds: ${kinds.map((each) => KIND_NAMES[each]).join(' and ')}`,
    };
  switch (kind) {
    case 'boolean':
      return { type: simple('BOOLEAN'), note: null };
    case 'number':
      return numberType(values.flatMap((value) => (value.tag === 'number' ? [value.text] : [])));
    case 'string':
      return textType(values.flatMap((value) => (value.tag === 'string' ? [value.value] : [])));
    case 'array':
      return listType(
        values.flatMap((value) => (value.tag === 'array' ? value.elements : [])),
        depth,
      );
    default:
      return structType(
        values.flatMap((value) => (value.tag === 'object' ? [value.fields] : [])),
        depth,
      );
  }
}

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const UINT64_MAX = 2n ** 64n - 1n;
/** Every decimal of so many digits is a DOUBLE and back. */
const DOUBLE_DIGITS = 15;
const DECIMAL_DIGITS = 38;

function numberType(texts: readonly string[]): Typed {
  if (texts.some((text) => !Number.isFinite(Number(text))))
    return { type: simple('JSON'), note: 'some numbers are larger than any type' };
  if (texts.every((text) => /^-?\d+$/.test(text))) return wholeType(texts);
  const isPlain = texts.every((text) => /^-?\d+(\.\d+)?$/.test(text));
  const isExact = texts.every((text) => significant(text) <= DOUBLE_DIGITS);
  if (isExact) return { type: simple('DOUBLE'), note: null };
  const whole = Math.max(
    ...texts.map((text) => (text.split('.')[0] ?? '').replace('-', '').length),
  );
  const scale = Math.max(...texts.map((text) => (text.split('.')[1] ?? '').length));
  if (!isPlain || whole + scale > DECIMAL_DIGITS)
    return { type: simple('DOUBLE'), note: 'some numbers have more digits than a DOUBLE keeps' };
  const precision = Math.min(DECIMAL_DIGITS, Math.max(18, whole + scale));
  return {
    type: simple(`DECIMAL(${precision}, ${scale})`),
    note: 'some numbers have more digits than a DOUBLE keeps',
  };
}

const significant = (text: string): number =>
  (text.split(/[eE]/)[0] as string).replace(/[-.]/g, '').replace(/^0+/, '').length;

function wholeType(texts: readonly string[]): Typed {
  // Longer than any of the types: not even read as a number.
  const longest = Math.max(...texts.map((text) => text.length));
  if (longest > DECIMAL_DIGITS + 1)
    return { type: simple('JSON'), note: 'some numbers have more than 38 digits' };
  const numbers = texts.map(BigInt);
  if (numbers.every((each) => each >= INT64.min && each <= INT64.max))
    return { type: simple('BIGINT'), note: null };
  if (numbers.every((each) => each >= 0n && each <= UINT64_MAX))
    return { type: simple('BIGINT UNSIGNED'), note: 'some numbers are beyond BIGINT' };
  return longest > DECIMAL_DIGITS &&
    texts.some((text) => text.replace('-', '').length > DECIMAL_DIGITS)
    ? { type: simple('JSON'), note: 'some numbers have more than 38 digits' }
    : { type: simple('DECIMAL(38, 0)'), note: 'some numbers are beyond BIGINT' };
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

function textType(texts: readonly string[]): Typed {
  const isMoment = (text: string): boolean => {
    if (!/^\d{4}-\d\d-\d\d/.test(text)) return false;
    const bytes = encoder.encode(text);
    return readTimestamp(bytes, 0, bytes.length, { low: 0, high: 0 });
  };
  const isDay = (text: string): boolean =>
    DAY.test(text) && !Number.isNaN(readDate(encoder.encode(text), 0, 10));
  if (texts.every(isDay)) return { type: simple('DATE'), note: null };
  if (!texts.every(isMoment)) return { type: simple('TEXT'), note: null };
  const isFine = texts.some((text) => /\.\d{6}\d*[1-9]/.test(text));
  return {
    type: simple('TIMESTAMP'),
    note: isFine ? 'kept to the microsecond; TIMESTAMP(9) keeps nanoseconds' : null,
  };
}

function listType(elements: readonly SampleValue[], depth: number): Typed {
  const present = elements.filter(({ tag }) => tag !== 'null');
  if (present.length === 0)
    return { type: simple('JSON'), note: 'always empty in the sample: the type is a guess' };
  const { type, note } = typeOf(present, depth + 1);
  const isMixed = type.tag === 'simple' && type.name === 'JSON';
  if (isMixed || depth >= DEPTH_MAX) return { type: simple('JSON'), note: note ?? 'deeply nested' };
  return { type: { tag: 'list', element: type }, note };
}

function structType(objects: readonly ReadonlyMap<string, SampleValue>[], depth: number): Typed {
  const fields = new Map<string, SampleValue[]>();
  for (const object of objects)
    for (const [name, value] of object) {
      const values = fields.get(name) ?? [];
      fields.set(name, values);
      if (value.tag !== 'null') values.push(value);
    }
  const lower = new Set([...fields.keys()].map((name) => name.toLowerCase()));
  if (fields.size === 0 || fields.has('') || fields.size > FIELDS_MAX || depth >= DEPTH_MAX)
    return { type: simple('JSON'), note: fields.size > FIELDS_MAX ? 'objects of many keys' : null };
  if (lower.size < fields.size)
    return { type: simple('JSON'), note: 'keys that differ in their case only' };
  const typed = [...fields].map(([name, values]) => ({ name, ...typeOf(values, depth + 1) }));
  const notes = typed.flatMap(({ name, note }) => (note === null ? [] : [`${name}: ${note}`]));
  return {
    type: { tag: 'struct', fields: typed.map(({ name, type }) => ({ name, type })) },
    note: notes.length === 0 ? null : notes.join('; '),
  };
}

function examplesOf(values: readonly SampleValue[]): string[] {
  const examples = new Set<string>();
  for (const value of values) {
    if (examples.size >= EXAMPLES_MAX) break;
    examples.add(shown(value));
  }
  return [...examples];
}

function shown(value: SampleValue): string {
  const text = value.tag === 'string' ? value.value : written(value);
  const points = Array.from(text.slice(0, EXAMPLE_LENGTH_MAX + 1));
  return points.length > EXAMPLE_LENGTH_MAX
    ? `${points.slice(0, EXAMPLE_LENGTH_MAX).join('')}…`
    : text;
}

function written(value: SampleValue): string {
  switch (value.tag) {
    case 'null':
      return 'null';
    case 'boolean':
    case 'number':
      return value.text;
    case 'string':
      return JSON.stringify(value.value);
    case 'array':
      return `[${value.elements.map(written).join(',')}]`;
    case 'object':
      return `{${[...value.fields].map(([name, each]) => `${JSON.stringify(name)}:${written(each)}`).join(',')}}`;
  }
}

// Times.

/** Names of the moment a row is about, likeliest first. */
const TIME_NAMES: readonly RegExp[] = [
  /^(event_?time|event_?timestamp|event_?ts)$/i,
  /^(ts|timestamp|time_?stamp)$/i,
  /^(occurred|happened|observed|recorded|measured)_?at$/i,
  /^(time|at|datetime|date_?time)$/i,
  /^created_?at$/i,
  /(_at|_time|_ts|_timestamp|At|Time|Timestamp)$/,
];

const rankOf = (name: string): number => {
  const rank = TIME_NAMES.findIndex((pattern) => pattern.test(name));
  return rank < 0 ? TIME_NAMES.length : rank;
};

/** Between the years 2001 and 2286 in each unit. */
const UNITS: readonly (readonly [format: TimestampFormat, digits: number])[] = [
  ['unix_seconds', 10],
  ['unix_millis', 13],
  ['unix_micros', 16],
  ['unix_nanos', 19],
];

function unitOf(evidence: Evidence | undefined): TimestampFormat | null {
  const present = (evidence?.values ?? []).filter(({ tag }) => tag !== 'null');
  const units = present.map((value) =>
    value.tag === 'number' && /^[1-9]\d+$/.test(value.text)
      ? UNITS.find(([, digits]) => digits === value.text.length)?.[0]
      : undefined,
  );
  const [unit] = units;
  return unit !== undefined && units.every((each) => each === unit) ? unit : null;
}

const isTimestamp = (type: InferredType): boolean =>
  type.tag === 'simple'
    ? type.name === 'TIMESTAMP'
    : type.tag === 'list'
      ? isTimestamp(type.element)
      : type.fields.some((field) => isTimestamp(field.type));

/** Numbers that count from 1970 become moments when no moment is written as text; then the event time is chosen. */
function withTimes(
  columns: InferredField[],
  met: ReadonlyMap<string, Evidence>,
  asJson: ReadonlySet<string>,
): InferredSchema {
  const counted = columns
    .filter(({ name }) => rankOf(name) < TIME_NAMES.length && !asJson.has(name))
    .flatMap((column) => {
      const unit = unitOf(met.get(column.name));
      return unit === null ? [] : [{ column, unit }];
    });
  const hasText = columns.some(({ type }) => isTimestamp(type));
  const unit = counted[0]?.unit ?? null;
  const agrees = !hasText && unit !== null && counted.every((each) => each.unit === unit);
  for (const { column, unit: own } of counted) {
    if (agrees) column.type = simple('TIMESTAMP');
    column.note = `${own.replace('unix_', '')} since 1970${agrees ? '' : '; to_timestamp_… makes a TIMESTAMP of it'}`;
  }
  return {
    columns,
    timestampFormat: agrees ? unit : null,
    eventTime: eventTimeOf(columns),
  };
}

function eventTimeOf(columns: readonly InferredField[]): string | null {
  const times = columns.filter(({ type }) => type.tag === 'simple' && type.name === 'TIMESTAMP');
  const order = ({ name, required }: InferredField): number =>
    rankOf(name) + (required ? 0 : TIME_NAMES.length + 1);
  const best = times.reduce<InferredField | null>(
    (found, each) => (found === null || order(each) < order(found) ? each : found),
    null,
  );
  return best?.name ?? null;
}
