/** Every page there is, opened by its address: in both themes and on a phone, for everybody, and without leaving the machine. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  expectAccessible,
  expectContrast,
  expectNoSidewaysScroll,
  launchBrowser,
  openPage,
  type WatchedPage,
} from './browser.ts';
import { editorOf, reached, rowsOf, running, sendRows } from './console.ts';
import { DevServer } from './dev-server.ts';

/** It shows rows, writes files, and stumbles over one row. */
const QUERY = `CREATE TABLE events (id BIGINT NOT NULL, parts BIGINT NOT NULL) WITH (connector = 'http', format = 'json');
CREATE TABLE kept WITH (connector = 'r2', path = 'pages/kept', format = 'json', type = 'sink');
INSERT INTO kept SELECT id, 100 / parts AS share FROM events;
SELECT id, parts FROM events;`;

const known: Known = { pipeline: '', operator: '', table: '', fn: '' };

type Known = { pipeline: string; operator: string; table: string; fn: string };
type Address = (known: Known) => string;
type Case = [
  what: string,
  address: Address,
  heading: string | RegExp,
  shows: (page: Page) => Locator,
];

const tab =
  (name: string): Address =>
  ({ pipeline }) =>
    `/pipelines/${pipeline}/${name}`;

const NAME = 'every page';

const definitionIn = (page: Page): Locator => page.getByRole('textbox', { name: /^Definition/ });

const CASES: readonly Case[] = [
  [
    'the start',
    () => '/',
    /committed exactly once/,
    (page) => page.getByRole('link', { name: 'Card fraud' }),
  ],
  ['the list', () => '/pipelines', 'Pipelines', (page) => page.getByRole('link', { name: NAME })],
  ['an empty editor', () => '/pipelines/new', 'New pipeline', (page) => editorOf(page)],
  [
    'an example',
    () => '/pipelines/new?example=live-top-five',
    'Live top five',
    (page) => rowsOf(page).first(),
  ],
  [
    'a query to edit',
    ({ pipeline }) => `/pipelines/new?from=${pipeline}`,
    NAME,
    (page) => editorOf(page).getByText('kept').first(),
  ],
  [
    'a pipeline',
    ({ pipeline }) => `/pipelines/${pipeline}`,
    NAME,
    (page) =>
      page.getByRole('group', { name: /^Operators of / }).getByRole('button', { name: /^Source/ }),
  ],
  [
    'an operator',
    ({ pipeline, operator }) => `/pipelines/${pipeline}/overview?operator=${operator}`,
    NAME,
    (page) => page.getByRole('heading', { name: 'Subtasks' }),
  ],
  [
    'sending rows to it',
    tab('send'),
    NAME,
    (page) => page.getByRole('textbox', { name: /^Rows as JSON/ }),
  ],
  ['its output', tab('output'), NAME, (page) => page.getByRole('region', { name: 'Output' })],
  [
    'its lineage',
    tab('lineage'),
    NAME,
    (page) => page.getByRole('button', { name: /^epoch 1, fence/ }),
  ],
  [
    'an epoch',
    tab('lineage?node=e2'),
    NAME,
    (page) => page.getByRole('heading', { name: 'Epoch 2' }),
  ],
  [
    'its lineage as a table',
    tab('lineage?as=table'),
    NAME,
    (page) => page.getByRole('row', { name: /fence/ }).first(),
  ],
  [
    'its checkpoints',
    tab('checkpoints'),
    NAME,
    (page) => page.getByRole('row', { name: /committed/ }).first(),
  ],
  [
    'its errors',
    tab('errors'),
    NAME,
    (page) => page.getByRole('row', { name: /DIVISION_BY_ZERO/ }),
  ],
  [
    'its SQL',
    tab('sql'),
    NAME,
    (page) => page.getByRole('region', { name: 'The physical plan' }).getByText(/r2/),
  ],
  ['its sinks', tab('sinks'), NAME, (page) => page.getByText(/in the local bucket/)],
  [
    'one that is not there',
    () => '/pipelines/pl_none',
    'There is no such pipeline',
    (page) => page.getByRole('button', { name: 'All pipelines' }),
  ],
  [
    'sources and sinks',
    () => '/connections',
    'Sources & sinks',
    (page) => page.getByRole('link', { name: 'orders_in' }),
  ],
  [
    'connectors',
    () => '/connections/new',
    'New source or sink',
    (page) => page.getByRole('heading', { name: 'R2', exact: false }),
  ],
  [
    'a source to make',
    () => '/connections/new/http',
    /http/i,
    (page) => page.getByRole('textbox').first(),
  ],
  [
    'a sink to make',
    () => '/connections/new/r2',
    /r2/i,
    (page) => page.getByRole('textbox').first(),
  ],
  [
    'a stored table',
    ({ table }) => `/connections/tables/${table}`,
    'orders_in',
    (page) => page.getByRole('heading', { name: 'Stands for' }),
  ],
  ['a new function', () => '/functions', 'New function', (page) => definitionIn(page)],
  [
    'a function',
    ({ fn }) => `/functions/${fn}`,
    'louder',
    (page) => definitionIn(page).getByText('toUpperCase'),
  ],
];

let server: DevServer;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([DevServer.start(), launchBrowser()]);
  known.pipeline = await running(server, NAME, QUERY, { checkpoint_interval_micros: 600_000_000 });
  const rows = Array.from({ length: 40 }, (_, id) => ({ id, parts: id }));
  await sendRows(server, known.pipeline, 'events', rows, 'all');
  known.table = await stored('/api/v1/connection_tables', {
    name: 'orders_in',
    connector: 'http',
    table_type: 'source',
    config: {},
    schema: { fields: [{ name: 'id', type: 'int64', required: true }] },
  });
  known.fn = await stored('/api/v1/udfs', {
    definition:
      'CREATE FUNCTION louder(words TEXT) RETURNS TEXT LANGUAGE javascript AS $$ return words.toUpperCase(); $$',
  });
  const { sources } = (await answer(`/api/v1/pipelines/${known.pipeline}`)) as {
    sources: { operator_id: string }[];
  };
  known.operator = sources[0]?.operator_id ?? '';
  await reached(server, known.pipeline, ({ rows: seen }) => seen?.in === rows.length);
  for (const epoch of [2, 3]) {
    await answer(`/api/v1/pipelines/${known.pipeline}/checkpoint`, {});
    await reached(server, known.pipeline, ({ committed_epoch: committed }) => committed >= epoch);
  }
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

async function answer(path: string, body?: unknown): Promise<unknown> {
  const response = await server.fetch(
    path,
    body === undefined
      ? {}
      : {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        },
  );
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${text}`);
  return JSON.parse(text);
}

const stored = async (path: string, body: unknown): Promise<string> =>
  ((await answer(path, body)) as { id: string }).id;

/** The browser itself tells of every answer that is not there. */
const isExpected = (trouble: string): boolean => trouble.includes('/pipelines/pl_none');

async function open([, address, heading, shows]: Case, { page }: WatchedPage): Promise<void> {
  await page.goto(address(known));
  await page.getByRole('heading', { name: heading }).first().waitFor();
  await shows(page).first().waitFor();
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);
}

describe('by its address opens', () => {
  let wide: WatchedPage;
  let phone: WatchedPage;
  beforeAll(async () => {
    wide = await openPage(browser, server.url, { still: true });
    phone = await openPage(browser, server.url, { still: true, width: 390, height: 844 });
  });

  // Each page is opened in the theme that the one before it was left in.
  test.each(CASES)('%s, in both themes', async (...found) => {
    await open(found, wide);
    await wide.page.getByRole('button', { name: /^(Dark|Light)$/ }).click();
    await expectContrast(wide.page);
    expect(wide.takeTrouble().filter((one) => !isExpected(one))).toEqual([]);
  });

  test.each(CASES)('%s, on a phone', async (...found) => {
    await open(found, phone);
    expect(phone.takeTrouble().filter((one) => !isExpected(one))).toEqual([]);
  });
});
