/**
 * Stored connections: profiles, which hold options that several tables share, and tables, which every query may name.
 *
 * A pipeline holds what it uses of a table in its graph, so nothing that runs depends on these rows. Each change is one
 * statement whose condition says what it depends on: what is in use is not deleted, whatever happens at the same time.
 */
import { type Kysely, type Selectable, sql } from 'kysely';
import type { ConnectionProfileTable, ConnectionTableTable, Database } from './schema.ts';

export type OptionValues = Record<string, string | number | boolean>;

export type StoredProfile = {
  id: string;
  name: string;
  connector: string;
  config: OptionValues;
  createdMs: number;
};

/** `schema` is the JSON that the API was given, with the fields filled in. */
export type StoredTable = {
  id: string;
  name: string;
  connector: string;
  profileId: string | null;
  tableType: 'source' | 'sink' | 'lookup';
  config: OptionValues;
  schema: unknown;
  createdMs: number;
};

export type TableAndProfile = { table: StoredTable; profile: StoredProfile | null };
export type TableInUse = TableAndProfile & { consumers: number };

const PROFILES_MAX = 1_000;
const TABLES_MAX = 1_000;

/** `exists` when the name is taken, `full` when there are too many; either changes nothing. */
export type Creation = 'created' | 'exists' | 'full';

export async function createProfile(
  db: Kysely<Database>,
  profile: StoredProfile,
): Promise<Creation> {
  if ((await countOf(db, 'connection_profiles')) >= PROFILES_MAX) return 'full';
  const created = await db
    .insertInto('connection_profiles')
    .values({
      id: profile.id,
      name: profile.name,
      connector: profile.connector,
      config: JSON.stringify(profile.config),
      created_ms: profile.createdMs,
    })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returning('id')
    .executeTakeFirst();
  return created === undefined ? 'exists' : 'created';
}

/** All of them, by name. */
export async function listProfiles(db: Kysely<Database>): Promise<StoredProfile[]> {
  const rows = await db.selectFrom('connection_profiles').selectAll().orderBy('name').execute();
  return rows.map(profileOf);
}

export async function getProfile(db: Kysely<Database>, id: string): Promise<StoredProfile | null> {
  const row = await db
    .selectFrom('connection_profiles')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst();
  return row === undefined ? null : profileOf(row);
}

/** `used`: tables name it. */
export async function deleteProfile(
  db: Kysely<Database>,
  id: string,
): Promise<'deleted' | 'missing' | 'used'> {
  const deleted = await db
    .deleteFrom('connection_profiles')
    .where('id', '=', id)
    .where(
      sql<boolean>`NOT EXISTS (SELECT 1 FROM connection_tables WHERE profile_id = connection_profiles.id)`,
    )
    .returning('id')
    .executeTakeFirst();
  if (deleted !== undefined) return 'deleted';
  return (await getProfile(db, id)) === null ? 'missing' : 'used';
}

/** `no_profile`: its profile is not there, or no longer. */
export async function createTable(
  db: Kysely<Database>,
  table: StoredTable,
): Promise<Creation | 'no_profile'> {
  if ((await countOf(db, 'connection_tables')) >= TABLES_MAX) return 'full';
  const { id, name, connector, profileId, tableType, createdMs } = table;
  const [config, schema] = [JSON.stringify(table.config), JSON.stringify(table.schema)];
  // A profile that is deleted at the same time is either seen here, or sees this table.
  const created = await sql`
    INSERT INTO connection_tables
      (id, name, connector, profile_id, table_type, config, schema, created_ms)
    SELECT ${id}, ${name}, ${connector}, ${profileId}, ${tableType}, ${config}, ${schema}, ${createdMs}
    WHERE ${profileId} IS NULL OR EXISTS (SELECT 1 FROM connection_profiles WHERE id = ${profileId})
    ON CONFLICT (name) DO NOTHING RETURNING id`.execute(db);
  if (created.rows.length > 0) return 'created';
  const missing = profileId !== null && (await getProfile(db, profileId)) === null;
  return missing ? 'no_profile' : 'exists';
}

/** Pipelines that name the table; previews come and go and do not count. */
const consumers = sql<number>`(SELECT count(*) FROM connection_table_pipelines AS link
  JOIN pipelines ON pipelines.id = link.pipeline_id
  WHERE link.table_id = connection_tables.id AND pipelines.watched_ms IS NULL)`;

/** A page of at most `limit` tables, newest first, after the table `after` (from the beginning when it is null or gone). */
export async function listTables(
  db: Kysely<Database>,
  page: { limit: number; after: string | null },
): Promise<{ tables: TableInUse[]; more: boolean }> {
  let query = db
    .selectFrom('connection_tables')
    .selectAll()
    .select(consumers.as('consumers'))
    .orderBy('created_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1);
  const { after } = page;
  const last =
    after === null
      ? undefined
      : await db
          .selectFrom('connection_tables')
          .select(['created_ms', 'id'])
          .where('id', '=', after)
          .executeTakeFirst();
  if (last !== undefined)
    query = query.where(sql<boolean>`(created_ms, id) < (${last.created_ms}, ${last.id})`);
  const [rows, profiles] = [await query.execute(), await profilesById(db)];
  const tables = rows.map((row) => ({ ...withProfile(row, profiles), consumers: row.consumers }));
  return { tables: tables.slice(0, page.limit), more: tables.length > page.limit };
}

export async function getTable(db: Kysely<Database>, id: string): Promise<TableInUse | null> {
  const row = await db
    .selectFrom('connection_tables')
    .selectAll()
    .select(consumers.as('consumers'))
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined) return null;
  const profile = row.profile_id === null ? null : await getProfile(db, row.profile_id);
  return { table: tableOf(row), profile, consumers: row.consumers };
}

/** All of them, for planning. */
export async function allTables(db: Kysely<Database>): Promise<TableAndProfile[]> {
  const rows = await db.selectFrom('connection_tables').selectAll().orderBy('name').execute();
  if (rows.length === 0) return [];
  const profiles = await profilesById(db);
  return rows.map((row) => withProfile(row, profiles));
}

/** `used`: pipelines name it. */
export async function deleteTable(
  db: Kysely<Database>,
  id: string,
): Promise<'deleted' | 'missing' | 'used'> {
  const deleted = await db
    .deleteFrom('connection_tables')
    .where('id', '=', id)
    .where(sql<boolean>`${consumers} = 0`)
    .returning('id')
    .executeTakeFirst();
  if (deleted === undefined) return (await getTable(db, id)) === null ? 'missing' : 'used';
  await db.deleteFrom('connection_table_pipelines').where('table_id', '=', id).execute();
  return 'deleted';
}

/** Notes that a pipeline, which is about to be stored, names these tables. */
export async function noteConsumer(
  db: Kysely<Database>,
  tableIds: readonly string[],
  pipelineId: string,
): Promise<void> {
  if (tableIds.length === 0) return;
  await sql`INSERT INTO connection_table_pipelines (table_id, pipeline_id)
    SELECT value, ${pipelineId} FROM json_each(${JSON.stringify(tableIds)})
    WHERE true ON CONFLICT DO NOTHING`.execute(db);
}

async function countOf(
  db: Kysely<Database>,
  table: 'connection_profiles' | 'connection_tables',
): Promise<number> {
  const { count } = await db
    .selectFrom(table)
    .select((select) => select.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

async function profilesById(db: Kysely<Database>): Promise<Map<string, StoredProfile>> {
  return new Map((await listProfiles(db)).map((profile) => [profile.id, profile]));
}

const withProfile = (
  row: Selectable<ConnectionTableTable>,
  profiles: ReadonlyMap<string, StoredProfile>,
): TableAndProfile => ({
  table: tableOf(row),
  profile: row.profile_id === null ? null : (profiles.get(row.profile_id) ?? null),
});

const profileOf = (row: Selectable<ConnectionProfileTable>): StoredProfile => ({
  id: row.id,
  name: row.name,
  connector: row.connector,
  config: JSON.parse(row.config) as OptionValues,
  createdMs: row.created_ms,
});

const tableOf = (row: Selectable<ConnectionTableTable>): StoredTable => ({
  id: row.id,
  name: row.name,
  connector: row.connector,
  profileId: row.profile_id,
  tableType: row.table_type,
  config: JSON.parse(row.config) as OptionValues,
  schema: JSON.parse(row.schema) as unknown,
  createdMs: row.created_ms,
});
