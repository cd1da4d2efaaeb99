/** Where stored pipelines write files, and whose state lies in a folder: what a new pipeline is compared with. */
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Database } from './schema.ts';

export type StoredSink = {
  pipelineId: string;
  pipelineName: string;
  table: string;
  connector: string;
  /** Options of the sink, its path among them. */
  options: Readonly<Record<string, string | number | boolean>>;
};

/** Sinks with a path, of all pipelines but previews, in the order in which these were made. */
export async function storedSinks(db: Kysely<Database>): Promise<StoredSink[]> {
  const { rows } = await sql<{
    id: string;
    name: string;
    table_name: string;
    connector: string;
    options: string;
  }>`SELECT pipelines.id AS id, pipelines.name AS name,
      json_extract(operator.value, '$.spec.table') AS table_name,
      json_extract(operator.value, '$.spec.connector.connector') AS connector,
      json_extract(operator.value, '$.spec.connector.options') AS options
    FROM pipelines, json_each(pipelines.graph, '$.operators') AS operator
    WHERE pipelines.watched_ms IS NULL
      AND json_extract(operator.value, '$.spec.tag') = 'sink'
      AND json_extract(operator.value, '$.spec.connector.options.path') IS NOT NULL
    ORDER BY pipelines.created_ms, pipelines.id`.execute(db);
  return rows.map(({ id, name, table_name: table, connector, options }) => ({
    pipelineId: id,
    pipelineName: name,
    table,
    connector,
    options: JSON.parse(options) as StoredSink['options'],
  }));
}

export async function isLineage(
  db: Kysely<Database>,
  { pipeline, job }: { pipeline: string; job: string },
): Promise<boolean> {
  const found = await db
    .selectFrom('jobs')
    .select('id')
    .where('pipeline_id', '=', pipeline)
    .where('id', '=', job)
    .executeTakeFirst();
  return found !== undefined;
}
