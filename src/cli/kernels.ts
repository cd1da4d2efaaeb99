/** The kernels in Node: read from disk and compiled here. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KERNEL_NAMES, useKernels } from '../kernels/kernels.ts';
import type { KernelModules } from '../kernels/kernels.ts';

/** Node compiles modules at run time; the types are those of Workers, which do not. */
const Module = WebAssembly.Module as unknown as new (bytes: Uint8Array) => WebAssembly.Module;

export const compiledKernel = (wasm: Uint8Array): WebAssembly.Module => new Module(wasm);

export function readKernels(): KernelModules {
  return Object.fromEntries(
    KERNEL_NAMES.map((name) => [
      name,
      compiledKernel(readFileSync(join(import.meta.dirname, `../kernels/${name}.wasm`))),
    ]),
  ) as KernelModules;
}

export const installKernels = (): void => useKernels(readKernels());
