import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { HEALTH_CODES } from '../../src/api/observe/health-shapes.ts';

test('docs/health.md has a row for each code, in the order of weight', () => {
  const text = readFileSync('docs/health.md', 'utf8');
  const rows = [...text.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code]) => code);
  expect(rows).toEqual([...HEALTH_CODES]);
});
