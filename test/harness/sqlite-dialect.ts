/** A kysely dialect over the SQLite of Node, with the migrations applied: as D1, without transactions. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely';
import type { Database } from '../../src/catalog/schema.ts';

const MIGRATIONS = resolve(import.meta.dirname, '../../migrations');

/** An empty catalogue in memory. `beforeQuery` may throw: the statement is then not executed. */
export function memoryCatalog(beforeQuery: (text: string) => void = () => {}): Kysely<Database> {
  const database = new DatabaseSync(':memory:');
  for (const name of readdirSync(MIGRATIONS).toSorted())
    database.exec(readFileSync(join(MIGRATIONS, name), 'utf8'));
  const connection: DatabaseConnection = {
    executeQuery: async <R>(query: CompiledQuery): Promise<QueryResult<R>> => {
      await Promise.resolve();
      beforeQuery(query.sql);
      const rows = database
        .prepare(query.sql)
        .all(...(query.parameters as (string | number | null)[]));
      return { rows: rows.map((row) => ({ ...row })) as R[] };
    },
    streamQuery: () => {
      throw new Error('no streams');
    },
  };
  const refuse = async (): Promise<never> => {
    throw new Error('D1 has no transactions');
  };
  const driver: Driver = {
    init: async () => {},
    acquireConnection: async () => connection,
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    releaseConnection: async () => {},
    destroy: async () => database.close(),
  };
  const dialect: Dialect = {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
  return new Kysely<Database>({ dialect });
}
