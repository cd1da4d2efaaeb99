import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bundleWorker } from '../../src/cli/bundle.ts';

/** The smallest WebAssembly module: magic and version. */
const EMPTY_WASM = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'thalweg-bundle-'));
  mkdirSync(join(root, 'src'));
  writeFileSync(
    join(root, 'src/worker.ts'),
    "import { a } from './a.ts';\nexport const b: number = a;\n",
  );
  writeFileSync(join(root, 'src/a.ts'), 'export const a = 1;\n');
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

test('a second build without a change builds nothing', async () => {
  expect((await bundleWorker({ root })).fresh).toBe(true);
  expect((await bundleWorker({ root })).fresh).toBe(false);
});

test('a change of content builds anew, a rewrite of the same content does not', async () => {
  await bundleWorker({ root });
  writeFileSync(join(root, 'src/a.ts'), 'export const a = 1;\n');
  expect((await bundleWorker({ root })).fresh).toBe(false);
  writeFileSync(join(root, 'src/a.ts'), 'export const a = 2;\n');
  expect((await bundleWorker({ root })).fresh).toBe(true);
});

test('another lockfile builds anew', async () => {
  await bundleWorker({ root });
  writeFileSync(join(root, 'package-lock.json'), '{}');
  expect((await bundleWorker({ root })).fresh).toBe(true);
});

test('a file that vanished is an error and not the earlier build', async () => {
  await bundleWorker({ root });
  rmSync(join(root, 'src/a.ts'));
  await expect(bundleWorker({ root })).rejects.toMatchObject({ code: 'BUILD_FAILED' });
});

test('WebAssembly stays a module of its own, named by its content', async () => {
  writeFileSync(join(root, 'src/k.wasm'), EMPTY_WASM);
  writeFileSync(
    join(root, 'src/worker.ts'),
    "import k from './k.wasm';\nexport const module = k;\n",
  );
  const { modules } = await bundleWorker({ root });
  expect(modules.map(({ type }) => type)).toEqual(['ESModule', 'CompiledWasm']);
  expect(basename(modules[1]?.path ?? '')).toMatch(/^[0-9a-f]{12}-k\.wasm$/);
  writeFileSync(join(root, 'src/k.wasm'), new Uint8Array([...EMPTY_WASM, 0, 1, 0]));
  const changed = await bundleWorker({ root });
  expect(changed.fresh).toBe(true);
  expect(changed.modules[1]?.path).not.toBe(modules[1]?.path);
});

test('an error of the build says file, line and column', async () => {
  writeFileSync(join(root, 'src/a.ts'), 'export const a =\n  1 +;\n');
  await expect(bundleWorker({ root })).rejects.toMatchObject({
    code: 'BUILD_FAILED',
    report: { detail: 'src/a.ts:2:6: Unexpected ";"' },
  });
});
