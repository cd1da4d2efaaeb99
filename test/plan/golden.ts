/** Golden texts: expected output lives in files; `REWRITE=1` writes them anew, for review with git diff. */
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

export const GOLDEN = join(import.meta.dirname, '../golden');

/** Names of the cases in a folder, without ending. */
export function goldenCases(folder: string, ending: string): string[] {
  return readdirSync(join(GOLDEN, folder))
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length))
    .sort();
}

export const readGolden = (folder: string, name: string): string =>
  readFileSync(join(GOLDEN, folder, name), 'utf8');

export function expectGolden(folder: string, name: string, actual: string): void {
  const path = join(GOLDEN, folder, name);
  if (process.env['REWRITE'] === '1') {
    writeFileSync(path, actual);
    return;
  }
  expect(existsSync(path), `${path} is missing; run with REWRITE=1 to write it`).toBe(true);
  expect(actual).toBe(readFileSync(path, 'utf8'));
}
