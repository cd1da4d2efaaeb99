/**
 * The port to the kernels: compiled code for the few loops that decide how fast a pipeline is.
 *
 * A shell hands in the compiled modules once, before it does anything else (`platform/kernels.ts`,
 * `cli/kernels.ts`). Without them every caller takes the twin in TypeScript. Kernel and twin give
 * equal results, so which of them runs shows in nothing but speed. How to add a kernel: README.md.
 *
 * Invariants: a kernel holds nothing from one call of its user to the next that its user cannot
 * write again; whoever uses it holds it only within one synchronous call.
 */
import { assert } from '../base/assert.ts';
import { KernelMemory } from './kernel-memory.ts';

/** Each is `assembly/NAME.ts`, compiled to `NAME.wasm` by `npm run kernels`. */
export const KERNEL_NAMES = ['json', 'json-writer', 'columns', 'parquet'] as const;
export type KernelName = (typeof KERNEL_NAMES)[number];

export type KernelModules = Readonly<Record<KernelName, WebAssembly.Module>>;

export type Kernel<Exports> = {
  readonly exports: Exports;
  readonly memory: KernelMemory;
  /** Who wrote what lies in its memory now; another user writes its own first. */
  owner: unknown;
};

let modules: KernelModules | null = null;
const instances = new Map<KernelName, Kernel<unknown>>();

/** Takes compiled kernels into use; null: the twins, as it was in the beginning. */
export function useKernels(given: KernelModules | null): void {
  if (given === modules) return;
  modules = given;
  instances.clear();
}

/**
 * The kernel of that name, or null: take the twin. There is one instance and one memory for all
 * users, because each memory reserves gigabytes of addresses.
 */
export function kernel<Exports>(name: KernelName): Kernel<Exports> | null {
  if (modules === null) return null;
  let instance = instances.get(name);
  if (instance === undefined) {
    const { exports } = new WebAssembly.Instance(modules[name], {});
    const { memory, heapBase } = exports as {
      memory: WebAssembly.Memory;
      heapBase: () => number;
    };
    assert(memory instanceof WebAssembly.Memory, 'a kernel exports its memory');
    instance = { exports, memory: new KernelMemory(memory, heapBase()), owner: null };
    instances.set(name, instance);
  }
  return instance as Kernel<Exports>;
}
