/** Writing a query with the help of the editor, and changing what runs. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible, launchBrowser, openPage, type WatchedPage } from './browser.ts';
import {
  choose,
  editorOf,
  reached,
  rowsOf,
  running,
  sqlIn,
  writeDialogField,
  writeSql,
} from './console.ts';
import { DevServer } from './dev-server.ts';

const CLICKS = `CREATE TABLE clicks WITH (connector = 'example', dataset = 'clicks');
`;

/** Faster than anybody types, and slower than what the editor takes for pasting. */
const TYPED = { delay: 40 };

let server: DevServer;
let browser: Browser;
let watched: WatchedPage;
let page: Page;

beforeAll(async () => {
  [server, browser] = await Promise.all([DevServer.start(), launchBrowser()]);
  watched = await openPage(browser, server.url);
  ({ page } = watched);
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

describe('the editor', () => {
  test('completes the columns of a table and functions, with what they are', async () => {
    await page.goto('/pipelines/new');
    await writeSql(page, `${CLICKS}SELECT  FROM clicks;`);
    // The planner has read it: it knows the table, and misses a column.
    await page.getByRole('button', { name: /^Problems \d/ }).waitFor();
    for (let step = 0; step < ' FROM clicks;'.length; step++)
      await page.keyboard.press('ArrowLeft');
    await page.keyboard.type('user', TYPED);
    await page.getByRole('option', { name: /^user_id/ }).click();
    await page.keyboard.type(', date_tr', TYPED);
    const wanted = page.getByRole('option', { name: /^date_trunc/ });
    await wanted.waitFor();
    const documentation = page.locator('.cm-completionInfo');
    expect(await documentation.innerText()).toMatch(/date_trunc\(/);
    await wanted.click();
    await page.keyboard.type("'hour', ts", TYPED);
    expect(await sqlIn(page)).toBe(`${CLICKS}SELECT user_id, date_trunc('hour', ts) FROM clicks;`);
    expect(watched.takeTrouble()).toEqual([]);
  });

  test('completes a word that was typed before the catalogue had come, when it comes', async () => {
    let answer = (): void => {};
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const late = await openPage(browser, server.url);
    await late.page.route('**/sql/completions', async (route) => {
      await asked;
      await route.continue();
    });
    await late.page.goto('/pipelines/new');
    await writeSql(late.page, `${CLICKS}SELECT `);
    await late.page.keyboard.type('date_tr', TYPED);
    expect(await late.page.getByRole('option').count()).toBe(0);
    answer();
    await late.page.getByRole('option', { name: /^date_trunc/ }).waitFor();
    expect(late.takeTrouble()).toEqual([]);
    await late.context.close();
  });

  test('formats, and keeps what the comments say', async () => {
    await writeSql(
      page,
      `${CLICKS}-- who was it?\nselect user_id,page from clicks where price>10;`,
    );
    await page.getByRole('button', { name: 'Format' }).click();
    await editorOf(page).getByText('SELECT', { exact: true }).waitFor();
    const formatted = await sqlIn(page);
    expect(formatted).toContain('-- who was it?');
    expect(formatted.replace(/\s+/g, ' ')).toContain(
      'SELECT user_id, page FROM clicks WHERE price > 10;',
    );
  });

  test('keeps a draft through a reload, and an example asks before it takes its place', async () => {
    const draft = await sqlIn(page);
    await page.reload();
    await editorOf(page).getByText('who was it?').waitFor();
    expect(await sqlIn(page)).toBe(draft);
    await page.goto('/');
    await page.getByRole('link', { name: 'Card fraud' }).click();
    const question = page.getByRole('dialog', { name: 'You have a draft here' });
    await question.waitFor();
    await expectAccessible(page);
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await sqlIn(page)).toBe(draft);
    await choose(page, 'Examples', /^Card fraud/);
    await question.getByRole('button', { name: 'Open the example' }).click();
    await editorOf(page).getByText('MATCH_RECOGNIZE', { exact: true }).waitFor();
    await choose(page, 'Drafts', /clicks/);
    await editorOf(page).getByText('who was it?').waitFor();
    expect(await sqlIn(page)).toBe(draft);
    expect(watched.takeTrouble()).toEqual([]);
  });

  test('leads from a problem in the list to its place in the text', async () => {
    await writeSql(page, `${CLICKS}\n\nSELECT user_id,\n       pagee\nFROM clicks;`);
    await page.getByRole('button', { name: /^Problems/ }).click();
    await page.getByRole('listitem').filter({ hasText: 'pagee' }).waitFor();
    await page.getByRole('link', { name: 'Start', exact: true }).focus();
    await page.getByRole('button', { name: 'line 5:8' }).click();
    await page.keyboard.type('page');
    expect(await sqlIn(page)).toBe(`${CLICKS}\n\nSELECT user_id,\n       page\nFROM clicks;`);
    await page.getByText('The planner has nothing to say').waitFor();
  });
});

describe('what runs', () => {
  test('is run by more hosts, restarted, stopped, edited as another, and deleted, each after its consequence is told', async () => {
    const id = await running(server, 'to change', `${CLICKS}SELECT page, user_id FROM clicks;`);
    await page.goto(`/pipelines/${id}`);
    const dialog = page.getByRole('dialog');
    await choose(page, 'More', 'Name, parallelism, interval');
    await writeDialogField(page, 'Parallelism', '2');
    await writeDialogField(page, 'Name', 'changed');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'changed', exact: true }).waitFor();
    await page.getByText('on 2 hosts').waitFor({ timeout: 30_000 });
    await page.getByRole('link', { name: 'Output' }).click();
    await rowsOf(page).first().waitFor();

    await choose(page, 'More', /^Restart$/);
    await dialog.getByText('A checkpoint is taken, and a new generation goes on').waitFor();
    await expectAccessible(page);
    const { run_id: before } = await server.api.job(id);
    await dialog.getByRole('button', { name: 'Restart' }).click();
    await reached(server, id, ({ run_id: now, state }) => now > before && state === 'Running');

    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await dialog.getByText('Nothing is lost').waitFor();
    await dialog.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped', { exact: true }).waitFor();

    await choose(page, 'More', 'Edit as a new pipeline');
    await dialog.getByRole('button', { name: "Open the pipeline's query" }).click();
    // The draft that was there before has the same words.
    await expect
      .poll(() => sqlIn(page), { timeout: 10_000 })
      .toBe(`${CLICKS}SELECT page, user_id FROM clicks;`);

    await page.goto(`/pipelines/${id}`);
    await choose(page, 'More', 'Delete');
    await dialog.getByText('This cannot be taken back').waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Pipelines' }).waitFor();
    expect(watched.takeTrouble()).toEqual([]);
    await page.goto(`/pipelines/${id}`);
    await page.getByRole('heading', { name: 'There is no such pipeline' }).waitFor();
  });
});
