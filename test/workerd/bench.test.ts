/** `npm run bench` in miniature: Thalweg in workerd and plain Node over 2,000 bids give equal answers and figures. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Compared } from '../../bench/compare.ts';
import { ROOT } from '../harness/project-files.ts';

const directory = mkdtempSync(join(tmpdir(), 'thalweg-bench-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** It shares two cores with whatever else runs. */
const timeout = 180_000;

test('a small run measures each engine that was asked for, and they agree', { timeout }, () => {
  const json = join(directory, 'results.json');
  const jobs = ['tumble', 'ndjson-sink', 'state', 'scaling'];
  const choice = `--rows 2000 --runs 1 --engines thalweg,twins,node --jobs ${jobs.join(',')}`;
  const printed = execFileSync(
    process.execPath,
    ['bench/main.ts', ...choice.split(' '), '--dry', '--json', json],
    { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const results = JSON.parse(readFileSync(json, 'utf8')) as Compared[];
  expect(results.map(({ job, engine }) => `${job} ${engine}`)).toEqual([
    'tumble thalweg',
    'tumble twins',
    'tumble node',
    'ndjson-sink thalweg',
    'state thalweg',
    'scaling thalweg',
  ]);
  expect(results.filter(({ failure }) => failure !== null)).toEqual([]);
  for (const { rowsPerSecond, peakRssBytes, runs } of results) {
    expect(rowsPerSecond).toBeGreaterThan(0);
    expect(peakRssBytes).toBeGreaterThan(1_000_000);
    expect(runs).toBe(1);
  }
  expect(printed).toContain('| tumble: count and mean price by auction, tumble 10 s | 2,000 |');
});

test(
  'a run that is stopped leaves no process and no file of its own behind',
  { timeout },
  async () => {
    const choice = '--rows 2000 --runs 1000000 --engines thalweg,node --jobs tumble --dry';
    const run = spawn(process.execPath, ['bench/main.ts', ...choice.split(' ')], {
      cwd: ROOT,
      stdio: 'ignore',
    });
    const own = join(ROOT, '.thalweg/bench', `run-${run.pid}`);
    const children = (): number[] => {
      try {
        const text = execFileSync('pgrep', ['-P', String(run.pid)], { encoding: 'utf8' });
        return text.trim().split('\n').map(Number);
      } catch {
        return [];
      }
    };
    const exited = once(run, 'exit');
    await expect
      .poll(() => existsSync(join(own, 'node')) && children().length >= 2, { timeout: 120_000 })
      .toBe(true);
    const measured = children();
    run.kill('SIGTERM');
    expect(await exited).toEqual([143, null]);
    expect(existsSync(own)).toBe(false);
    const alive = (): number[] =>
      measured.filter((pid) => {
        try {
          return process.kill(pid, 0);
        } catch {
          return false;
        }
      });
    await expect.poll(alive, { timeout: 10_000 }).toEqual([]);
  },
);
