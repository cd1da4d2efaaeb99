/** The server goes away and comes back under open pages: they say so, and go on by themselves. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchBrowser, openPage } from './browser.ts';
import { reached, rowsOf, running, sendRows } from './console.ts';
import { DevServer } from './dev-server.ts';

const QUERY = `CREATE TABLE events (id BIGINT NOT NULL) WITH (connector = 'http', format = 'json');
SELECT id FROM events;`;

const ROWS = 30;

let server: DevServer;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([DevServer.start(), launchBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

/** Rows from `first` on, committed: whatever happens then, no row of them is computed again. */
async function sendCommitted(pipeline: string, first: number): Promise<void> {
  const rows = Array.from({ length: ROWS }, (_, index) => ({ id: first + index }));
  await sendRows(server, pipeline, 'events', rows, `from-${first}`);
  const { epoch } = await reached(server, pipeline, (job) => job.rows?.in === first + ROWS);
  await reached(server, pipeline, (job) => job.committed_epoch > epoch + 1);
}

describe('after the server was stopped and started again', () => {
  test('rows and states go on without a reload, and no row is shown twice', async () => {
    const pipeline = await running(server, 'goes on', QUERY);
    const [rows, list] = await Promise.all([
      openPage(browser, server.url, { height: 2_600 }),
      openPage(browser, server.url),
    ]);
    await rows.page.goto(`/pipelines/${pipeline}/output`);
    await list.page.goto('/pipelines');
    await sendCommitted(pipeline, 0);
    await rowsOf(rows.page)
      .nth(ROWS - 1)
      .waitFor();
    const listed = list.page.getByRole('row', { name: /goes on/ });
    await listed.getByText('Running').waitFor();

    await server.stop();
    for (const { page } of [rows, list]) await page.getByText('No server').waitFor();
    expect(await rowsOf(rows.page).count()).toBe(ROWS);

    await server.run();
    for (const { page } of [rows, list]) await page.getByText('Connected').waitFor();
    await reached(server, pipeline, ({ state }) => state === 'Running');
    await sendCommitted(pipeline, ROWS);
    await rowsOf(rows.page)
      .filter({ hasText: String(2 * ROWS - 1) })
      .waitFor();
    await rows.page.getByText('Running', { exact: true }).waitFor();
    await listed.getByText('Running').waitFor();
    const ids = (await rowsOf(rows.page).allInnerTexts()).map((row) => row.split(/\s+/)[1]);
    expect(new Set(ids).size, 'no row twice').toBe(ids.length);
    expect(ids.slice(-ROWS)).toEqual(Array.from({ length: ROWS }, (_, id) => String(ROWS + id)));
    await server.api.patch(pipeline, { stop: 'immediate' });
    await rows.page.getByText('Stopped', { exact: true }).waitFor();
    await listed.getByText('Stopped').waitFor();
    await Promise.all([rows.context.close(), list.context.close()]);
  });

  test('an editor that was open checks and runs what is written', async () => {
    const { page, context } = await openPage(browser, server.url);
    await page.goto('/pipelines/new?example=orders-and-payments');
    await rowsOf(page).first().waitFor();
    await server.stop();
    await page.getByText('No server').waitFor();
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.getByText('the server does not answer').first().waitFor();
    await server.run();
    await page.getByRole('button', { name: 'Run preview' }).click();
    await rowsOf(page).first().waitFor();
    await page.getByText('Connected').waitFor();
    await context.close();
  });
});
