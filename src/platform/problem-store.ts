/**
 * The newest rows that went wrong in one generation, in the leader's SQLite: they outlive a reset of the object and the
 * generation itself. Numbers count from 1 without gaps.
 */
import { LIMITS } from '../base/limits.ts';
import type { LogStorage } from '../connectors/http/log-store.ts';
import type { JobError, ProblemPage } from '../protocol/messages.ts';

export class ProblemStore {
  readonly #storage: LogStorage;
  /** Number of the newest; null: not looked up yet. */
  #last: number | null = null;

  constructor(storage: LogStorage) {
    this.#storage = storage;
  }

  add(problems: readonly JobError[]): void {
    if (problems.length === 0) return;
    this.#storage.transaction(() => {
      let number = this.#open();
      for (const problem of problems)
        this.#storage.exec(
          'INSERT INTO problems (number, record) VALUES (?, ?)',
          ++number,
          JSON.stringify(problem),
        );
      this.#storage.exec('DELETE FROM problems WHERE number <= ?', number - LIMITS.errorRowsKept);
      this.#last = number;
    });
  }

  /** The newest `limit` with numbers above `after`, oldest first. */
  read(after: number, limit: number): ProblemPage {
    const last = this.#open();
    if (after >= last) return { rows: [], last };
    const rows = this.#storage
      .exec(
        'SELECT number, record FROM problems WHERE number > ? ORDER BY number DESC LIMIT ?',
        after,
        limit,
      )
      .map((row) => ({
        ...(JSON.parse(String(row['record'])) as JobError),
        number: Number(row['number']),
      }));
    return { rows: rows.toReversed(), last };
  }

  #open(): number {
    if (this.#last === null) {
      this.#storage.exec(
        'CREATE TABLE IF NOT EXISTS problems (number INTEGER PRIMARY KEY, record TEXT NOT NULL)',
      );
      const [row] = this.#storage.exec('SELECT max(number) AS last FROM problems');
      this.#last = Number(row?.['last'] ?? 0);
    }
    return this.#last;
  }
}
