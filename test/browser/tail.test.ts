/** Thousands of rows a second on one page: it stays small, answers, and shows every digit. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchBrowser, openPage } from './browser.ts';
import { reached, rowsOf, running } from './console.ts';
import { DevServer } from './dev-server.ts';
import { interactionDelays, tellLongestTask, watchLongTasks } from './responsiveness.ts';

/** Of the numbers around 2^53 every second one is no double. */
const FIRST = 9_007_199_254_740_993n;
const QUERY = `CREATE TABLE ticks WITH (connector = 'impulse', event_rate = '5000');
SELECT counter, CAST(counter AS BIGINT) * 2 + ${FIRST} AS exact, 'row ' || CAST(counter AS TEXT) AS words FROM ticks;`;

const TAIL_MS = 8_000;
const ELEMENTS_MOST = 1_500;

let server: DevServer;
let browser: Browser;
let pipeline: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([DevServer.start(), launchBrowser()]);
  pipeline = await running(server, 'a fast one', QUERY);
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

const sizeOf = (page: Page): Promise<number> =>
  page.evaluate("document.querySelectorAll('*').length");

const cameTo = async (page: Page): Promise<number> => {
  const text = await page.getByText(/^[\d,]+ rows$/).innerText();
  return Number(text.replace(/\D/g, ''));
};

describe('a tail at 5,000 rows a second', () => {
  test('lets the reader pause, search, follow and go elsewhere meanwhile', async () => {
    const { page, context, takeTrouble } = await openPage(browser, server.url);
    await page.goto(`/pipelines/${pipeline}/output`);
    await rowsOf(page).first().waitFor();
    await watchLongTasks(page);
    const before = await cameTo(page);
    let largest = 0;
    for (const endMs = Date.now() + TAIL_MS; Date.now() < endMs;) {
      await page.getByRole('button', { name: 'Pause' }).click();
      const shown = await rowsOf(page).first().innerText();
      await page.getByRole('button', { name: /^Follow \([\d,]+ new\)$/ }).waitFor();
      expect(await rowsOf(page).first().innerText()).toBe(shown);
      await page.getByRole('button', { name: /^Follow/ }).click();
      await page.getByRole('searchbox').fill('row 77');
      await page.getByText(/^[\d,]+ match$/).waitFor();
      await page.getByRole('searchbox').fill('');
      largest = Math.max(largest, await sizeOf(page));
    }
    const came = (await cameTo(page)) - before;
    await tellLongestTask(page, `${came} rows came in some ${TAIL_MS / 1000} s`);
    const delays = await interactionDelays(page);
    process.stdout.write(
      `longest wait of ${delays.length} interactions: ${Math.max(0, ...delays)} ms\n`,
    );
    expect(came).toBeGreaterThan(TAIL_MS);
    expect(largest).toBeLessThan(ELEMENTS_MOST);
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('group', { name: /^Operators of / }).waitFor();
    await page.getByRole('link', { name: 'Output' }).click();
    await rowsOf(page).first().waitFor();
    expect(takeTrouble()).toEqual([]);
    await context.close();
  });

  test('shows integers past 2^53 with every digit', async () => {
    const { page, context } = await openPage(browser, server.url);
    await page.goto(`/pipelines/${pipeline}/output`);
    await rowsOf(page).nth(5).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    const rows = await rowsOf(page).allInnerTexts();
    expect(rows.length).toBeGreaterThan(5);
    for (const row of rows) {
      const [, counter = '', exact] = row.split(/\s+/);
      expect(exact).toBe(String(FIRST + 2n * BigInt(counter)));
    }
    await context.close();
    await server.api.patch(pipeline, { stop: 'immediate' });
    await reached(server, pipeline, ({ state }) => state === 'Stopped');
  });
});
