/** Deleting a pipeline takes away its own records, and nothing that a sink has committed. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Thalweg } from '../harness/thalweg.ts';

const QUERY = `
CREATE TABLE clicks (page TEXT NOT NULL) WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE pages WITH (connector = 'r2', path = 'clicks/pages', format = 'json', type = 'sink');
INSERT INTO pages SELECT page FROM clicks;
`;

let thalweg: Thalweg;
beforeAll(async () => {
  thalweg = await Thalweg.start();
});
afterAll(async () => {
  await thalweg.close();
});

const request = async (method: string, path: string, body?: unknown): Promise<Response> =>
  await thalweg.fetch(`/api/v1${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });

test('files under a path that begins with the id of a pipeline outlive that pipeline', async () => {
  const body = { name: 'clicks', query: QUERY, checkpoint_interval_micros: 1_000_000 };
  expect((await request('PUT', '/pipelines/clicks', body)).status).toBe(200);
  await thalweg.waitForJob('clicks', (job) => job.state === 'Running');
  await thalweg.send('clicks', 'clicks', [{ page: '/' }, { page: '/docs' }], 'first');
  const committed = await thalweg.waitForLines('clicks/pages/', 2);
  const { id: jobId } = await thalweg.api.job('clicks');
  expect((await thalweg.api.objects(`clicks/${jobId}/`)).length).toBeGreaterThan(0);

  await request('PATCH', '/pipelines/clicks', { stop: 'checkpoint' });
  await thalweg.waitForJob('clicks', (job) => job.state === 'Stopped');
  expect((await request('DELETE', '/pipelines/clicks')).status).toBe(200);
  await expect
    .poll(async () => (await thalweg.api.objects(`clicks/${jobId}/`)).length, { timeout: 10_000 })
    .toBe(0);
  expect(await thalweg.lines('clicks/')).toEqual(committed);
});
