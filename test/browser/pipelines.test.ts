import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible, launchBrowser, openPage } from './browser.ts';
import { DevServer } from './dev-server.ts';
import { seedPipelines } from './many-pipelines.ts';
import { tellLongestTask, watchLongTasks } from './responsiveness.ts';

const MANY = 2000;

let server: DevServer;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([DevServer.start(), launchBrowser()]);
  await seedPipelines(server, MANY);
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

describe('the list with two thousand pipelines', () => {
  test('is searched, filtered, sorted and scrolled, and its address keeps what was asked', async () => {
    const { page, context, takeTrouble } = await openPage(browser, server.url);
    await page.goto('/pipelines');
    const status = page.getByText(/ of 2,001$/);
    await status.waitFor();
    await watchLongTasks(page);
    const rows = page.getByRole('table', { name: 'Pipelines' }).getByRole('row');
    expect(await rows.count(), 'rows in the document').toBeLessThan(80);

    const find = page.getByRole('searchbox');
    await find.pressSequentially('copy 17');
    await page.getByText('100 of 2,001').waitFor();
    await find.fill('');
    await page.getByRole('button', { name: /^failed/ }).click();
    await page.getByText('200 of 2,001').waitFor();
    await page.getByRole('button', { name: 'Name' }).click();
    await page.getByRole('link', { name: 'copy 0010 of many' }).waitFor();
    expect(new URL(page.url()).search).toBe('?state=failed&sort=name&order=up');
    await page.reload();
    await page.getByText('200 of 2,001').waitFor();
    await page.getByRole('link', { name: 'copy 0010 of many' }).waitFor();

    await page.getByRole('button', { name: /^all/ }).click();
    await page.getByText('2,001 of 2,001').waitFor();
    await watchLongTasks(page);
    await page.getByRole('table', { name: 'Pipelines' }).evaluate((table) => {
      table.scrollTop = table.scrollHeight;
    });
    await page.getByRole('link', { name: 'the first' }).waitFor();
    await tellLongestTask(page, `scrolling through ${MANY} pipelines`);
    await expectAccessible(page);
    expect(takeTrouble()).toEqual([]);
    await context.close();
  });

  test('shows what happens to a pipeline without being asked', async () => {
    const { page, context } = await openPage(browser, server.url);
    await page.goto('/pipelines?q=the+first');
    const row = page.getByRole('row', { name: /the first/ });
    await row.getByText('Stopped').waitFor();
    await row.getByRole('button', { name: 'Start the first' }).click();
    await row.getByText('Running').waitFor();
    await row.getByText(/\d+\/s/).waitFor();
    await row.getByRole('button', { name: 'Stop the first' }).click();
    await row.getByText('Stopped').waitFor();
    await context.close();
  });

  test('deletes only after it has told the consequence', async () => {
    const { page, context } = await openPage(browser, server.url);
    await page.goto('/pipelines?q=copy+2000');
    await page.getByRole('button', { name: 'Delete copy 2000 of many' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Files that it has committed to R2 stay').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Delete copy 2000 of many' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('None of them matches').waitFor();
    await context.close();
  });
});
