/** Interaction scripts: `npx vitest run test/leader -u` rewrites the effects; review the difference. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { playScript } from '../harness/leader-script.ts';

const directory = join(import.meta.dirname, 'scripts');
const names = readdirSync(directory).filter((name) => name.endsWith('.txt'));

test('there are scripts', () => {
  expect(names.length).toBeGreaterThan(5);
});

test.each(names)('the leader plays %s as written', async (name) => {
  const path = join(directory, name);
  await expect(playScript(readFileSync(path, 'utf8'))).toMatchFileSnapshot(path);
});
