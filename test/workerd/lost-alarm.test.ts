/**
 * A Durable Object's alarm can be used up and lost. Whoever depends on one must be woken by something else:
 * a leader by its hosts' heartbeats, and a leader whose hosts are gone as well by the controller's cron.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { pause, Thalweg } from '../harness/thalweg.ts';

const QUERY = `
CREATE TABLE bids (ts TIMESTAMP NOT NULL, k TEXT NOT NULL, WATERMARK FOR ts AS ts)
  WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE totals WITH (connector = 'r2', path = 'out', format = 'json', type = 'sink');
INSERT INTO totals SELECT k, window.start AS s, n FROM (
  SELECT k, tumble(interval '1 second') AS window, count(*) AS n FROM bids GROUP BY k, window);
`;
const SECONDS = 10;

/** 100 rows over ten seconds, and one that closes the last window. */
const ROWS = [
  ...Array.from({ length: 10 * SECONDS }, (_, index) => ({
    ts: `2026-01-01T00:00:0${Math.floor(index / 10)}.${index % 10}00`,
    k: `k${index % 2}`,
  })),
  { ts: '2026-01-01T01:00:00', k: 'end' },
];
const EXPECTED = Array.from(
  { length: 2 * SECONDS },
  (_, index) => `{"k":"k${index % 2}","s":"2026-01-01T00:00:0${Math.floor(index / 2)}","n":5}`,
).sort();

/** Opens every database file of the class or binding under the state directory, of runtimes that are not running. */
function editDatabases(
  stateDir: string,
  folder: string,
  edit: (database: DatabaseSync) => number,
): number {
  const directory = join(stateDir, 'v3', folder);
  let changed = 0;
  for (const name of readdirSync(directory).filter((each) => each.endsWith('.sqlite'))) {
    const database = new DatabaseSync(join(directory, name));
    changed += edit(database);
    database.close();
  }
  return changed;
}

const hasTable = (database: DatabaseSync, table: string): boolean =>
  database.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').get(table) !== undefined;

/** Deletes every alarm that leaders have set: workerd keeps each with the object (key 1) and in the list it wakes objects by. */
function loseAlarms(stateDir: string): number {
  return editDatabases(stateDir, 'do/thalweg-PipelineLeader', (database) => {
    if (hasTable(database, '_cf_ALARM'))
      return Number(database.prepare('DELETE FROM _cf_ALARM').run().changes);
    if (!hasTable(database, '_cf_METADATA')) return 0;
    return Number(database.prepare('DELETE FROM _cf_METADATA WHERE key = 1').run().changes);
  });
}

/** As if a minute had passed: cron finds the pipeline due. */
function letMinutePass(stateDir: string): number {
  return editDatabases(stateDir, 'd1/miniflare-D1DatabaseObject', (database) => {
    if (!hasTable(database, 'pipelines')) return 0;
    return Number(
      database.prepare('UPDATE pipelines SET next_poll_ms = next_poll_ms - 60000').run().changes,
    );
  });
}

describe('an alarm is lost', () => {
  let thalweg: Thalweg;
  beforeEach(async () => {
    thalweg = await Thalweg.start({ cronMs: null });
  });
  afterEach(async () => {
    await thalweg.close();
  });

  test('with the leader and all hosts gone at the same moment: the next cron revives the pipeline', async () => {
    const { id } = await thalweg.create(QUERY, { parallelism: 2 });
    await thalweg.waitForJob(id, (job) => job.state === 'Running');
    await thalweg.waitForEpoch(id, 2);
    expect((await thalweg.send(id, 'bids', ROWS, 'all')).accepted).toBe(ROWS.length);
    await thalweg.stopAtOnce();
    // One in the leader's own database, one in the list of the class.
    expect(loseAlarms(thalweg.stateDir)).toBe(2);
    expect(letMinutePass(thalweg.stateDir)).toBe(1);
    await thalweg.startProcess();

    // Nobody calls anybody: if this moved, the alarm would not have been lost. Only R2 is looked at.
    const before = await thalweg.records(id);
    await pause(1_500);
    expect(await thalweg.records(id)).toEqual(before);

    await thalweg.runScheduled();
    const lines = await thalweg.waitForLines('out/', EXPECTED.length);
    expect(lines.sort()).toEqual(EXPECTED);
    const { epoch } = await thalweg.waitForJob(
      id,
      (job) => job.state === 'Running' && job.run_id === 2,
    );
    await thalweg.waitForEpoch(id, epoch + 2);
    expect((await thalweg.lines('out/')).sort()).toEqual(EXPECTED);
  });

  test('by a leader that is reset before it has set one, with hosts alive: no cron is needed', async () => {
    const { id } = await thalweg.create(QUERY, { parallelism: 2 });
    await thalweg.waitForJob(id, (job) => job.state === 'Running');
    await thalweg.send(id, 'bids', ROWS, 'all');
    await thalweg.crash(id, 'leader', 'wake-at');
    const lines = await thalweg.waitForLines('out/', EXPECTED.length);
    expect(lines.sort()).toEqual(EXPECTED);
    const records = await thalweg.records(id);
    await thalweg.waitForEpoch(id, Number(/(\d+)\.record$/.exec(records.at(-1) ?? '')?.[1]) + 2);
    expect((await thalweg.lines('out/')).sort()).toEqual(EXPECTED);
    expect((await thalweg.api.job(id)).run_id).toBe(1);
  });
});
