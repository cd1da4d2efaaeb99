/** Logs of `http` tables in the simulated cluster: the production log over a SQLite in memory. */
import { DatabaseSync } from 'node:sqlite';
import { LogStore, type LogStorage, type SqlRow } from '../../../src/connectors/http/log-store.ts';
import type { ReadRequest, ReadResult } from '../../../src/connectors/connector.ts';
import { EngineError } from '../../../src/base/errors.ts';

/** A real SQLite in memory, with transactions as a Durable Object has them. */
export function memoryLogStorage(): LogStorage {
  const database = new DatabaseSync(':memory:');
  return {
    exec: (query, ...bindings) => database.prepare(query).all(...bindings) as SqlRow[],
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

export class SimulatedLogs {
  readonly #logs = new Map<string, LogStore>();

  log(table: string, partition: number): LogStore {
    const key = `${table}/${partition}`;
    let log = this.#logs.get(key);
    if (log === undefined) {
      log = new LogStore(memoryLogStorage());
      this.#logs.set(key, log);
    }
    return log;
  }

  append(
    table: string,
    partition: number,
    rows: readonly string[],
    key: string,
    nowMs: number,
  ): void {
    const text = rows.map((row) => `${row}\n`).join('');
    const [outcome] = this.log(table, partition).append(
      [
        {
          idempotencyKey: key,
          bodyHash: text,
          ndjson: new TextEncoder().encode(text),
          rows: rows.length,
          rejected: [],
        },
      ],
      nowMs,
    );
    if (outcome?.tag !== 'stored') throw new Error(`append: ${JSON.stringify(outcome)}`);
  }

  read(request: ReadRequest & { tag: 'log' }): ReadResult {
    const read = this.log(request.table, request.partition).read(request.offset, request.bytesMax);
    if (read.tag === 'rows') return { ...read, tag: 'log' };
    const { report } = new EngineError(
      'SOURCE_MISSING',
      `row ${request.offset} is outside of the log`,
    );
    return { tag: 'failed', report };
  }
}
