/**
 * Brings a local D1 database to the schema in the migrations folder. The record of what was applied is the
 * table wrangler keeps, so `wrangler d1 migrations apply --local` and this agree about what is left to do.
 * A migration and its record are one batch, which D1 runs as one transaction: both happen or neither.
 */
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '../base/errors.ts';

const CREATE_RECORD = `CREATE TABLE IF NOT EXISTS "d1_migrations"(
		id         INTEGER PRIMARY KEY AUTOINCREMENT,
		name       TEXT UNIQUE,
		applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
);`;

/** Applies what is new, in order of file name; answers the names applied now. */
export async function applyMigrations(database: D1Database, directory: string): Promise<string[]> {
  const names = existsSync(directory)
    ? (await readdir(directory)).filter((name) => name.endsWith('.sql')).toSorted()
    : [];
  if (names.length === 0) return [];
  await database.prepare(CREATE_RECORD).run();
  const { results } = await database
    .prepare('SELECT name FROM d1_migrations')
    .all<{ name: string }>();
  const applied = new Set(results.map((row) => row.name));
  const pending = names.filter((name) => !applied.has(name));
  if (pending.length === 0) return [];
  // Wrangler's own splitter, so that a trigger's body is cut here as it is there.
  const { unstable_splitSqlQuery: splitSql } = await import('wrangler');
  for (const name of pending) {
    const statements = splitSql(await readFile(join(directory, name), 'utf8'));
    const record = database.prepare('INSERT INTO d1_migrations (name) VALUES (?)').bind(name);
    try {
      await database.batch([...statements.map((statement) => database.prepare(statement)), record]);
    } catch (error) {
      throw new EngineError(
        'STORE_FAILED',
        `migration ${name} failed`,
        { detail: error instanceof Error ? error.message : String(error) },
        error,
      );
    }
  }
  return pending;
}
