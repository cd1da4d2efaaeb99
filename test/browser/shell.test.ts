import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible, expectNoSidewaysScroll, launchBrowser, openPage } from './browser.ts';
import { DevServer } from './dev-server.ts';

let server: DevServer;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([DevServer.start(), launchBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

describe('the frame of the console', () => {
  test.each(['dark', 'light'] as const)(
    'opens in the theme of the system, %s, and keeps the other once chosen',
    async (theme) => {
      const { page, context, takeTrouble } = await openPage(browser, server.url, { theme });
      await page.goto('/pipelines');
      await page.getByRole('heading', { name: 'Pipelines' }).waitFor();
      const shown = () => page.evaluate('document.documentElement.dataset.theme');
      expect(await shown()).toBe(theme);
      await expectAccessible(page);
      const other = theme === 'dark' ? 'light' : 'dark';
      await page.getByRole('button', { name: other, exact: false }).click();
      await page.reload();
      expect(await shown()).toBe(other);
      await expectAccessible(page);
      expect(takeTrouble()).toEqual([]);
      await context.close();
    },
  );

  test('fits a phone', async () => {
    const { page, context, takeTrouble } = await openPage(browser, server.url, {
      width: 390,
      height: 844,
    });
    await page.goto('/pipelines');
    await page.getByRole('heading', { name: 'Pipelines' }).waitFor();
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
    const shown = () => page.evaluate('document.documentElement.dataset.theme');
    const before = await shown();
    const more = page.getByRole('navigation').getByRole('button', { name: 'More' });
    await more.click();
    await expectAccessible(page);
    const [api] = await Promise.all([
      context.waitForEvent('page'),
      page.getByRole('menuitem', { name: 'API description' }).click(),
    ]);
    expect(await api.locator('body').innerText()).toContain('"openapi"');
    await api.close();
    await more.click();
    await page.getByRole('menuitem', { name: before === 'dark' ? 'Light' : 'Dark' }).click();
    expect(await shown()).not.toBe(before);
    expect(takeTrouble()).toEqual([]);
    await context.close();
  });

  test('an address that leads nowhere says so and leads back', async () => {
    const { page, context, takeTrouble } = await openPage(browser, server.url);
    await page.goto('/nowhere/at/all');
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'the pipelines' }).click();
    await page.getByRole('heading', { name: 'Pipelines' }).waitFor();
    expect(takeTrouble()).toEqual([]);
    await context.close();
  });

  test('the keyboard alone reaches every part: the first stop skips the navigation', async () => {
    const { page, context } = await openPage(browser, server.url);
    await page.goto('/pipelines');
    await page.getByRole('heading', { name: 'Pipelines' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toContain('Skip to the page');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate("document.activeElement.closest('main') !== null")).toBe(true);
    await context.close();
  });
});
