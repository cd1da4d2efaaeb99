/** A hand that never leaves the keyboard: from the start page to a pipeline, through its history, to its end. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchBrowser, openPage } from './browser.ts';
import { rowsOf } from './console.ts';
import { DevServer } from './dev-server.ts';

const STOPS_MOST = 120;

let server: DevServer;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([DevServer.start(), launchBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

const hasFocus = (target: Locator): Promise<boolean> =>
  target.evaluate((element) => element === element.ownerDocument.activeElement);

/** Whether a reader sees where focus is: on the element, on what covers it, or on the sign that is drawn for it. */
const showsFocus = (target: Locator): Promise<boolean> =>
  target.evaluate((element) => {
    const { getComputedStyle } = element.ownerDocument.defaultView as unknown as {
      getComputedStyle(of: unknown, pseudo?: string): Record<string, string>;
    };
    const hasLine = ({ outlineStyle, outlineWidth }: Record<string, string>): boolean =>
      outlineStyle !== 'none' && outlineWidth !== '0px';
    const sign = element.querySelector('.river-hit');
    return (
      hasLine(getComputedStyle(element)) ||
      hasLine(getComputedStyle(element, '::after')) ||
      (sign !== null && getComputedStyle(sign)['strokeWidth'] === '2px')
    );
  });

/** Goes on by Tab, as somebody does who cannot point; an editor is left as its label says. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let stop = 0; stop < STOPS_MOST; stop++) {
    if (await hasFocus(target)) {
      expect(await showsFocus(target), `focus is seen on ${String(target)}`).toBe(true);
      return;
    }
    if ((await page.evaluate("document.activeElement.closest('.cm-editor') !== null")) === true)
      await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
  }
  throw new Error(`${String(target)} is not reached by Tab`);
}

async function press(page: Page, target: Locator): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press('Enter');
}

describe('with the keyboard alone', () => {
  test('an example becomes a pipeline, its lineage is read, and it is stopped and deleted', async () => {
    const { page, context, takeTrouble } = await openPage(browser, server.url);
    await page.goto('/');
    await press(page, page.getByRole('link', { name: 'Live top five' }));
    await rowsOf(page).first().waitFor();

    await press(page, page.getByRole('button', { name: 'Start…' }));
    const dialog = page.getByRole('dialog');
    await tabTo(page, dialog.getByLabel('Name'));
    await page.keyboard.press('Control+a');
    await page.keyboard.type('by keyboard');
    await tabTo(page, dialog.getByLabel('Checkpoint every'));
    await page.keyboard.press('Home');
    expect(await dialog.getByLabel('Checkpoint every').inputValue()).toBe('1');
    await press(page, dialog.getByRole('button', { name: 'Start' }));
    await page.getByRole('heading', { name: 'by keyboard' }).waitFor();
    await page.getByText('Running', { exact: true }).waitFor();

    const lineage = page.getByRole('region', { name: 'Lineage' });
    await press(page, page.getByRole('link', { name: 'Lineage' }));
    const nodes = lineage.getByRole('button', { name: /^epoch \d+/ });
    await nodes.nth(2).waitFor();
    await tabTo(page, lineage.locator('[role=button][tabindex="0"]').first());
    await page.keyboard.press('Home');
    await expect.poll(() => hasFocus(nodes.first()), { timeout: 5_000 }).toBe(true);
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => hasFocus(nodes.nth(1)), { timeout: 5_000 }).toBe(true);
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Epoch 2' }).getByText('State files').waitFor();

    await press(page, page.getByRole('button', { name: 'Stop' }));
    await press(page, dialog.getByRole('button', { name: 'Stop' }));
    await page.getByText('Stopped', { exact: true }).waitFor();
    await press(page, page.getByRole('button', { name: 'More' }));
    // The menu goes round: up from its first entry is the last, Delete.
    await page.keyboard.press('ArrowUp');
    expect(await hasFocus(page.getByRole('menuitem', { name: 'Delete' }))).toBe(true);
    await page.keyboard.press('Enter');
    await page.getByText('This cannot be taken back').waitFor();
    await press(page, dialog.getByRole('button', { name: 'Delete' }));
    await page.getByRole('heading', { name: 'Pipelines' }).waitFor();
    expect(await page.getByRole('link', { name: 'by keyboard' }).count()).toBe(0);
    expect(takeTrouble()).toEqual([]);
    await context.close();
  });
});
