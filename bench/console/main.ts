/** `npm run bench:console`: measures the console in a real Chromium on this machine and writes it into docs/console.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser } from 'playwright-core';
import { withSection } from '../../scripts/docs.ts';
import { chromiumPath, launchBrowser, openPage } from '../../test/browser/browser.ts';
import { rowsOf, running } from '../../test/browser/console.ts';
import { DevServer } from '../../test/browser/dev-server.ts';
import {
  interactionDelays,
  longestTask,
  watchLongTasks,
} from '../../test/browser/responsiveness.ts';
import { mustBeWritable, parsed, refuseSwallowed } from '../options.ts';
import { machine } from '../product/report.ts';
import { summarise } from '../product/statistics.ts';
import { type Bundles, measureBundles } from './bundles.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const DOCUMENT = join(ROOT, 'docs/console.md');
const PAINT_RUNS = 5;
const START_RUNS = 3;
const TAIL_MS = 15_000;

const TAIL = `CREATE TABLE ticks WITH (connector = 'impulse', event_rate = '5000');
SELECT counter, CAST(counter AS BIGINT) * 2 AS twice, 'row ' || CAST(counter AS TEXT) AS words FROM ticks;`;

/** Settles when the browser has told it. */
const FIRST_PAINT = `new Promise((told) =>
  new PerformanceObserver((list) => {
    for (const { name, startTime } of list.getEntries())
      if (name === 'first-contentful-paint') told(startTime);
  }).observe({ type: 'paint', buffered: true }),
)`;

type Found = {
  bundles: Bundles;
  /** First contentful paint of the start page, and of an example in the editor. */
  paintMs: { start: number[]; editor: number[] };
  /** From the command to the first row on screen, and from the click on an example. */
  firstRowMs: { command: number[]; click: number[] };
  tail: { rows: number; seconds: number; delays: number[]; longestTask: number };
};

async function firstPaints(browser: Browser, url: string, path: string): Promise<number[]> {
  const paints: number[] = [];
  for (let run = 0; run < PAINT_RUNS; run++) {
    const { page, context } = await openPage(browser, url);
    await page.goto(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    paints.push(await page.evaluate(FIRST_PAINT));
    await context.close();
  }
  return paints;
}

/** With a browser that is open already, as a newcomer has one; the state is fresh each time. */
async function firstRow(browser: Browser): Promise<{ command: number; click: number }> {
  const commandMs = performance.now();
  const server = await DevServer.start();
  const { page, context } = await openPage(browser, server.url);
  await page.goto('/');
  const example = page.getByRole('link', { name: 'Shop clicks per minute' });
  await example.waitFor();
  const clickMs = performance.now();
  await example.click();
  await rowsOf(page).first().waitFor();
  const now = performance.now();
  await context.close();
  await server.close();
  return { command: now - commandMs, click: now - clickMs };
}

async function tail(browser: Browser, server: DevServer): Promise<Found['tail']> {
  const pipeline = await running(server, 'a fast one', TAIL);
  const { page, context } = await openPage(browser, server.url);
  await page.goto(`/pipelines/${pipeline}/output`);
  await rowsOf(page).first().waitFor();
  await watchLongTasks(page);
  const came = async (): Promise<number> =>
    Number((await page.getByText(/^[\d,]+ rows$/).innerText()).replace(/\D/g, ''));
  const before = await came();
  const beganMs = performance.now();
  while (performance.now() - beganMs < TAIL_MS) {
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('searchbox').pressSequentially('77');
    await page.getByText(/^[\d,]+ match$/).waitFor();
    await page.getByRole('searchbox').fill('');
    await page.getByRole('button', { name: /^Follow/ }).click();
  }
  const found = {
    rows: (await came()) - before,
    seconds: (performance.now() - beganMs) / 1000,
    delays: await interactionDelays(page),
    longestTask: await longestTask(page),
  };
  await context.close();
  return found;
}

async function measure(): Promise<Found> {
  const bundles = await measureBundles(ROOT);
  const browser = await launchBrowser();
  const firstRowMs: Found['firstRowMs'] = { command: [], click: [] };
  // The first start builds the console; that is a cost of an update, not of a start.
  await (await DevServer.start()).close();
  for (let run = 0; run < START_RUNS; run++) {
    const { command, click } = await firstRow(browser);
    firstRowMs.command.push(command);
    firstRowMs.click.push(click);
  }
  const server = await DevServer.start();
  try {
    const paintMs = {
      start: await firstPaints(browser, server.url, '/'),
      editor: await firstPaints(browser, server.url, '/pipelines/new?example=shop-clicks'),
    };
    return { bundles, paintMs, firstRowMs, tail: await tail(browser, server) };
  } finally {
    await browser.close();
    await server.close();
  }
}

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;

const milliseconds = (values: readonly number[]): string => {
  const { median, min, max, runs } = summarise(values);
  return `${Math.round(median)} ms (${Math.round(min)} to ${Math.round(max)}, ${runs} runs)`;
};

function told({ bundles, paintMs, firstRowMs, tail: under }: Found): string {
  const { delays, longestTask: longest } = under;
  const worst = Math.max(0, ...delays);
  const lines = [
    `\`npm run bench:console\`, ${new Date().toISOString().slice(0, 10)}, ${machine()}, one-minute load ${loadavg()[0]?.toFixed(1)}.`,
    '',
    '| measured | |',
    '|---|---|',
    `| first paint with content, start page | ${milliseconds(paintMs.start)} |`,
    `| first paint with content, an example in the editor | ${milliseconds(paintMs.editor)} |`,
    `| from \`npm run dev\` to the first row on screen, an example clicked as soon as it is there | ${milliseconds(firstRowMs.command)} |`,
    `| from the click on the example to that row | ${milliseconds(firstRowMs.click)} |`,
    `| a tail of ${Math.round(under.rows / under.seconds).toLocaleString('en-US')} rows a second: longest of ${delays.length} interactions (pause, search, follow), from the key or click to the frame that shows it | ${worst === 0 ? 'below 16' : Math.round(worst)} ms |`,
    `| the same: longest task of the page | ${longest === 0 ? 'below 50' : Math.round(longest)} ms |`,
    '',
    '| loaded, gzip | with the page | later, when a part is shown |',
    '|---|--:|--:|',
    `| start page, with all that every page needs | ${kilobytes(bundles.initialBytes)} | |`,
    ...bundles.pages
      .filter(({ page }) => !page.includes('/start/'))
      .map(
        ({ page, bytes, laterBytes }) =>
          `| ${page.replace(/^pages\//, '').replace(/(\/page|-page)?\.tsx$/, '')} | + ${kilobytes(bytes)} | ${laterBytes === 0 ? '' : `+ ${kilobytes(laterBytes)}`} |`,
      ),
    '',
    `Parts that pages share are counted with each. The two fonts add ${kilobytes(bundles.fontBytes)} (Latin).`,
  ];
  return lines.join('\n');
}

const USAGE = `npm run bench:console -- [--dry]
  --dry  leave docs/console.md as it is`;

async function main(): Promise<void> {
  refuseSwallowed(['dry'], 'bench:console', process.env);
  const declared = {
    dry: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  } as const;
  const { dry, help } = parsed(process.argv.slice(2), declared, USAGE);
  if (help) return void process.stdout.write(`${USAGE}\n`);
  if (!dry) mustBeWritable(DOCUMENT);
  chromiumPath();
  const text = told(await measure());
  process.stdout.write(`${text}\n`);
  if (dry) return;
  const changed = withSection(readFileSync(DOCUMENT, 'utf8'), 'measured', text);
  if (changed === undefined) throw new Error(`${DOCUMENT} has no place for what was measured`);
  writeFileSync(DOCUMENT, changed);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
