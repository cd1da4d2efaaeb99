import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRuntime, type LocalRuntime } from '../../src/cli/local-runtime.ts';
import { isAlive } from '../../src/cli/processes.ts';
import { spawnRuntime } from '../../src/cli/runtime-process.ts';

/** A copy of the fixture, because the runtime keeps its builds beside the project it runs. */
const root = mkdtempSync(join(tmpdir(), 'thalweg-runtime-'));
cpSync(join(import.meta.dirname, 'fixture'), root, { recursive: true });
afterAll(() => rmSync(root, { recursive: true, force: true }));

let states = 0;
function newState(): string {
  states += 1;
  return join(root, `state-${states}`);
}

async function json(runtime: Pick<LocalRuntime, 'fetch'>, path: string): Promise<unknown> {
  return await (await runtime.fetch(path)).json();
}

async function echoFiles(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  return new Response(`${request.method} ${pathname}${search} ${await request.text()}`, {
    status: 201,
  });
}

describe('a runtime in this process', () => {
  let runtime: LocalRuntime;
  const stateDir = newState();
  beforeAll(async () => {
    runtime = await startRuntime({
      root,
      stateDir,
      testing: true,
      vars: { EXTRA: 'x' },
      localFiles: echoFiles,
    });
  });
  afterAll(async () => {
    await runtime.dispose();
  });

  test('serves the Worker under /api and the page elsewhere', async () => {
    expect(await json(runtime, '/api/count?a')).toBe(1);
    expect(await (await runtime.fetch('/')).text()).toContain('<title>fixture</title>');
  });

  test('says to the Worker that it is local, and passes variables on', async () => {
    expect(await json(runtime, '/api/vars')).toEqual(['1', '1', 'x']);
  });

  test('brought D1 to the schema, triggers included', async () => {
    expect(await json(runtime, '/api/insert')).toEqual([{ name: 'a' }]);
  });

  test('calls the scheduled handler with the cron of the configuration, and tells of its failure', async () => {
    await runtime.runScheduled();
    expect(await json(runtime, '/api/scheduled')).toEqual(['cron * * * * *']);
    const bucket = await runtime.r2();
    await bucket.put('refuse', '');
    await expect(runtime.runScheduled()).rejects.toMatchObject({ code: 'INTERNAL' });
    await bucket.delete('refuse');
  });

  test('lets the Worker reach local files, with a streamed body both ways', async () => {
    const answer = await runtime.fetch('/api/files', { method: 'POST', body: 'é'.repeat(300_000) });
    expect(answer.status).toBe(201);
    expect(await answer.text()).toBe(`PUT /some/path?x=1 ${'é'.repeat(300_000)}`);
  });

  test('refuses a second runtime on the same state and names the owner', async () => {
    await expect(startRuntime({ root, stateDir })).rejects.toMatchObject({
      code: 'STATE_IN_USE',
      message: `process ${process.pid} already runs on ${stateDir}`,
    });
  });

  test('takes a changed source in, and keeps address and state', async () => {
    const before = await json(runtime, '/api/count?reload');
    const path = join(root, 'src/worker.ts');
    const source = execFileSync('cat', [path], { encoding: 'utf8' });
    writeFileSync(path, source.replace("'not here'", "'nowhere'"));
    expect(await runtime.reload()).toBe(true);
    expect(await (await runtime.fetch('/api/absent')).text()).toBe('nowhere');
    expect(await json(runtime, '/api/count?reload')).toBe((before as number) + 1);
    writeFileSync(path, 'const a = ;');
    await expect(runtime.reload()).rejects.toMatchObject({ code: 'BUILD_FAILED' });
    expect(await (await runtime.fetch('/api/absent')).text()).toBe('nowhere');
    writeFileSync(path, source);
    await runtime.reload();
  });

  test('listens on another port when the preferred one is taken, and fails when it must be that one', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    const { port } = server.address() as AddressInfo;
    const other = await startRuntime({ root, stateDir: newState(), preferredPort: port });
    expect(Number(new URL(other.url).port)).not.toBe(port);
    expect(await json(other, '/api/count')).toBe(1);
    await other.dispose();
    await expect(startRuntime({ root, stateDir: newState(), port })).rejects.toMatchObject({
      code: 'RUNTIME_FAILED',
      message: `port ${port} on 127.0.0.1 is taken`,
    });
    server.close();
  });
});

test('state outlives an orderly end, and migrations are not applied twice', async () => {
  const stateDir = newState();
  for (const expected of [1, 2]) {
    const runtime = await startRuntime({ root, stateDir });
    expect(await json(runtime, '/api/count')).toBe(expected);
    expect(await json(runtime, '/api/insert')).toHaveLength(expected);
    await runtime.dispose();
  }
  expect(existsSync(join(stateDir, 'lock'))).toBe(false);
});

test('wrangler sees the migrations that the runtime applied as applied', async () => {
  const stateDir = newState();
  const runtime = await startRuntime({ root, stateDir });
  await runtime.dispose();
  const wrangler = join(import.meta.dirname, '../../node_modules/wrangler/bin/wrangler.js');
  const output = execFileSync(
    process.execPath,
    [wrangler, 'd1', 'migrations', 'list', 'fixture', '--local', '--persist-to', stateDir],
    {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, WRANGLER_SEND_METRICS: 'false', CI: '1' },
    },
  );
  expect(output).toContain('No migrations to apply');
});

describe('a runtime in a process of its own', () => {
  test('can be killed at once, all of it, and continues on its state', async () => {
    const stateDir = newState();
    for (const expected of [1, 2, 3]) {
      const runtime = await spawnRuntime({ root, stateDir, localFiles: echoFiles });
      expect(await json(runtime, '/api/count')).toBe(expected);
      expect((await runtime.fetch('/api/files', { method: 'POST', body: 'x' })).status).toBe(201);
      const workerd = runtime.workerdPid() as number;
      expect(isAlive(workerd)).toBe(true);
      await runtime.kill();
      expect([isAlive(runtime.pid), isAlive(workerd)]).toEqual([false, false]);
      await expect(runtime.fetch('/api/count')).rejects.toThrow();
    }
  });

  test('brings workerd back on the same address when only workerd is killed', async () => {
    const runtime = await spawnRuntime({ root, stateDir: newState() });
    expect(await json(runtime, '/api/count')).toBe(1);
    await runtime.killWorkerd();
    await expect
      .poll(() => json(runtime, '/api/count').catch(() => undefined), { timeout: 10_000 })
      .toBe(2);
    await runtime.runScheduled();
    await runtime.stop();
    expect(isAlive(runtime.pid)).toBe(false);
  });

  test('a workerd that outlived its Node does not keep the next one from the state', async () => {
    const stateDir = newState();
    const runtime = await spawnRuntime({ root, stateDir });
    expect(await json(runtime, '/api/count')).toBe(1);
    process.kill(runtime.pid, 'SIGKILL');
    await runtime.exited;
    const next = await spawnRuntime({ root, stateDir });
    expect(await json(next, '/api/count')).toBe(2);
    await next.stop();
  });

  test('says why it did not start', async () => {
    const broken = join(root, 'broken');
    cpSync(join(import.meta.dirname, 'fixture'), broken, { recursive: true });
    writeFileSync(join(broken, 'src/worker.ts'), 'const a = ;');
    await expect(spawnRuntime({ root: broken, stateDir: newState() })).rejects.toMatchObject({
      code: 'BUILD_FAILED',
      report: { detail: 'src/worker.ts:1:11: Unexpected ";"' },
    });
  });
});
