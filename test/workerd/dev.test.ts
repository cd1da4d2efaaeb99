import { spawn, type ChildProcess } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const root = mkdtempSync(join(tmpdir(), 'thalweg-dev-'));
cpSync(join(import.meta.dirname, 'fixture'), root, { recursive: true });
afterAll(() => rmSync(root, { recursive: true, force: true }));

const program = join(import.meta.dirname, '../../bin/thalweg.mjs');

type Started = {
  child: ChildProcess;
  stdout: () => string;
  stderr: () => string;
  ended: Promise<number | null>;
};

function thalweg(argv: readonly string[], env: Record<string, string> = {}): Started {
  const child = spawn(process.execPath, [program, ...argv], {
    cwd: root,
    // A group of its own, which a test can signal as a terminal does.
    detached: true,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)));
  return { child, stdout: () => stdout, stderr: () => stderr, ended };
}

function urlOf(stdout: string): string {
  return /Console +(\S+)\//.exec(stdout)?.[1] ?? '';
}

async function readyDev(argv: readonly string[] = []): Promise<Started & { url: string }> {
  const started = thalweg(['dev', '--root', root, ...argv]);
  await expect.poll(started.stdout, { timeout: 20_000 }).toMatch(/^State/m);
  return { ...started, url: urlOf(started.stdout()) };
}

async function get(url: string): Promise<unknown> {
  return await (await fetch(url)).json();
}

test('dev prints three lines, calls cron at its start, takes in changes, and Ctrl-C ends it cleanly', async () => {
  const dev = await readyDev();
  expect(dev.stdout()).toMatch(
    /^API {6}http:\/\/127\.0\.0\.1:\d+\/api\/v1\nConsole {2}http:\/\/127\.0\.0\.1:\d+\/\nState {4}\.thalweg\/state\n$/,
  );
  await expect
    .poll(() => get(`${dev.url}/api/scheduled`), { timeout: 5000 })
    .toEqual(['cron * * * * *']);
  expect(await get(`${dev.url}/api/count`)).toBe(1);
  writeFileSync(join(root, 'src/extra.ts'), '');
  const source = join(root, 'src/worker.ts');
  writeFileSync(source, 'const a = ;');
  await expect.poll(dev.stderr, { timeout: 5000 }).toContain('BUILD_FAILED');
  expect(await get(`${dev.url}/api/count`)).toBe(2);
  cpSync(join(import.meta.dirname, 'fixture/src/worker.ts'), source);
  dev.child.kill('SIGINT');
  // A parent that passes the signal on makes it arrive twice.
  dev.child.kill('SIGINT');
  expect(await dev.ended).toBe(0);
  expect(existsSync(join(root, '.thalweg/state/lock'))).toBe(false);
});

test('Ctrl-C that ends workerd in the middle of a cron call is a clean end, not a failure', async () => {
  const source = join(root, 'src/worker.ts');
  const fixture = readFileSync(join(import.meta.dirname, 'fixture/src/worker.ts'), 'utf8');
  const slow = fixture.replace(
    'async scheduled(controller, env) {',
    '$& await scheduler.wait(20_000);',
  );
  expect(slow).not.toBe(fixture);
  writeFileSync(source, slow);
  const dev = await readyDev(['--state', join(root, 'slow')]);
  await new Promise((resolve) => setTimeout(resolve, 500));
  process.kill(-(dev.child.pid as number), 'SIGINT');
  expect(await dev.ended).toBe(0);
  expect(dev.stderr()).toBe('');
  writeFileSync(source, fixture);
});

test.each([300, 1_000, 1_700, 2_400, 3_200])(
  'Ctrl-C %d ms after the start, while everything is being started, is a clean end',
  async (afterMs) => {
    const started = thalweg(['dev', '--root', root, '--state', join(root, 'interrupted')]);
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    process.kill(-(started.child.pid ?? 0), 'SIGINT');
    const code = await started.ended;
    expect(started.stderr()).toBe('');
    // Before it listens for the signal Node itself ends, without an exit code.
    const running = started.stdout().includes('State');
    expect(running ? [0] : [130, null]).toContain(code);
  },
);

test('dev keeps its state until --reset', async () => {
  const stateDir = join(root, 'kept');
  const counts: unknown[] = [];
  for (const argv of [[], [], ['--reset']]) {
    const dev = await readyDev(['--state', stateDir, ...argv]);
    counts.push(await get(`${dev.url}/api/count`));
    dev.child.kill('SIGTERM');
    expect(await dev.ended).toBe(0);
  }
  expect(counts).toEqual([1, 2, 1]);
});

test('dev on a machine where workerd cannot start says why and what to do, without a stack trace', async () => {
  const stub = join(root, 'workerd-stub.sh');
  const said = "libc.so.6: version `GLIBC_2.35' not found (required by workerd)";
  writeFileSync(
    stub,
    `#!/bin/sh\ncat >/dev/null <<'END'\nEND\necho "${said.replace('`', '\\`')}" >&2\nexit 1\n`,
  );
  chmodSync(stub, 0o755);
  const startedAt = performance.now();
  const dev = thalweg(['dev', '--root', root, '--state', join(root, 'none')], {
    MINIFLARE_WORKERD_PATH: stub,
  });
  expect(await dev.ended).toBe(1);
  expect(performance.now() - startedAt).toBeLessThan(5000);
  expect(dev.stderr()).toContain(said);
  expect(dev.stderr()).toContain('macOS 13.5');
  expect(dev.stderr()).toContain('docker run');
  expect(dev.stderr()).toContain('wrangler deploy');
  expect(dev.stderr()).not.toMatch(/^\s+at /m);
  const doctor = thalweg(['doctor'], { MINIFLARE_WORKERD_PATH: stub });
  expect(await doctor.ended).toBe(1);
  expect(doctor.stdout()).toMatch(
    /^ok {4}Node .*\nfail {2}workerd .*GLIBC_2\.35.*\n(ok|warn) .*port.*\n(ok|warn) .*disk.*\n$/,
  );
});

test('a command line that means nothing says what would', async () => {
  const unknown = thalweg(['devv']);
  expect(await unknown.ended).toBe(1);
  expect(unknown.stderr()).toContain('there is no command "devv"');
  const option = thalweg(['dev', '--prot', '1']);
  expect(await option.ended).toBe(1);
  expect(option.stderr()).toContain('--port N');
  const port = thalweg(['dev', '--port', '70000']);
  expect(await port.ended).toBe(1);
  expect(port.stderr()).toContain('--port 70000 is not a port');
});
