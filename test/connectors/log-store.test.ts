import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LIMITS } from '../../src/base/limits.ts';
import {
  LogStore,
  type AppendRequest,
  type LogStorage,
  type SqlRow,
} from '../../src/connectors/http/log-store.ts';

type Failing = LogStorage & { failAfter: number };

/** A real SQLite in memory; `failAfter` statements later one throws. */
function memoryStorage(): Failing {
  const database = new DatabaseSync(':memory:');
  return {
    failAfter: Infinity,
    exec(query, ...bindings) {
      if (this.failAfter-- <= 0) throw new Error('disk full');
      return database.prepare(query).all(...bindings) as SqlRow[];
    },
    transaction(work) {
      database.exec('BEGIN');
      try {
        const result = work();
        database.exec('COMMIT');
        return result;
      } catch (error) {
        database.exec('ROLLBACK');
        throw error;
      }
    },
  };
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function request(rows: readonly string[], rest: Partial<AppendRequest> = {}): AppendRequest {
  const text = rows.map((row) => `${row}\n`).join('');
  return {
    idempotencyKey: null,
    bodyHash: text,
    ndjson: encode(text),
    rows: rows.length,
    rejected: [],
    ...rest,
  };
}

function readAll(log: LogStore, from: number, bytesMax: number): string[] {
  const rows: string[] = [];
  for (let offset = from; ;) {
    const read = log.read(offset, bytesMax);
    if (read.tag !== 'rows') throw new Error(JSON.stringify(read));
    if (read.rows === 0) return rows;
    expect(read.firstOffset).toBe(offset);
    const lines = decode(read.bytes).split('\n').slice(0, -1);
    expect(lines).toHaveLength(read.rows);
    expect(read.bytes.length <= bytesMax || read.rows === 1).toBe(true);
    rows.push(...lines);
    offset += read.rows;
  }
}

test('every offset and read size gives the rows that were appended, in order, also after reopening', () => {
  const groups = fc.array(
    fc.array(fc.array(fc.string({ maxLength: 12 }), { maxLength: 5 }), { maxLength: 4 }),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(groups, fc.nat(), fc.integer({ min: 1, max: 60 }), (appends, start, bytesMax) => {
      const storage = memoryStorage();
      const log = new LogStore(storage);
      const expected: string[] = [];
      for (const group of appends) {
        const bodies = group.map((rows) => rows.map((row) => JSON.stringify(row)));
        const outcomes = log.append(
          bodies.map((rows) => request(rows)),
          0,
        );
        bodies.forEach((rows, at) => {
          expect(outcomes[at]).toMatchObject({
            tag: 'stored',
            answer: { firstOffset: expected.length, accepted: rows.length },
          });
          expected.push(...rows);
        });
      }
      const from = expected.length === 0 ? 0 : start % (expected.length + 1);
      expect(readAll(new LogStore(storage), from, bytesMax)).toEqual(expected.slice(from));
    }),
    { numRuns: 60 },
  );
});

test('a repeated request gets the first answer and stores nothing; another body under its key is refused', () => {
  const storage = memoryStorage();
  const log = new LogStore(storage);
  const body = request(['1', '2'], {
    idempotencyKey: 'b1',
    rejected: [{ index: 2, code: 'PARSE_ERROR', column: '', message: 'no', raw: '{' }],
  });
  const [first] = log.append([body], 0);
  const [again, other, fresh] = new LogStore(storage).append(
    [body, request(['9'], { idempotencyKey: 'b1' }), request(['1', '2'], { idempotencyKey: 'b2' })],
    1,
  );
  expect(first).toMatchObject({
    tag: 'stored',
    answer: { accepted: 2, rejectedCount: 1, replayed: false },
  });
  expect(again).toMatchObject({
    tag: 'stored',
    answer: { firstOffset: 0, accepted: 2, rejectedCount: 1, replayed: true },
  });
  expect(other).toMatchObject({ tag: 'refused', report: { code: 'IDEMPOTENCY_MISMATCH' } });
  expect(fresh).toMatchObject({ tag: 'stored', answer: { firstOffset: 2, replayed: false } });
  expect(readAll(new LogStore(storage), 0, 100)).toEqual(['1', '2', '1', '2']);
  expect(new LogStore(storage).rejectedRows(10)).toHaveLength(1);
});

test('the same key twice in one group is stored once', () => {
  const log = new LogStore(memoryStorage());
  const outcomes = log.append(
    [request(['1'], { idempotencyKey: 'k' }), request(['1'], { idempotencyKey: 'k' })],
    0,
  );
  expect(outcomes.map((outcome) => outcome.tag === 'stored' && outcome.answer.replayed)).toEqual([
    false,
    true,
  ]);
  expect(readAll(log, 0, 10)).toEqual(['1']);
});

test('trimming drops whole chunks only and never an offset that is still asked for', () => {
  const storage = memoryStorage();
  const log = new LogStore(storage);
  for (const rows of [['a', 'b'], ['c', 'd', 'e'], ['f']]) log.append([request(rows)], 0);
  log.trim(4, 0);
  expect(readAll(log, 4, 100)).toEqual(['e', 'f']);
  expect(log.read(0, 100)).toEqual({ tag: 'out-of-range', firstKept: 2, endOffset: 6 });
  log.trim(6, 0);
  const reopened = new LogStore(storage);
  expect(reopened.status).toMatchObject({ endOffset: 6, trimmedOffset: 6, bytes: 0 });
  expect(reopened.read(6, 10)).toMatchObject({ tag: 'rows', rows: 0 });
  expect(reopened.append([request(['g'])], 0)).toMatchObject([{ answer: { firstOffset: 6 } }]);
  expect(readAll(reopened, 6, 10)).toEqual(['g']);
  expect(reopened.read(8, 10)).toMatchObject({ tag: 'out-of-range' });
});

test('an idempotency key is remembered for a day and until its rows are trimmed', () => {
  const hour = 3_600_000;
  const log = new LogStore(memoryStorage());
  const body = request(['1'], { idempotencyKey: 'k' });
  const replayed = (atMs: number): unknown => {
    const [outcome] = log.append([body], atMs);
    return outcome?.tag === 'stored' && outcome.answer.replayed;
  };
  replayed(0);
  log.trim(1, 23 * hour);
  expect(replayed(23 * hour)).toBe(true);
  log.append([request(['2'])], 24 * hour);
  log.trim(2, 25 * hour);
  expect(replayed(25 * hour)).toBe(false);
});

test('a full log refuses rows until a trim makes room', () => {
  const log = new LogStore(memoryStorage(), 10);
  expect(log.append([request(['12345678']), request(['1'])], 0)).toMatchObject([
    { tag: 'stored' },
    { tag: 'refused', report: { code: 'BACKPRESSURE', retry: 'backoff' } },
  ]);
  log.trim(1, 0);
  expect(log.append([request(['1'])], 0)).toMatchObject([
    { tag: 'stored', answer: { firstOffset: 1 } },
  ]);
});

test('large appends are cut into blobs that SQLite takes', () => {
  const storage = memoryStorage();
  const log = new LogStore(storage);
  const rows = Array.from({ length: 9 }, (_, at) => String(at).repeat(700_000));
  log.append([request(rows.slice(0, 4)), request(rows.slice(4))], 0);
  const sizes = storage
    .exec('SELECT length(data) AS size FROM chunks')
    .map((row) => Number(row['size']));
  expect(sizes.every((size) => size <= LIMITS.sqliteValueBytesMax)).toBe(true);
  expect(sizes).toHaveLength(5);
  expect(readAll(log, 3, 1_500_000)).toEqual(rows.slice(3));
});

test('an append that fails half way leaves no trace', () => {
  const storage = memoryStorage();
  const log = new LogStore(storage);
  log.append([request(['1'])], 0);
  for (let statements = 0; statements < 5; statements++) {
    storage.failAfter = statements;
    expect(() =>
      log.append(
        [
          request(['2', '3'], {
            idempotencyKey: 'k',
            rejected: [{ index: 0, code: 'PARSE_ERROR', column: '', message: '', raw: null }],
          }),
        ],
        0,
      ),
    ).toThrow('disk full');
    storage.failAfter = Infinity;
    expect(log.status).toEqual({ endOffset: 1, trimmedOffset: 0, bytes: 2, rejectedTotal: 0 });
  }
  expect(log.append([request(['2'], { idempotencyKey: 'k' })], 0)).toMatchObject([
    { answer: { firstOffset: 1, replayed: false } },
  ]);
  expect(readAll(log, 0, 100)).toEqual(['1', '2']);
});

test('the ring of refused rows keeps the newest', () => {
  const log = new LogStore(memoryStorage());
  const rejected = Array.from({ length: 1500 }, (_, index) => ({
    index,
    code: 'PARSE_ERROR' as const,
    column: 'c',
    message: 'm',
    raw: 'r'.repeat(9000),
  }));
  const [outcome] = log.append([request([], { rejected })], 5);
  expect(outcome).toMatchObject({ tag: 'stored', answer: { accepted: 0, rejectedCount: 1500 } });
  const kept = log.rejectedRows(2000);
  expect(kept).toHaveLength(LIMITS.errorRowsKept);
  expect(kept[0]).toMatchObject({ index: 1499, atMs: 5, raw: 'r'.repeat(4096) });
  expect(log.status.rejectedTotal).toBe(1500);
});
