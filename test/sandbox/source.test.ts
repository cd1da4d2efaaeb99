import { expect, test } from 'vitest';
import { committedSandbox, sandboxSource } from '../../scripts/sandbox.ts';

test('the committed sandbox is what its sources are bundled to (npm run sandbox)', async () => {
  expect(await sandboxSource()).toBe(committedSandbox());
}, 30_000);
