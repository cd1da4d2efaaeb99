/** The SQLite of a Durable Object as the stores of the core take it. */
import type { LogStorage, SqlRow, SqlValue } from '../connectors/http/log-store.ts';

export const sqlStorage = (storage: DurableObjectStorage): LogStorage => ({
  exec: (query: string, ...bindings: SqlValue[]) =>
    storage.sql.exec(query, ...bindings).toArray() as SqlRow[],
  transaction: (work) => storage.transactionSync(work),
});
