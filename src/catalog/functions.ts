/** Functions of the user's own that every pipeline may call. Running pipelines hold what they call in their graphs. */
import type { Kysely } from 'kysely';
import type { Database } from './schema.ts';

export type StoredFunction = {
  id: string;
  prefix: string;
  /** As it is called, in lower case. */
  name: string;
  language: string;
  /** The text of its CREATE FUNCTION. */
  definition: string;
  description: string | null;
  createdMs: number;
  updatedMs: number;
};

const FUNCTIONS_MAX = 1_000;

/** `exists` when the name is taken, `full` when there are too many; either changes nothing. */
export async function createFunction(
  db: Kysely<Database>,
  fn: StoredFunction,
): Promise<'created' | 'exists' | 'full'> {
  const { count } = await db
    .selectFrom('udfs')
    .select((select) => select.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  if (count >= FUNCTIONS_MAX) return 'full';
  const created = await db
    .insertInto('udfs')
    .values({
      id: fn.id,
      prefix: fn.prefix,
      name: fn.name,
      language: fn.language,
      definition: fn.definition,
      description: fn.description,
      created_ms: fn.createdMs,
      updated_ms: fn.updatedMs,
    })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returning('id')
    .executeTakeFirst();
  return created === undefined ? 'exists' : 'created';
}

/** All of them, by name. */
export async function listFunctions(db: Kysely<Database>): Promise<StoredFunction[]> {
  const rows = await db.selectFrom('udfs').selectAll().orderBy('name').execute();
  return rows.map((row) => ({
    id: row.id,
    prefix: row.prefix,
    name: row.name,
    language: row.language,
    definition: row.definition,
    description: row.description,
    createdMs: row.created_ms,
    updatedMs: row.updated_ms,
  }));
}

/** Whether there was one. */
export async function deleteFunction(db: Kysely<Database>, id: string): Promise<boolean> {
  const deleted = await db
    .deleteFrom('udfs')
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  return deleted !== undefined;
}
