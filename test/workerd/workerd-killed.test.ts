/** workerd may be killed again while another one is still starting: the runtime goes on trying to have one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Prng } from '../../src/base/prng.ts';
import { spawnRuntime } from '../../src/cli/runtime-process.ts';
import { pause } from '../harness/thalweg.ts';

test('a workerd that is killed again and again, also while it starts, is there in the end on the same address', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'thalweg-killed-'));
  const runtime = await spawnRuntime({ stateDir, onLog: () => undefined });
  const prng = new Prng('killed while starting');
  try {
    const answers = async (): Promise<number> => (await runtime.fetch('/api/v1/pipelines')).status;
    for (let round = 0; round < 2; round++) {
      for (let kill = 0; kill < 5; kill++) {
        await runtime.killWorkerd();
        // The moments are the point: before, while and after the next one starts.
        await pause(prng.below(120));
      }
      await expect
        .poll(() => answers().catch(() => 0), { timeout: 15_000, interval: 50 })
        .toBe(200);
      await runtime.runScheduled();
    }
  } finally {
    await runtime.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
});
