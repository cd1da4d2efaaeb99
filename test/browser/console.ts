/** What a user of the console does, by the names that assistive technology reads out, and what a test needs of the server beside it. */
import type { Locator, Page } from 'playwright-core';
import type { JobView } from '../../src/cli/api-client.ts';
import { patiently, pause } from '../harness/thalweg.ts';
import type { DevServer } from './dev-server.ts';

/** Where SQL is written. */
export const editorOf = (page: Page): Locator => page.getByRole('textbox', { name: /^SQL\. / });

/** The lines of a text in sight. */
export const sqlIn = async (page: Page): Promise<string> =>
  (await editorOf(page).locator('.cm-line').allInnerTexts())
    .map((line) => line.trimEnd())
    .join('\n');

/** Replaces all of it, as pasting does. */
export async function writeSql(page: Page, text: string): Promise<void> {
  const editor = editorOf(page);
  await editor.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}

/** The rows in sight of a preview or a pipeline's output, without the head. */
export const rowsOf = (page: Page): Locator =>
  page
    .getByRole('table', { name: /^(Rows|Current rows) of / })
    .locator('[role=row]:not([aria-rowindex="1"])');

export async function writeDialogField(page: Page, label: string, text: string): Promise<void> {
  await page.getByRole('dialog').getByLabel(label).fill(text);
}

/** Chooses an entry of the menu that a button opens. */
export async function choose(
  page: Page,
  button: string | RegExp,
  entry: string | RegExp,
): Promise<void> {
  // A name that is given as a text is the whole name: "One more thing" is no menu.
  await page.getByRole('button', { name: button, exact: true }).click();
  await page.getByRole('menuitem', { name: entry }).click();
}

/** The id in the address of a pipeline's page. */
export function pipelineOf(page: Page): string {
  const id = /^\/pipelines\/(pl_[^/]+)/.exec(new URL(page.url()).pathname)?.[1];
  if (id === undefined) throw new Error(`no pipeline at ${page.url()}`);
  return id;
}

export async function reached(
  server: DevServer,
  id: string,
  holds: (job: JobView) => boolean,
): Promise<JobView> {
  for (const deadline = Date.now() + 60_000; ;) {
    const job = await patiently(() => server.api.job(id));
    if (holds(job)) return job;
    if (Date.now() > deadline) throw new Error(`it stays ${JSON.stringify(job)}`);
    await pause(100);
  }
}

/** A running pipeline that the page under test only looks at. */
export async function running(
  server: DevServer,
  name: string,
  query: string,
  more: Record<string, unknown> = {},
): Promise<string> {
  const { id } = await server.api.create({
    name,
    query,
    parallelism: 1,
    checkpoint_interval_micros: 1_000_000,
    ...more,
  });
  await reached(server, id, ({ state }) => state === 'Running');
  return id;
}

/** Posts rows to an http table until they are stored; the key makes each of them count once however often that is tried. */
export async function sendRows(
  server: DevServer,
  pipeline: string,
  table: string,
  rows: readonly unknown[],
  key: string,
): Promise<void> {
  await patiently(async () => {
    const response = await server.fetch(`/api/v1/pipelines/${pipeline}/tables/${table}/rows`, {
      method: 'POST',
      headers: { 'idempotency-key': key, 'content-type': 'application/x-ndjson' },
      body: rows.map((row) => JSON.stringify(row)).join('\n'),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`HTTP ${response.status}: ${text}`);
  }, 60_000);
}

/** Every line of the files that are committed under a prefix. */
export async function linesUnder(server: DevServer, prefix: string): Promise<string[]> {
  const lines: string[] = [];
  for (const { key } of await server.api.objects(prefix)) {
    const bytes = (await server.api.object(key)) ?? new Uint8Array();
    lines.push(
      ...new TextDecoder()
        .decode(bytes)
        .split('\n')
        .filter((line) => line !== ''),
    );
  }
  return lines;
}
