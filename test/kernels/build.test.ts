import { readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { compileKernel, wasmPath } from '../../scripts/kernels.ts';
import { readKernels } from '../../src/cli/kernels.ts';
import { KERNEL_NAMES, kernel, useKernels } from '../../src/kernels/kernels.ts';

afterEach(() => useKernels(null));

test.each(KERNEL_NAMES)(
  'the committed %s.wasm is what its sources compile to (npm run kernels)',
  async (name) => {
    const built = await compileKernel(name);
    expect(Buffer.compare(built, readFileSync(wasmPath(name)))).toBe(0);
  },
  60_000,
);

test.each(KERNEL_NAMES)('%s.wasm imports nothing and exports its memory', (name) => {
  const module = readKernels()[name];
  expect(WebAssembly.Module.imports(module)).toEqual([]);
  const names = WebAssembly.Module.exports(module).map((each) => each.name);
  expect(names).toContain('memory');
  expect(names.filter((each) => each.startsWith('__'))).toEqual([]);
});

test('without modules every caller is sent to its twin, and with them all share one instance', () => {
  expect(kernel('json')).toBeNull();
  useKernels(readKernels());
  const first = kernel('json');
  expect(first).not.toBeNull();
  expect(kernel('json')).toBe(first);
  useKernels(null);
  expect(kernel('json')).toBeNull();
});

test('memory is given out without overlap, keeps its content when it grows, and renews its views', () => {
  useKernels(readKernels());
  const { memory } = kernel('json')!;
  memory.reset();
  const first = memory.reserve(1001);
  const second = memory.reserve(16);
  expect(first % 16).toBe(0);
  expect(second % 16).toBe(0);
  expect(second).toBeGreaterThanOrEqual(first + 1001);
  memory.bytes[first] = 77;
  const { generation, bytes } = memory;
  const big = memory.reserve(3_000_000);
  expect(memory.generation).toBe(generation + 1);
  expect(bytes.length, 'the old view is detached').toBe(0);
  expect(memory.bytes[first]).toBe(77);
  memory.bytesAt(big, 3_000_000).fill(1);
  expect(memory.words[(big + 4096) >> 2]).toBe(0x01010101);
  expect(memory.bytes[first]).toBe(77);
  memory.reset();
  expect(memory.reserve(8)).toBe(first);
});
