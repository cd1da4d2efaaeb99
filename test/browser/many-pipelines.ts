/** A catalogue with thousands of pipelines: copies of one at rest, written where the server keeps them while it is down. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { DevServer } from './dev-server.ts';

const QUERY = `CREATE TABLE ticks WITH (connector = 'impulse', event_rate = '10');
SELECT counter FROM ticks;`;

/** Columns that every copy has its own value of, as SQL over the number \`n\` of the copy. */
const OWN: Readonly<Record<string, string>> = {
  id: `printf('pl_copy%04d', n)`,
  name: `printf('copy %04d of many', n)`,
  created_ms: `created_ms + n`,
  pipeline_id: `printf('pl_copy%04d', n)`,
  epoch: `n`,
  state: `CASE n % 10 WHEN 0 THEN 'Failed' WHEN 1 THEN 'Finished' ELSE 'Stopped' END`,
};

/** The server is down meanwhile. */
export async function seedPipelines(server: DevServer, count: number): Promise<void> {
  const { id } = await server.api.create({ name: 'the first', query: QUERY, parallelism: 1 });
  await stopped(server, id);
  await server.stop();
  const folder = join(server.stateDir, 'v3/d1/miniflare-D1DatabaseObject');
  const file = readdirSync(folder).find((name) => /^[0-9a-f]{64}\.sqlite$/.test(name));
  if (file === undefined) throw new Error('there is no database');
  const database = new DatabaseSync(join(folder, file));
  for (const table of ['pipelines', 'jobs']) {
    const columns = database
      .prepare(`SELECT name FROM pragma_table_info('${table}')`)
      .all()
      .map(({ name }) => String(name));
    const values = columns.map((column) => {
      if (table === 'jobs' && column === 'id') return `printf('job_copy%04d', n)`;
      if (table === 'pipelines' && column === 'epoch') return column;
      return OWN[column] ?? column;
    });
    database.exec(
      `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
       INSERT INTO ${table} (${columns.join(', ')})
       SELECT ${values.join(', ')} FROM ${table}, numbers
       WHERE ${table === 'jobs' ? 'pipeline_id' : 'id'} = '${id}'`,
    );
  }
  database.close();
  await server.run();
}

async function stopped(server: DevServer, id: string): Promise<void> {
  await server.fetch(`/api/v1/pipelines/${id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ stop: 'immediate' }),
  });
  for (;;) {
    if ((await server.api.job(id)).state === 'Stopped') return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
