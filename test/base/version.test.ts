import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { VERSION } from '../../src/base/version.ts';

test('the version that the API tells is that of the package', () => {
  const text = readFileSync(resolve(import.meta.dirname, '../../package.json'), 'utf8');
  expect(VERSION).toBe((JSON.parse(text) as { version: string }).version);
});
