/** The command lines of the benchmarks, and what their runs leave behind. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { sweep } from '../../bench/leftovers.ts';
import {
  chosen,
  mustBeWritable,
  parsed,
  refuseSwallowed,
  wholeNumber,
} from '../../bench/options.ts';

const directory = mkdtempSync(join(tmpdir(), 'thalweg-options-'));
afterAll(() => rmSync(directory, { recursive: true }));

describe('the options of benchmarks', () => {
  const declared = { rows: { type: 'string' }, dry: { type: 'boolean' } } as const;

  test('are refused when they are unknown, incomplete or given twice, and the usage is told', () => {
    expect(parsed(['--rows', '7', '--dry'], declared, 'usage')).toEqual({ rows: '7', dry: true });
    for (const wrong of [['--row', '7'], ['--rows'], ['--rows=1', '--rows=2'], ['7']])
      expect(() => parsed(wrong, declared, 'the usage')).toThrow('the usage');
  });

  test('name known things, each once', () => {
    expect(chosen('job', 'b, a,b', ['a', 'b', 'c'], '')).toEqual(['b', 'a']);
    expect(chosen('job', undefined, ['a', 'b'], '')).toEqual(['a', 'b']);
    for (const wrong of ['', 'a,', 'd'])
      expect(() => chosen('job', wrong, ['a'], '')).toThrow('there is no job');
  });

  test('are whole numbers of at least 1', () => {
    expect(wholeNumber('rows', '1e3', '')).toBe(1000);
    for (const wrong of ['', ' ', '0', '-1', '1.5', 'x', '1e300', 'NaN'])
      expect(() => wholeNumber('rows', wrong, '')).toThrow('--rows');
  });

  test('that npm keeps for itself are told, also the one that it completes', () => {
    const names = ['rows', 'dry'];
    expect(() => refuseSwallowed(names, 'bench', { npm_config_rows: 'true' })).toThrow('-- --rows');
    expect(() => refuseSwallowed(names, 'bench', { npm_config_dry_run: 'true' })).toThrow('--dry');
    refuseSwallowed(names, 'bench', { npm_config_json: 'true', npm_config_cache: '' });
  });

  test('name files that can be written, which is known before anything is measured', () => {
    mustBeWritable(join(directory, 'results.json'));
    expect(existsSync(join(directory, 'results.json'))).toBe(false);
    expect(() => mustBeWritable(join(directory, 'absent/results.json'))).toThrow('no folder');
    expect(() => mustBeWritable(directory)).toThrow('is a folder');
  });
});

test('what killed runs left is removed; what running ones use, and data, is not', () => {
  const work = join(directory, 'work');
  // No system gives such a number to a process.
  const gone = 2 ** 30;
  const running = process.ppid;
  const kept = ['build', 'nexmark-2-100', `run-${process.pid}`, `run-${running}`, 'run-x'];
  const left = [`run-${gone}`, `nexmark-2-100.${gone}`, `run-${gone}-thalweg.capnp`];
  for (const name of [...kept, ...left]) mkdirSync(join(work, name), { recursive: true });
  expect(sweep([work, join(work, 'absent')])).toEqual([running]);
  expect(readdirSync(work).toSorted()).toEqual(kept.toSorted());
});
