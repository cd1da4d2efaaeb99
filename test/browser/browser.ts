/**
 * A real Chromium on a real console: the dev server as a newcomer starts it, and pages that notice what goes wrong on them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

const USUAL_PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** `CHROMIUM` names one; otherwise where systems put it. */
export function chromiumPath(): string {
  const named = process.env['CHROMIUM'];
  const found = named ?? USUAL_PLACES.find((path) => existsSync(path));
  if (found === undefined || !existsSync(found))
    throw new Error(
      'there is no Chromium: install it (Debian: apt-get install chromium), or name it in CHROMIUM',
    );
  return found;
}

export async function launchBrowser(): Promise<Browser> {
  return await chromium.launch({
    executablePath: chromiumPath(),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-dev-shm-usage',
    ],
  });
}

export type WatchedPage = {
  page: Page;
  context: BrowserContext;
  /** Errors of the page and of its console, and requests that left the local server, since the last look. */
  takeTrouble(): string[];
};

type PageOptions = {
  width?: number;
  height?: number;
  theme?: 'dark' | 'light';
  /** For who wants no motion: nothing is found half faded in. */
  still?: boolean;
};

/** A page of its own context: nothing is kept in its storage from another. */
export async function openPage(
  browser: Browser,
  origin: string,
  { width = 1440, height = 900, theme = 'dark', still = false }: PageOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({
    baseURL: origin,
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: still ? 'reduce' : 'no-preference',
    locale: 'en-GB',
    timezoneId: 'Europe/Zurich',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  let trouble: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      trouble.push(`console ${message.type()}: ${message.text()} (${message.location().url})`);
  });
  page.on('pageerror', (error) => trouble.push(`page error: ${error.message}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && url.protocol.startsWith('http'))
      trouble.push(`left the local server: ${request.url()}`);
  });
  return {
    page,
    context,
    takeTrouble: () => {
      const taken = trouble;
      trouble = [];
      return taken;
    },
  };
}

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
);

type AxeResult = {
  violations: {
    id: string;
    impact: string;
    help: string;
    nodes: { html: string; failureSummary: string }[];
  }[];
};

const EVERYTHING = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
};
const CONTRAST = { type: 'rule', values: ['color-contrast'] };

/** What axe finds of WCAG 2.2 A and AA that is serious or critical, one line each. */
async function seriousFindings(page: Page, runOnly: typeof EVERYTHING): Promise<string[]> {
  await page.evaluate(axeSource);
  const result = (await page.evaluate(
    `axe.run(document, ${JSON.stringify({ runOnly })})`,
  )) as AxeResult;
  return result.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html}\n${failureSummary}`),
    );
}

export async function expectAccessible(page: Page): Promise<void> {
  expect(await seriousFindings(page, EVERYTHING)).toEqual([]);
}

/** All that can differ once a page was looked at in the other theme. */
export async function expectContrast(page: Page): Promise<void> {
  const moving = (): Promise<number> =>
    page.evaluate(
      "document.getAnimations().filter((one) => one instanceof CSSTransition && one.playState === 'running').length",
    );
  await expect.poll(moving, { timeout: 5_000 }).toBe(0);
  expect(await seriousFindings(page, CONTRAST)).toEqual([]);
}

/** Nothing sticks out at the side: the page can be read without scrolling sideways. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const over = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  expect(over, 'pixels that stick out').toBeLessThanOrEqual(0);
}
