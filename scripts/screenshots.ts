/**
 * `npm run screenshots`: takes the pictures of the README and of docs/console.md from a server with fresh state, in a real
 * Chromium. Only times and made-up rows differ from run to run. Look at what it made: a fault in a picture is one of a page.
 */
import { mkdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { launchBrowser, openPage } from '../test/browser/browser.ts';
import { choose, editorOf, reached, rowsOf, running } from '../test/browser/console.ts';
import { DevServer } from '../test/browser/dev-server.ts';

const FOLDER = resolve(import.meta.dirname, '../docs/images');
const BYTES_MOST = 250_000;

/** Each row comes out as it came in, so that the sums can be seen. */
const KEPT = `-- Every click of the shop, kept for good.
CREATE TABLE clicks (
  WATERMARK FOR ts AS ts - interval '2 seconds'
) WITH (connector = 'example', dataset = 'clicks', event_rate = 200);

CREATE TABLE kept WITH (connector = 'r2', path = 'shop/clicks', format = 'parquet', type = 'sink');

INSERT INTO kept SELECT ts, user_id, page, country, price FROM clicks;
`;

const PAID = `CREATE TABLE orders (
  WATERMARK FOR ts AS ts - interval '1 second'
) WITH (connector = 'example', dataset = 'orders', event_rate = 200);

CREATE TABLE payments (
  WATERMARK FOR ts AS ts - interval '1 second'
) WITH (connector = 'example', dataset = 'payments', event_rate = 200);

CREATE TABLE paid WITH (connector = 'r2', path = 'shop/paid', format = 'parquet', type = 'sink');

INSERT INTO paid
SELECT o.order_id, o.customer, o.amount, p.method, p.ts - o.ts AS took
FROM orders o
LEFT JOIN payments p
  ON p.order_id = o.order_id AND p.ts BETWEEN o.ts AND o.ts + interval '20 seconds';
`;

const TRIED = `CREATE TABLE readings WITH (connector = 'impulse', event_rate = 5);
SELECT counter, 10 / (counter % 4) AS share FROM readings;
`;

/** Long enough for lines in the charts. */
const CHART_SECONDS = 100;
const LIST_SECONDS = 25;

async function picture(page: Page, name: string): Promise<void> {
  // Nothing shall look pointed at.
  await page.mouse.move(0, 899);
  const path = join(FOLDER, `${name}.png`);
  await page.screenshot({ path, animations: 'disabled', caret: 'hide' });
  const { size } = await stat(path);
  process.stdout.write(`${name}.png ${Math.round(size / 1000)} kB\n`);
  if (size > BYTES_MOST) throw new Error(`${name}.png has more than ${BYTES_MOST} bytes`);
}

async function start(page: Page): Promise<void> {
  await page.goto('/');
  await page.getByRole('link', { name: 'Card fraud' }).waitFor();
  await page.evaluate('document.fonts.ready.then(() => true)');
  await picture(page, 'start');
}

async function editor(page: Page): Promise<void> {
  await page.goto('/pipelines/new?example=live-top-five');
  await rowsOf(page).nth(8).waitFor();
  await page
    .getByRole('group', { name: 'Graph of the query' })
    .getByRole('button', { name: /^Sink/ })
    .waitFor();
  await editorOf(page).getByText('row_number').first().waitFor();
  await picture(page, 'editor');
}

/** A slip, with the change that repairs it. */
async function fix(page: Page): Promise<void> {
  await page.goto('/pipelines/new?example=shop-clicks');
  await rowsOf(page).nth(8).waitFor();
  await editorOf(page).getByText('user_id').dblclick();
  await page.keyboard.type('user_ixd');
  const slip = page.locator('.cm-lintRange-error', { hasText: 'user_ixd' });
  await slip.hover();
  await page.getByRole('button', { name: 'Change user_ixd to user_id' }).waitFor();
  const path = join(FOLDER, 'fix.png');
  await page.screenshot({ path, animations: 'disabled', caret: 'hide' });
}

async function overview(page: Page, pipeline: string): Promise<void> {
  await page.goto(`/pipelines/${pipeline}/overview`);
  await page.getByRole('group', { name: /^Operators of / }).waitFor();
  await page.getByRole('region', { name: 'Charts over time' }).locator('canvas').first().waitFor();
  await page.locator('.live-flow', { hasText: /[1-9]/ }).first().waitFor();
  await picture(page, 'pipeline');
}

async function lineage(page: Page, pipeline: string): Promise<void> {
  await page.goto(`/pipelines/${pipeline}/lineage`);
  const committed = page.getByRole('button', { name: /^epoch \d+, canonical, committed/ });
  await committed.nth(5).waitFor({ timeout: 60_000 });
  await choose(page, 'Kill…', 'Kill the leader');
  await page.getByRole('dialog').getByRole('button', { name: 'Kill it' }).click();
  const after = page.getByRole('region', { name: 'What happens after the failure' });
  await after.getByText(/0 lost, 0 doubled$/).waitFor({ timeout: 45_000 });
  await picture(page, 'lineage');
}

async function list(page: Page): Promise<void> {
  await page.goto('/pipelines');
  await page
    .getByRole('row', { name: /every click/ })
    .getByText(/\d+\/s/)
    .first()
    .waitFor();
  // Their lines are drawn from the moment somebody looks.
  await waitSeconds(LIST_SECONDS);
  await picture(page, 'pipelines');
}

const waitSeconds = (seconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, seconds * 1_000));

async function main(): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const [server, browser] = await Promise.all([DevServer.start(), launchBrowser()]);
  try {
    const { page } = await openPage(browser, server.url);
    await start(page);
    await editor(page);
    await fix(page);
    const parts = { checkpoint_interval_micros: 5_000_000 };
    const paid = await running(server, 'orders and payments', PAID, {
      ...parts,
      parallelism: 2,
    });
    const kept = await running(server, 'every click', KEPT, {
      checkpoint_interval_micros: 2_000_000,
    });
    await running(server, 'shares of readings', TRIED, parts);
    const at = await running(server, 'an earlier version', PAID.replaceAll('shop/', 'old/'), parts);
    await server.api.patch(at, { stop: 'checkpoint' });
    await reached(server, at, ({ state }) => state === 'Stopped');
    await waitSeconds(CHART_SECONDS);
    await overview(page, paid);
    await lineage(page, kept);
    await list(page);
  } finally {
    await browser.close();
    await server.close();
  }
}

await main();
