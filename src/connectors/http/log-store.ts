/**
 * The durable log behind one partition of an `http` table: everything its Durable Object does, but for being one.
 *
 * Place in the walk: before stage 5. Rows are NDJSON, many to a blob; row offsets count from 0 without gaps. A request
 * is answered from the same transaction that stored its rows, so that an answer is never given for rows that are not
 * durable, and the answer of a repeated request is the first one's.
 *
 * Tables: `chunks` (rows), `requests` (answers by idempotency key), `rejected` (a ring of refused rows), `marks`.
 * Invariants: a chunk holds whole rows and at most `sqliteValueBytesMax` bytes; `trimmed` ≤ first chunk's end;
 * trimming only deletes whole chunks; an idempotency key outlives its rows' trimming and a day.
 * Not guaranteed: that rows before the trim mark are still readable, or gone.
 * Failure: a failed statement throws, the transaction leaves nothing behind, and the requester may try again.
 */
import { assert } from '../../base/assert.ts';
import { EngineError, type ErrorCode, type ErrorReport } from '../../base/errors.ts';
import { LIMITS } from '../../base/limits.ts';
import { bytesOf, joined, LINE_FEED, lineStart, wholeRows } from './chunks.ts';

export type SqlValue = string | number | null | Uint8Array;
export type SqlRow = Record<string, SqlValue | ArrayBuffer>;

/** SQLite as a Durable Object has it; blobs may come back as either kind of bytes. */
export interface LogStorage {
  exec(query: string, ...bindings: SqlValue[]): SqlRow[];
  /** All or nothing: an exception undoes every statement of `work`. */
  transaction<T>(work: () => T): T;
}

/** A row that was not taken; `index` is its place in the request, from 0. */
export type RejectedRow = {
  index: number;
  code: ErrorCode;
  column: string;
  message: string;
  raw: string | null;
  /** Of a row that must not be kept: the SHA-256 of its bytes. */
  rawSha256?: string | null;
};

export type AppendRequest = {
  idempotencyKey: string | null;
  /** Hash of the body as it was sent: what tells a retry from a key used twice. */
  bodyHash: string;
  /** The accepted rows: each ends with a line feed, none is longer than `ingestRowBytesMax`. */
  ndjson: Uint8Array;
  rows: number;
  rejected: readonly RejectedRow[];
};

export type AppendAnswer = {
  /** Offset of the first accepted row. */
  firstOffset: number;
  accepted: number;
  rejectedCount: number;
  /** Without raw text; at most `errorRowsKept`. */
  rejected: Omit<RejectedRow, 'raw' | 'rawSha256'>[];
  replayed: boolean;
};

export type AppendOutcome =
  | { tag: 'stored'; answer: AppendAnswer }
  | { tag: 'refused'; report: ErrorReport };

export type LogRead =
  | { tag: 'rows'; firstOffset: number; rows: number; bytes: Uint8Array; endOffset: number }
  /** The offset lies before what is kept, or beyond the end: the log is not the one the reader knows. */
  | { tag: 'out-of-range'; firstKept: number; endOffset: number };

export type LogStatus = {
  endOffset: number;
  trimmedOffset: number;
  bytes: number;
  rejectedTotal: number;
};

/** A refused row as the error table shows it. */
export type RejectedRecord = RejectedRow & { sequence: number; atMs: number };

const IDEMPOTENCY_KEPT_MS = 24 * 60 * 60 * 1000;
const RAW_CHARACTERS_MAX = 4096;

export class LogStore {
  readonly #storage: LogStorage;
  readonly #bytesMax: number;
  #endOffset = 0;
  #trimmedOffset = 0;
  #bytes = 0;
  #rejectedTotal = 0;
  /** Of the tables; 1 was without `raw_sha256`. */
  #version = 1;

  /** Opens the log in `storage`, making its tables when they are missing. */
  constructor(storage: LogStorage, bytesMax: number = LIMITS.logBytesMax) {
    this.#storage = storage;
    this.#bytesMax = bytesMax;
    storage.transaction(() => {
      storage.exec(
        'CREATE TABLE IF NOT EXISTS chunks (first_offset INTEGER PRIMARY KEY, rows INTEGER NOT NULL, data BLOB NOT NULL)',
      );
      storage.exec(
        'CREATE TABLE IF NOT EXISTS requests (idempotency_key TEXT PRIMARY KEY, body_hash TEXT NOT NULL, answer TEXT NOT NULL, end_offset INTEGER NOT NULL, created_ms INTEGER NOT NULL)',
      );
      storage.exec('CREATE INDEX IF NOT EXISTS requests_by_time ON requests (created_ms)');
      storage.exec(
        'CREATE TABLE IF NOT EXISTS rejected (sequence INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, row_index INTEGER NOT NULL, code TEXT NOT NULL, column_name TEXT NOT NULL, message TEXT NOT NULL, raw TEXT)',
      );
      storage.exec(
        'CREATE TABLE IF NOT EXISTS marks (name TEXT PRIMARY KEY, value INTEGER NOT NULL)',
      );
      this.#loadMarks();
      if (this.#version < 2) {
        storage.exec('ALTER TABLE rejected ADD COLUMN raw_sha256 TEXT');
        storage.exec("INSERT OR REPLACE INTO marks (name, value) VALUES ('version', 2)");
      }
    });
  }

  get status(): LogStatus {
    return {
      endOffset: this.#endOffset,
      trimmedOffset: this.#trimmedOffset,
      bytes: this.#bytes,
      rejectedTotal: this.#rejectedTotal,
    };
  }

  /**
   * Appends the rows of a group of requests in one transaction; outcome i is that of request i.
   * A refused request (IDEMPOTENCY_MISMATCH, BACKPRESSURE) stores nothing and does not disturb the others.
   */
  append(requests: readonly AppendRequest[], nowMs: number): AppendOutcome[] {
    const before = this.status;
    try {
      return this.#storage.transaction(() => {
        const accepted: Uint8Array[] = [];
        const firstOffset = this.#endOffset;
        const outcomes = requests.map((request) => this.#appendOne(request, accepted, nowMs));
        this.#writeChunks(firstOffset, accepted);
        this.#dropOldRejected();
        this.#saveMarks();
        return outcomes;
      });
    } catch (error) {
      this.#setMarks(before);
      throw error;
    }
  }

  #appendOne(request: AppendRequest, accepted: Uint8Array[], nowMs: number): AppendOutcome {
    const known =
      request.idempotencyKey === null
        ? null
        : this.#knownAnswer(request.idempotencyKey, request.bodyHash);
    if (known !== null) return known;
    if (this.#bytes + request.ndjson.length > this.#bytesMax)
      return { tag: 'refused', report: fullReport(this.#bytes) };
    const firstOffset = this.#endOffset;
    accepted.push(request.ndjson);
    this.#endOffset += request.rows;
    this.#bytes += request.ndjson.length;
    for (const row of request.rejected) this.#reject(row, nowMs);
    const answer: AppendAnswer = {
      firstOffset,
      accepted: request.rows,
      rejectedCount: request.rejected.length,
      rejected: request.rejected
        .slice(0, LIMITS.errorRowsKept)
        .map(({ index, code, column, message }) => ({ index, code, column, message })),
      replayed: false,
    };
    if (request.idempotencyKey !== null) {
      this.#storage.exec(
        'INSERT INTO requests (idempotency_key, body_hash, answer, end_offset, created_ms) VALUES (?, ?, ?, ?, ?)',
        request.idempotencyKey,
        request.bodyHash,
        JSON.stringify(answer),
        this.#endOffset,
        nowMs,
      );
    }
    return { tag: 'stored', answer };
  }

  #knownAnswer(key: string, bodyHash: string): AppendOutcome | null {
    const [row] = this.#storage.exec(
      'SELECT body_hash, answer FROM requests WHERE idempotency_key = ?',
      key,
    );
    if (row === undefined) return null;
    if (row['body_hash'] !== bodyHash) return { tag: 'refused', report: mismatchReport(key) };
    const answer = JSON.parse(String(row['answer'])) as AppendAnswer;
    return { tag: 'stored', answer: { ...answer, replayed: true } };
  }

  /** Rows of the whole group share blobs; a blob ends where the next row would not fit. */
  #writeChunks(firstOffset: number, bodies: readonly Uint8Array[]): void {
    const data = joined(bodies);
    let offset = firstOffset;
    let start = 0;
    let rows = 0;
    let end = 0;
    const write = (): void => {
      if (rows === 0) return;
      this.#storage.exec(
        'INSERT INTO chunks (first_offset, rows, data) VALUES (?, ?, ?)',
        offset,
        rows,
        data.slice(start, end),
      );
      offset += rows;
      start = end;
      rows = 0;
    };
    while (end < data.length) {
      const lineEnd = data.indexOf(LINE_FEED, end) + 1;
      assert(lineEnd > 0, 'every row ends with a line feed');
      assert(lineEnd - end <= LIMITS.sqliteValueBytesMax, 'a row fits a blob');
      if (lineEnd - start > LIMITS.sqliteValueBytesMax) write();
      end = lineEnd;
      rows++;
    }
    write();
    assert(offset === this.#endOffset, 'the requests say how many rows they hold');
  }

  #reject(row: RejectedRow, nowMs: number): void {
    this.#storage.exec(
      'INSERT INTO rejected (sequence, at_ms, row_index, code, column_name, message, raw, raw_sha256) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      this.#rejectedTotal++,
      nowMs,
      row.index,
      row.code,
      row.column,
      row.message,
      row.raw === null ? null : row.raw.slice(0, RAW_CHARACTERS_MAX),
      row.rawSha256 ?? null,
    );
  }

  #dropOldRejected(): void {
    this.#storage.exec(
      'DELETE FROM rejected WHERE sequence < ?',
      this.#rejectedTotal - LIMITS.errorRowsKept,
    );
  }

  /** The newest refused rows first. */
  rejectedRows(limit: number): RejectedRecord[] {
    const rows = this.#storage.exec('SELECT * FROM rejected ORDER BY sequence DESC LIMIT ?', limit);
    return rows.map((row) => ({
      sequence: Number(row['sequence']),
      atMs: Number(row['at_ms']),
      index: Number(row['row_index']),
      code: String(row['code']) as ErrorCode,
      column: String(row['column_name']),
      message: String(row['message']),
      raw: row['raw'] === null ? null : String(row['raw']),
      rawSha256: row['raw_sha256'] === null ? null : String(row['raw_sha256']),
    }));
  }

  /**
   * Rows from `offset` on, whole ones, at most `bytesMax` bytes but at least one row when there is any.
   * `endOffset` of the answer is the end of the log.
   */
  read(offset: number, bytesMax: number): LogRead {
    if (offset === this.#endOffset) {
      return {
        tag: 'rows',
        firstOffset: offset,
        rows: 0,
        bytes: new Uint8Array(0),
        endOffset: this.#endOffset,
      };
    }
    const bodies: Uint8Array[] = [];
    let rows = 0;
    let room = bytesMax;
    let from = this.#chunkStart(offset);
    if (from === null || offset > this.#endOffset) return this.#outOfRange();
    while (from < this.#endOffset && (room > 0 || rows === 0)) {
      const [chunk] = this.#storage.exec(
        'SELECT rows, data FROM chunks WHERE first_offset = ?',
        from,
      );
      assert(chunk !== undefined, 'chunks follow each other without gaps');
      const data = bytesOf(chunk['data']);
      const start = lineStart(data, 0, Math.max(offset - from, 0));
      // A chunk that is read whole need not be looked into.
      const whole = start === 0 && data.length <= room;
      const part = whole
        ? { end: data.length, rows: Number(chunk['rows']) }
        : wholeRows(data, start, room, rows === 0);
      bodies.push(data.subarray(start, part.end));
      rows += part.rows;
      room -= part.end - start;
      if (part.end < data.length) break;
      from += Number(chunk['rows']);
    }
    return {
      tag: 'rows',
      firstOffset: offset,
      rows,
      bytes: joined(bodies),
      endOffset: this.#endOffset,
    };
  }

  /** First offset of the chunk that holds row `offset`; null when it is gone. */
  #chunkStart(offset: number): number | null {
    const [row] = this.#storage.exec(
      'SELECT first_offset, rows FROM chunks WHERE first_offset <= ? ORDER BY first_offset DESC LIMIT 1',
      offset,
    );
    if (row === undefined) return null;
    const first = Number(row['first_offset']);
    return offset < first + Number(row['rows']) ? first : null;
  }

  #outOfRange(): LogRead {
    const [row] = this.#storage.exec('SELECT min(first_offset) AS first FROM chunks');
    const first = row?.['first'] ?? null;
    return {
      tag: 'out-of-range',
      firstKept: first === null ? this.#endOffset : Number(first),
      endOffset: this.#endOffset,
    };
  }

  /** Nobody will read rows before `offset` again. Also forgets answers that are a day old and whose rows are trimmed. */
  trim(offset: number, nowMs: number): void {
    if (offset <= this.#trimmedOffset) return;
    const before = this.status;
    try {
      this.#storage.transaction(() => {
        const [gone] = this.#storage.exec(
          'SELECT coalesce(sum(length(data)), 0) AS bytes FROM chunks WHERE first_offset + rows <= ?',
          offset,
        );
        this.#storage.exec('DELETE FROM chunks WHERE first_offset + rows <= ?', offset);
        this.#bytes -= Number(gone?.['bytes'] ?? 0);
        this.#trimmedOffset = Math.min(offset, this.#endOffset);
        this.#storage.exec(
          'DELETE FROM requests WHERE created_ms < ? AND end_offset <= ?',
          nowMs - IDEMPOTENCY_KEPT_MS,
          this.#trimmedOffset,
        );
        this.#saveMarks();
      });
    } catch (error) {
      this.#setMarks(before);
      throw error;
    }
  }

  #loadMarks(): void {
    const marks = new Map(
      this.#storage
        .exec('SELECT name, value FROM marks')
        .map((row) => [row['name'], Number(row['value'])]),
    );
    this.#endOffset = marks.get('end_offset') ?? 0;
    this.#trimmedOffset = marks.get('trimmed_offset') ?? 0;
    this.#bytes = marks.get('bytes') ?? 0;
    this.#rejectedTotal = marks.get('rejected_total') ?? 0;
    this.#version = marks.get('version') ?? 1;
  }

  #setMarks(status: LogStatus): void {
    this.#endOffset = status.endOffset;
    this.#trimmedOffset = status.trimmedOffset;
    this.#bytes = status.bytes;
    this.#rejectedTotal = status.rejectedTotal;
  }

  #saveMarks(): void {
    this.#storage.exec(
      "INSERT OR REPLACE INTO marks (name, value) VALUES ('end_offset', ?), ('trimmed_offset', ?), ('bytes', ?), ('rejected_total', ?)",
      this.#endOffset,
      this.#trimmedOffset,
      this.#bytes,
      this.#rejectedTotal,
    );
  }
}

const mismatchReport = (key: string): ErrorReport =>
  new EngineError(
    'IDEMPOTENCY_MISMATCH',
    `the idempotency key ${JSON.stringify(key)} was used with another body`,
    {
      hint: 'Send the same body again for a retry, and a new key for new rows.',
    },
  ).report;

const fullReport = (bytes: number): ErrorReport =>
  new EngineError(
    'BACKPRESSURE',
    `the log of this partition is full: it holds ${bytes} bytes that no checkpoint has passed yet`,
    {
      hint: 'Send again later; rows are removed once a checkpoint has passed them.',
    },
  ).report;
