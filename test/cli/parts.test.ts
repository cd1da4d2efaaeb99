import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { EngineError } from '../../src/base/errors.ts';
import { startCronTicker } from '../../src/cli/cron-ticker.ts';
import { serveLocalFiles, TOKEN_HEADER } from '../../src/cli/local-files-server.ts';
import { probePort, usablePort } from '../../src/cli/ports.ts';
import { explainStartupFailure } from '../../src/cli/startup-failure.ts';
import { lockState } from '../../src/cli/state-lock.ts';
import { isRuntimeChatter } from '../../src/cli/terminal.ts';

describe('the cron clock', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test('ticks at its start and at each full minute, and not after it is closed', async () => {
    vi.useFakeTimers({ now: new Date('2026-01-01T00:00:40Z') });
    const at: number[] = [];
    const ticker = startCronTicker(
      async () => void at.push(new Date().getSeconds()),
      (error) => {
        throw error;
      },
    );
    await vi.advanceTimersByTimeAsync(19_999);
    expect(at).toEqual([40]);
    await vi.advanceTimersByTimeAsync(120_001);
    expect(at).toEqual([40, 0, 0, 0]);
    ticker.close();
    await vi.advanceTimersByTimeAsync(300_000);
    expect(at).toHaveLength(4);
  });

  test('does not start a tick while one runs, tells of one that fails, and goes on', async () => {
    vi.useFakeTimers({ now: 0 });
    let started = 0;
    const errors: unknown[] = [];
    const tick = async (): Promise<void> => {
      started += 1;
      await new Promise((resolve) => setTimeout(resolve, 130_000));
      throw new Error(`tick ${started}`);
    };
    const ticker = startCronTicker(tick, (error) => errors.push(String(error)));
    await vi.advanceTimersByTimeAsync(125_000);
    expect([started, errors]).toEqual([1, []]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([started, errors]).toEqual([2, ['Error: tick 1']]);
    ticker.close();
  });
});

describe('local files', () => {
  test('answers only who knows the token, and a failure of the handler is a 500', async () => {
    const server = await serveLocalFiles(async (request) => {
      if (request.url.endsWith('/bad')) throw new Error('cannot read it');
      expect(request.headers.get(TOKEN_HEADER)).toBeNull();
      return new Response(`${request.method} ${new URL(request.url).pathname}`, {
        headers: { etag: '"1"' },
      });
    });
    const url = `http://${server.address}`;
    const headers = { [TOKEN_HEADER]: server.token };
    expect((await fetch(`${url}/a`)).status).toBe(403);
    const good = await fetch(`${url}/a`, { headers });
    expect([await good.text(), good.headers.get('etag')]).toEqual(['GET /a', '"1"']);
    const bad = await fetch(`${url}/bad`, { headers });
    expect([bad.status, await bad.text()]).toEqual([500, 'cannot read it']);
    await server.close();
  });
});

describe('the port', () => {
  test('a port in use is passed over for a free one', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    const { port } = server.address() as AddressInfo;
    expect(await probePort('127.0.0.1', port)).toBeUndefined();
    expect(await usablePort('127.0.0.1', port)).not.toBe(port);
    await new Promise((resolve) => server.close(resolve));
    expect(await usablePort('127.0.0.1', port)).toBe(port);
  });
});

describe('why the runtime did not start', () => {
  const failure = (message: string, code: string): EngineError =>
    explainStartupFailure(Object.assign(new Error(message), { code }), '127.0.0.1', 8787);

  test.each([
    [
      'a missing library',
      'Runtime stderr:\nerror while loading shared libraries: libc++.so.1',
      'ERR_RUNTIME_FAILURE',
    ],
    [
      'a macOS that is too old',
      'Runtime stderr:\ndyld[1]: Symbol not found: _abc',
      'ERR_RUNTIME_FAILURE',
    ],
  ])('%s names the machine and the ways out', (_, message, code) => {
    const { report } = failure(message, code);
    expect(report.message).toContain('cannot start on this machine');
    expect(report.detail).toBe(message.replace('Runtime stderr:\n', ''));
    expect(report.hint).toContain('docker run');
  });

  test('a workerd that just ended is no reason to speak of another machine', () => {
    for (const [message, code] of [
      ['write EPIPE', 'EPIPE'],
      ['Attempted to use poisoned stub', 'ERR_RUNTIME_FAILURE'],
    ] as const) {
      const { report } = failure(message, code);
      expect(report.detail).toBe(message);
      expect(report.hint).toContain('npm run doctor');
    }
  });

  test('a refused Worker says what workerd said, out of its JSON', () => {
    const { report } = failure(
      'The Workers runtime failed to start. There was likely a problem.\nRuntime stderr:\n{"level":"error","message":"no such export"}\n    at f (x.js:1:1)',
      'ERR_RUNTIME_FAILURE',
    );
    expect(report.message).toContain('refuses the Worker');
    expect(report.detail).toBe('no such export');
  });

  test('an error that says all of it already stays as it is', () => {
    const known = new EngineError('BUILD_FAILED', 'the Worker does not build');
    expect(explainStartupFailure(known, '127.0.0.1', 1)).toBe(known);
  });
});

describe('the lock of a state directory', () => {
  const directory = mkdtempSync(join(tmpdir(), 'thalweg-lock-'));
  afterEach(() => rmSync(join(directory, 'lock'), { force: true }));

  test('is held once, and free again when given back', async () => {
    const unlock = await lockState(directory);
    await expect(lockState(directory)).rejects.toMatchObject({ code: 'STATE_IN_USE' });
    unlock();
    (await lockState(directory))();
  });

  test.each([
    ['a process that is gone', '999999999'],
    ['nobody readable', ''],
    ['an earlier process with our number', String(process.pid)],
  ])('left behind by %s does not hold', async (_, content) => {
    writeFileSync(join(directory, 'lock'), `${content}\n`);
    (await lockState(directory))();
  });

  test('of a live process holds', async () => {
    writeFileSync(join(directory, 'lock'), `${process.ppid}\n`);
    await expect(lockState(directory)).rejects.toMatchObject({ code: 'STATE_IN_USE' });
  });
});

describe("workerd's log", () => {
  test('what workerd marks as its own business is not shown, errors are', () => {
    expect(
      isRuntimeChatter(
        'NOSENTRY SQLite alarm handler canceled with requestScheduledAlarm.; scheduledTime = 1s',
      ),
    ).toBe(true);
    expect(isRuntimeChatter('Uncaught Error: NOSENTRY is only a word here')).toBe(false);
  });
});
