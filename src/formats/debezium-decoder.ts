/**
 * Rows of changes in Debezium's shape to columns.
 *
 *     {"before": {…} or null, "after": {…} or null, "op": "c" | "r" | "u" | "d", …}
 *
 * or the same under `payload`, beside the schema that Kafka Connect puts there. A creation, a snapshot row and an update
 * become a row that is the newest of its key; a deletion, and an update that changes the key, take the row of the old
 * key away: a row with `retract` set, of which only the key counts. What the table holds of a key is not known here; the operator
 * that keeps the newest row of each key makes changes of it that agree with each other.
 *
 * Two kinds of records say nothing of rows and are passed over: the tombstone that follows a deletion (`null`, `{}`, or a
 * `payload` that is null), and a message written into the log of the database (`op` "m"). They are accepted and give no row.
 *
 * Invariants: as of `json-decoder.ts`; a record is accepted whole or not at all, and gives no row, one or two, in order.
 * Failure: a record without the part its `op` needs is rejected like a row that cannot be read. So is a truncation (`op` "t"):
 * it names no key, and rows are kept by key, in whatever subtask a key belongs to.
 */
import { assert, must } from '../base/assert.ts';
import {
  isValid,
  type Column,
  type Int64Column,
  type StructColumn,
  type TextColumn,
} from '../batch/column.ts';
import { concatColumns } from '../batch/concat.ts';
import { compareValues } from '../batch/row-equal.ts';
import { takeColumn } from '../batch/take.ts';
import { INT64, TEXT, TIMESTAMP, type StructType } from '../batch/types.ts';
import type { DecodeColumn, EnvelopeTime, FormatSpec } from './format.ts';
import {
  type DecodeError,
  JsonDecoder,
  type DecodeOptions,
  type DecodeResult,
} from './json-decoder.ts';

/** The columns of the envelope in the order they are decoded. */
const BEFORE = 0;
const AFTER = 1;
const OP = 2;
/** From here on the times that are read. */
const TIMES = 3;

/** Milliseconds beyond this, in the year 2255, are no time of a change. */
const MILLIS_MAX = 9e12;

const DELETE = 100;
const CREATE = 99;
const READ = 114;
const UPDATE = 117;
const MESSAGE = 109;
const TRUNCATE = 116;

/** The parts of one record: in which of the two envelopes, and the row in it. */
type Images = {
  before: StructColumn;
  after: StructColumn;
  op: TextColumn;
  times: readonly Int64Column[];
};

export class DebeziumDecoder {
  /** The columns of the table, those of the envelope among them. */
  readonly #columns: readonly DecodeColumn[];
  /** What is read of the envelope. */
  readonly #times: readonly EnvelopeTime[];
  readonly #keys: readonly number[];
  readonly #decoder: JsonDecoder;

  constructor(columns: readonly DecodeColumn[], spec: FormatSpec, options: DecodeOptions = {}) {
    const { changes } = spec;
    assert(changes !== undefined, 'changes have keys');
    this.#columns = columns;
    this.#times = [...new Set(columns.flatMap(({ envelope }) => envelope ?? []))];
    const inRows = columns.filter(({ envelope }) => envelope === undefined);
    this.#keys = changes.keys.map((key) => {
      const index = inRows.findIndex(({ name }) => name === key);
      assert(index >= 0, 'the key is decoded');
      return index;
    });
    const image = (nullable: boolean): StructType => ({
      tag: 'struct',
      fields: inRows.map((column) => ({
        name: column.name,
        type: column.type,
        nullable: nullable || column.nullable,
      })),
    });
    const field = (name: string, type: DecodeColumn['type']): DecodeColumn => ({
      name,
      type,
      nullable: true,
      default: null,
    });
    const envelope = [
      field('before', image(true)),
      field('after', image(false)),
      field('op', TEXT),
      ...this.#times.map((name) =>
        name === 'ts_ms'
          ? field(name, INT64)
          : field('source', { tag: 'struct', fields: [field('ts_ms', INT64)] }),
      ),
    ];
    const payload: StructType = { tag: 'struct', fields: envelope };
    this.#decoder = new JsonDecoder(
      [...envelope, field('payload', payload)],
      { ...spec, unstructured: false },
      options,
    );
  }

  decode(
    bytes: Uint8Array,
    from: number,
    to: number,
    rowsMax: number,
    final = false,
  ): DecodeResult {
    const result = this.#decoder.decode(bytes, from, to, rowsMax, final);
    const records = result.batch.rows;
    const envelopes = envelopesOf(result.batch.columns, this.#times);
    const places = acceptedPlaces(result);
    const rows = new ChangeRows(records);
    const errors = result.errors.filter(({ start, end }) => !isNull(bytes, start, end));
    const lines: number[] = [];
    for (let record = 0; record < records; record++) {
      const start = result.lineRanges[record * 2] as number;
      const end = result.lineRanges[record * 2 + 1] as number;
      const problem = this.#read(envelopes, record, records, rows);
      if (problem === null || (problem === NO_OP && isTombstone(bytes, start, end)))
        lines.push(start, end);
      else errors.push({ rowIndex: must(places[record], 'a place'), start, end, ...problem });
    }
    const nulls = result.errors.filter(({ start, end }) => isNull(bytes, start, end));
    return {
      ...result,
      batch: {
        rows: rows.count,
        columns: this.#columnsOf(envelopes, rows),
        eventTime: null,
        retract: rows.retractions(),
      },
      errors: errors.sort((left, right) => left.rowIndex - right.rowIndex),
      lineRanges: rangesInOrder(lines, nulls),
      warnings: result.warnings.filter(({ column }) => !isEnvelope(column)),
      unknownFields: result.unknownFields.filter(({ column }) => !isEnvelope(column)),
    };
  }

  /** Adds the rows of one record, or says what is wrong with it. */
  #read(
    envelopes: readonly [Images, Images],
    record: number,
    records: number,
    rows: ChangeRows,
  ): Omit<DecodeError, 'rowIndex' | 'start' | 'end'> | null {
    const wrapped = !isValid(envelopes[0].op, record) && isValid(envelopes[1].op, record);
    const { before, after, op, times } = envelopes[wrapped ? 1 : 0];
    const code = opOf(op, record);
    if (code === MESSAGE) return null;
    if (code === TRUNCATE) return TRUNCATION;
    if (code === 0 && !isValid(op, record)) return NO_OP;
    const untimed = this.#times.find((_, at) => !isTime(must(times[at], 'a time'), record));
    if (untimed !== undefined) return missing(untimed, 'the table reads the time of the change');
    const beforeAt = (wrapped ? 2 * records : 0) + record;
    const afterAt = beforeAt + records;
    if (code === DELETE) {
      if (!isValid(before, record)) return missing('before', 'a deletion tells the row before it');
      if (!this.#hasKey(before, record))
        return missing('before', 'the row before a deletion has its whole key');
      rows.add(beforeAt, true);
      return null;
    }
    if (code !== CREATE && code !== READ && code !== UPDATE) return UNKNOWN_OP;
    if (!isValid(after, record)) return missing('after', 'a change tells the row after it');
    if (code === UPDATE && isValid(before, record) && this.#hasKey(before, record)) {
      const moved = this.#keys.some(
        (key) =>
          compareValues(
            before.children[key] as Column,
            record,
            after.children[key] as Column,
            record,
          ) !== 0,
      );
      if (moved) rows.add(beforeAt, true);
    }
    rows.add(afterAt, false);
    return null;
  }

  #hasKey(image: StructColumn, record: number): boolean {
    return this.#keys.every((key) => isValid(image.children[key] as Column, record));
  }

  #columnsOf(envelopes: readonly [Images, Images], rows: ChangeRows): Column[] {
    const indices = rows.indices();
    const [plain, wrapped] = envelopes;
    const images = [plain.before, plain.after, wrapped.before, wrapped.after];
    let next = 0;
    return this.#columns.map(({ envelope }) => {
      if (envelope !== undefined)
        return timesOf(this.#times.indexOf(envelope), envelopes, indices, rows.count);
      const at = next++;
      const all = concatColumns(images.map((image) => must(image.children[at], 'a column')));
      return takeColumn(all, indices, rows.count);
    });
  }
}

/** A time that was given, in milliseconds; 0 where it was not. */
const millisOf = ({ words }: Int64Column, record: number): number =>
  (words[record * 2 + 1] as number) * 4294967296 + ((words[record * 2] as number) >>> 0);

const isTime = (column: Int64Column, record: number): boolean =>
  isValid(column, record) && Math.abs(millisOf(column, record)) <= MILLIS_MAX;

/** The times of rows picked from the images: which of those that are read. */
function timesOf(
  which: number,
  envelopes: readonly [Images, Images],
  indices: Int32Array,
  count: number,
): Column {
  const records = envelopes[0].op.length;
  const words = new Int32Array(count * 2);
  for (let row = 0; row < count; row++) {
    const index = indices[row] as number;
    const { times } = envelopes[index >= 2 * records ? 1 : 0];
    const micros = millisOf(must(times[which], 'a time'), index % records) * 1000;
    words[row * 2] = micros | 0;
    words[row * 2 + 1] = Math.floor(micros / 4294967296);
  }
  return { tag: 'timestamp', type: TIMESTAMP, length: count, validity: null, words };
}

/** Rows picked from the images, which lie behind each other: before, after, before and after under `payload`. */
class ChangeRows {
  count = 0;
  readonly #indices: Int32Array;
  readonly #retract: Uint8Array;
  #retracts = false;

  constructor(records: number) {
    this.#indices = new Int32Array(records * 2);
    this.#retract = new Uint8Array(records * 2);
  }

  add(index: number, retract: boolean): void {
    this.#indices[this.count] = index;
    this.#retract[this.count] = retract ? 1 : 0;
    this.#retracts ||= retract;
    this.count++;
  }

  indices(): Int32Array {
    return this.#indices.subarray(0, this.count);
  }

  retractions(): Uint8Array | null {
    return this.#retracts ? this.#retract.slice(0, this.count) : null;
  }
}

function envelopesOf(columns: readonly Column[], times: readonly EnvelopeTime[]): [Images, Images] {
  const payload = columns.at(-1) as StructColumn;
  return [imagesOf(columns, times), imagesOf(payload.children, times)];
}

const imagesOf = (columns: readonly Column[], times: readonly EnvelopeTime[]): Images => ({
  before: columns[BEFORE] as StructColumn,
  after: columns[AFTER] as StructColumn,
  op: columns[OP] as TextColumn,
  times: times.map((name, at) => {
    const column = columns[TIMES + at];
    return (name === 'ts_ms' ? column : (column as StructColumn).children[0]) as Int64Column;
  }),
});

/** The one letter of `op`, as a byte; 0 when it is something else. */
function opOf(op: TextColumn, record: number): number {
  if (!isValid(op, record)) return 0;
  const start = op.offsets[record] as number;
  return op.offsets[record + 1] === start + 1 ? (op.bytes[start] as number) : 0;
}

/** For each accepted record its index among those seen: rejected ones lie between. */
function acceptedPlaces({ batch, errors }: DecodeResult): number[] {
  const rejected = new Set(errors.map(({ rowIndex }) => rowIndex));
  const places: number[] = [];
  for (let place = 0; places.length < batch.rows; place++)
    if (!rejected.has(place)) places.push(place);
  return places;
}

type Problem = Omit<DecodeError, 'rowIndex' | 'start' | 'end'>;

const missing = (column: string, why: string): Problem => ({
  code: 'MISSING_REQUIRED',
  column,
  expected: null,
  message: `"${column}" is missing: ${why}`,
});

const UNKNOWN_OP: Problem = {
  code: 'TYPE_MISMATCH',
  column: 'op',
  expected: null,
  message: '"op" is none of "c", "r", "u", "d", "t" and "m"',
};

/** The same of a record that has none; it may be a tombstone. */
const NO_OP: Problem = {
  code: 'MISSING_REQUIRED',
  column: 'op',
  expected: null,
  message: '"op" is missing: a change tells what was done',
};

const TRUNCATION: Problem = {
  code: 'UNSUPPORTED',
  column: 'op',
  expected: null,
  message:
    'the table was truncated ("op" is "t"), which takes no single row away: rows that came before it stay; restart the pipeline without state to read the table anew',
};

const NULL = [110, 117, 108, 108];
const isSpace = (byte: number | undefined): boolean => byte === 32 || byte === 9 || byte === 13;

/** Whether the line is the word null. */
function isNull(bytes: Uint8Array, start: number, end: number): boolean {
  let from = start;
  let to = end;
  while (from < to && isSpace(bytes[from])) from++;
  while (to > from && isSpace(bytes[to - 1])) to--;
  return to - from === NULL.length && NULL.every((byte, at) => bytes[from + at] === byte);
}

/** The longest tombstone that is looked at: a schema stands beside its payload. */
const TOMBSTONE_BYTES_MAX = 65_536;

/** Whether a record without `op` is an empty object, or nothing but a payload that is null, with its schema or without. */
function isTombstone(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > TOMBSTONE_BYTES_MAX) return false;
  const record = objectOf(new TextDecoder().decode(bytes.subarray(start, end)));
  if (record === null) return false;
  const fields = Object.entries(record);
  return (
    fields.every(([name, value]) => name === 'schema' || (name === 'payload' && value === null)) &&
    (fields.length === 0 || 'payload' in record)
  );
}

/** Null: this reader of JSON is stricter than the decoder that has accepted the text. */
function objectOf(text: string): object | null {
  try {
    return JSON.parse(text) as object;
  } catch {
    return null;
  }
}

/** The ranges of records with those of lines that say null among them. */
function rangesInOrder(ranges: number[], nulls: readonly DecodeError[]): Int32Array {
  if (nulls.length === 0) return Int32Array.from(ranges);
  const pairs = nulls.map(({ start, end }): [number, number] => [start, end]);
  for (let at = 0; at < ranges.length; at += 2)
    pairs.push([ranges[at] as number, ranges[at + 1] as number]);
  return Int32Array.from(pairs.toSorted(([left], [right]) => left - right).flat());
}

/** What Debezium and Kafka Connect put beside the rows. */
const ENVELOPE_FIELDS = new Set([
  'schema',
  'source',
  'transaction',
  'message',
  'ts_ms',
  'ts_us',
  'ts_ns',
]);
const isEnvelope = (column: string): boolean => ENVELOPE_FIELDS.has(column);
