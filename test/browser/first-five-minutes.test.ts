/** The first five minutes of somebody who has just started it, and the promise that the product is made for, put to the test. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchBrowser, openPage, type WatchedPage } from './browser.ts';
import {
  choose,
  editorOf,
  linesUnder,
  pipelineOf,
  rowsOf,
  sendRows,
  sqlIn,
  writeDialogField,
  writeSql,
} from './console.ts';
import { DevServer } from './dev-server.ts';

/** Every event comes out as it came in. */
const COPY = `CREATE TABLE events (id BIGINT NOT NULL, words TEXT NOT NULL) WITH (connector = 'http', format = 'json');
CREATE TABLE copied WITH (connector = 'r2', path = 'first/copied', format = 'json', type = 'sink');
INSERT INTO copied SELECT id, words FROM events;`;

const FAILING = `CREATE TABLE clicks WITH (connector = 'example', dataset = 'clicks', event_rate = 50);
SELECT 1 / (CAST(price AS INT) - CAST(price AS INT)) AS share FROM clicks;`;

const BATCH = 50;

let server: DevServer;
let browser: Browser;
let watched: WatchedPage;
let page: Page;
let startedMs = 0;

beforeAll(async () => {
  startedMs = Date.now();
  [server, browser] = await Promise.all([DevServer.start(), launchBrowser()]);
  watched = await openPage(browser, server.url);
  ({ page } = watched);
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

/** Rows with numbers that follow each other, posted without a pause until told to end. */
class Posting {
  #count = 0;
  #ended = false;
  #work: Promise<void> = Promise.resolve();
  readonly #id: string;

  constructor(id: string) {
    this.#id = id;
  }

  get count(): number {
    return this.#count;
  }

  begin(): void {
    this.#work = this.#post();
  }

  async end(): Promise<number> {
    this.#ended = true;
    await this.#work;
    return this.#count;
  }

  async #post(): Promise<void> {
    for (let batch = 0; !this.#ended; batch++) {
      const rows = Array.from({ length: BATCH }, (_, index) => ({
        id: batch * BATCH + index,
        words: `row ${index} of batch ${batch}`,
      }));
      await sendRows(server, this.#id, 'events', rows, `batch-${batch}`);
      this.#count += rows.length;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

describe('the first five minutes', () => {
  test('an example runs at a click', async () => {
    await page.goto('/');
    await page.getByRole('heading', { name: /each result committed exactly once/ }).waitFor();
    const clickedMs = Date.now();
    await page.getByRole('link', { name: 'Shop clicks per minute' }).click();
    await rowsOf(page).first().waitFor();
    const now = Date.now();
    process.stdout.write(
      `first row on screen: ${now - clickedMs} ms after the click, ${now - startedMs} ms after the start of the server and the browser\n`,
    );
    expect(await rowsOf(page).first().innerText()).toMatch(
      /home|search|category|product|basket|checkout/,
    );
    await page
      .getByRole('group', { name: 'Graph of the query' })
      .getByText('Window aggregate')
      .waitFor();
    expect(watched.takeTrouble()).toEqual([]);
  });

  test('a slip is underlined while typing, and its fix is a click', async () => {
    await editorOf(page).getByText('user_id').dblclick();
    await page.keyboard.type('user_ixd');
    const slip = page.locator('.cm-lintRange-error', { hasText: 'user_ixd' });
    await slip.waitFor();
    expect(await page.getByRole('button', { name: 'Start…' }).isDisabled()).toBe(true);
    await slip.hover();
    const tip = page.getByRole('tooltip').or(page.locator('.cm-tooltip'));
    await tip.getByText('unknown column "user_ixd"').waitFor();
    await tip.getByRole('button', { name: 'Change user_ixd to user_id' }).click();
    await slip.waitFor({ state: 'detached' });
    expect(await sqlIn(page)).toContain('count(DISTINCT user_id)');
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.getByText(/^first row after \d+ ms$/).waitFor();
    await rowsOf(page).first().waitFor();
    expect(watched.takeTrouble()).toEqual([]);
  });

  test('own rows become a table; one that does not fit is refused with the reason', async () => {
    await page.getByRole('link', { name: 'Start', exact: true }).click();
    await page
      .getByLabel('Or paste your own JSON')
      .fill('{"city": "Basel", "visitors": 12}\n{"city": "Bern", "visitors": 7}');
    await page.getByRole('button', { name: 'Make a table and run' }).click();
    await rowsOf(page).nth(1).waitFor();
    expect(await rowsOf(page).count()).toBe(2);
    expect(await sqlIn(page)).toMatch(/visitors BIGINT/);
    await page.getByRole('button', { name: 'Send rows' }).click();
    await page
      .getByLabel('Rows as JSON: one a line, an array, or a single object')
      .fill('{"city": "Chur", "visitors": 3}\n{"city": "Davos", "visitors": "many"}');
    await page.getByText('1 accepted').waitFor();
    await page.getByText('1 refused').waitFor();
    const refused = page.getByRole('listitem').filter({ hasText: 'refused' });
    expect(await refused.innerText()).toMatch(/visitors[^]*BIGINT/);
    await page.getByRole('button', { name: /^Send to / }).click();
    await page.getByRole('button', { name: 'Rows', exact: true }).click();
    await rowsOf(page).nth(2).waitFor();
    expect(await rowsOf(page).count()).toBe(3);
    expect(await rowsOf(page).last().innerText()).toContain('Chur');
    expect(watched.takeTrouble()).toEqual([]);
  });

  test('where every row fails, the preview says so and shows them', async () => {
    await writeSql(page, FAILING);
    await page
      .getByRole('button', { name: /^Run (preview|again)$/ })
      .first()
      .click();
    await page.getByText(/^All [\d,]+ rows failed in .*DIVISION_BY_ZERO/).waitFor();
    await page.getByRole('button', { name: 'See the rows' }).click();
    const rows = page.getByRole('table', { name: /^Rows that went wrong/ });
    await rows
      .getByRole('row', { name: /DIVISION_BY_ZERO/ })
      .first()
      .waitFor();
    expect(watched.takeTrouble()).toEqual([]);
  });

  test('a pipeline is started, killed twice under load, and has lost and doubled nothing', async () => {
    await writeSql(page, COPY);
    await page.getByRole('button', { name: 'Start…' }).click();
    await writeDialogField(page, 'Name', 'copied once');
    await page.getByRole('dialog').getByLabel('Checkpoint every').selectOption('1 s');
    await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
    await page.getByRole('heading', { name: 'copied once' }).waitFor();
    await page.getByText('Running', { exact: true }).waitFor();
    const id = pipelineOf(page);
    const posting = new Posting(id);
    posting.begin();
    await checkpointsTick();
    await kill('Kill the leader', 2, posting);
    await kill('Kill host 0', 3, posting);
    const posted = await posting.end();
    const line = page.getByRole('region', { name: 'Exactly once' });
    const told = posted.toLocaleString('en');
    await line.getByText(`rows in ${told} = rows out ${told}`).waitFor({ timeout: 30_000 });
    await line.getByText('0 lost, 0 doubled', { exact: true }).waitFor();
    const ids = (await linesUnder(server, 'first/copied/')).map(
      (text) => (JSON.parse(text) as { id: number }).id,
    );
    expect(ids.sort((left, right) => left - right)).toEqual(
      Array.from({ length: posted }, (_, index) => index),
    );
    expect(watched.takeTrouble()).toEqual([]);
  });
});

async function checkpointsTick(): Promise<void> {
  await page.getByRole('link', { name: 'Checkpoints' }).click();
  const committed = page
    .getByRole('table', { name: 'Checkpoints, newest first' })
    .getByRole('row', { name: /committed/ });
  await committed.nth(1).waitFor();
}

/** The page itself shows what becomes of it: the leader that was killed stays behind, greyed, and another owns the line. */
async function kill(what: string, leaders: number, posting: Posting): Promise<void> {
  const before = posting.count;
  await choose(page, 'Kill…', what);
  await page.getByRole('dialog').getByRole('button', { name: 'Kill it' }).click();
  const after = page.getByRole('region', { name: 'What happens after the failure' });
  await after.getByText(/: 0 lost, 0 doubled$/).waitFor({ timeout: 45_000 });
  const lineage = page.getByRole('region', { name: 'Lineage' });
  await lineage.getByText(`${leaders} leaders`).waitFor();
  expect(await lineage.locator('.river-band.past').count()).toBe(leaders - 1);
  expect(await lineage.locator('.river-band.owner').count()).toBe(1);
  expect(await lineage.locator('.river-node.cut').count()).toBe(leaders - 1);
  await lineage
    .getByRole('button', { name: /^epoch \d+, fence, generation \d+/ })
    .nth(leaders - 1)
    .waitFor();
  await after.getByRole('button', { name: 'Close' }).click();
  expect(posting.count, 'rows flow meanwhile').toBeGreaterThan(before);
}
