/** The kernel `columns` as its callers see it, and how columns get in and out of its memory. */
import { kernel, type Kernel } from './kernels.ts';
import type { KernelMemory } from './kernel-memory.ts';

type Pointer = number;

/** One operand each as pointer and step, rows, where the result and the bits of rows without one go. */
type Int64Function = (
  a: Pointer,
  stepA: number,
  b: Pointer,
  stepB: number,
  rows: number,
  out: Pointer,
  hard: Pointer,
) => number;

export type ColumnsExports = {
  hashStream(from: Pointer, end: Pointer, lanes: Pointer): void;
  hashContent(from: Pointer, end: Pointer, lanes: Pointer): void;
  routeWords(words: Pointer, width: number, rows: number, out: Pointer): void;
  routeFloats(values: Pointer, rows: number, out: Pointer): void;
  routeText(offsets: Pointer, bytes: Pointer, rows: number, seed: number, out: Pointer): void;
  joinHashes(hashes: Pointer, next: Pointer, rows: number): void;
  hashNulls(validity: Pointer, rows: number, hash: number, out: Pointer): void;
  partition(
    hashes: Pointer,
    rows: number,
    lowers: Pointer,
    count: number,
    owners: Pointer,
    starts: Pointer,
    indices: Pointer,
  ): void;
  addInt64: Int64Function;
  subtractInt64: Int64Function;
  multiplyInt64: Int64Function;
  divideInt64: Int64Function;
  moduloInt64: Int64Function;
  multiplyDecimal(
    a: Pointer,
    stepA: number,
    b: Pointer,
    stepB: number,
    rows: number,
    limit: bigint,
    out: Pointer,
    hard: Pointer,
  ): number;
  scaleInt64(
    a: Pointer,
    rows: number,
    factor: bigint,
    limit: bigint,
    out: Pointer,
    hard: Pointer,
  ): number;
  compareInt64(values: Pointer, constant: bigint, rows: number, test: number, bits: Pointer): void;
  selectRows(bits: Pointer, present: Pointer, rows: number, out: Pointer): number;
  countRows(numbers: Pointer, rows: number, nulls: Pointer, counts: Pointer): void;
  sumInt64(numbers: Pointer, values: Pointer, rows: number, nulls: Pointer, sums: Pointer): void;
  extremeInt64(
    numbers: Pointer,
    values: Pointer,
    rows: number,
    nulls: Pointer,
    least: Pointer,
    greatest: Pointer,
  ): void;
  buildWords(
    keys: Pointer,
    width: number,
    rows: number,
    nulls: Pointer,
    slots: Pointer,
    slotCount: number,
    firsts: Pointer,
    numbers: Pointer,
  ): number;
  probeWords(
    keys: Pointer,
    width: number,
    slots: Pointer,
    slotCount: number,
    firsts: Pointer,
    others: Pointer,
    rows: number,
    nulls: Pointer,
    numbers: Pointer,
  ): void;
  buildText(
    offsets: Pointer,
    bytes: Pointer,
    rows: number,
    nulls: Pointer,
    slots: Pointer,
    slotCount: number,
    firsts: Pointer,
    numbers: Pointer,
  ): number;
  probeText(
    offsets: Pointer,
    bytes: Pointer,
    slots: Pointer,
    slotCount: number,
    firsts: Pointer,
    otherOffsets: Pointer,
    otherBytes: Pointer,
    rows: number,
    nulls: Pointer,
    numbers: Pointer,
  ): void;
  chainRows(numbers: Pointer, rows: number, count: number, heads: Pointer, next: Pointer): void;
  countPairs(
    numbers: Pointer,
    rows: number,
    built: Pointer,
    builtRows: number,
    sizes: Pointer,
    count: number,
  ): number;
  pairRows(
    numbers: Pointer,
    rows: number,
    heads: Pointer,
    next: Pointer,
    outBuilt: Pointer,
    outRows: Pointer,
  ): void;
};

export type ColumnsKernel = Kernel<ColumnsExports>;

/** The kernel with its memory empty, or null: take the twin. Nothing outlives the caller's own call. */
export function columnsKernel(): ColumnsKernel | null {
  const found = kernel<ColumnsExports>('columns');
  found?.memory.reset();
  return found;
}

/** Vectors read past the end of a buffer, and never into the next one. */
export const SLACK = 64;

export const reserveWords = (memory: KernelMemory, count: number): Pointer =>
  memory.reserve(4 * count + SLACK);

/** Copies the first `count` words in. */
export function putWords(memory: KernelMemory, words: Int32Array, count: number): Pointer {
  const pointer = reserveWords(memory, count);
  memory.words.set(words.length === count ? words : words.subarray(0, count), pointer >> 2);
  return pointer;
}

export function putBytes(memory: KernelMemory, bytes: Uint8Array, count: number): Pointer {
  const pointer = memory.reserve(count + SLACK);
  memory.bytes.set(bytes.length === count ? bytes : bytes.subarray(0, count), pointer);
  return pointer;
}

/** An empty bitmap of `rows` bits. */
export function reserveBits(memory: KernelMemory, rows: number): Pointer {
  const size = ((rows + 31) >> 5) * 4;
  const pointer = memory.reserve(size + SLACK);
  memory.bytes.fill(0, pointer, pointer + size);
  return pointer;
}

/** Copies `count` words out. */
export const wordsOut = (memory: KernelMemory, pointer: Pointer, count: number): Int32Array =>
  memory.words.slice(pointer >> 2, (pointer >> 2) + count);
