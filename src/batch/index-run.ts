/** Index lists that are nothing but a stretch of neighbours: what may be copied instead of gathered. */

/** The first of `indices` when they are first, first + 1, first + 2, …; otherwise -1. An empty list begins at 0. */
export function runStart(indices: Int32Array): number {
  if (indices.length === 0) return 0;
  const first = indices[0] as number;
  for (let at = 1; at < indices.length; at++) if (indices[at] !== first + at) return -1;
  return first;
}

/** Whether the first `count` numbers follow each other. */
export function isRun(numbers: Int32Array, count: number): boolean {
  const first = numbers[0] as number;
  if (count > 1 && numbers[count - 1] !== first + count - 1) return false;
  for (let at = 1; at < count; at++) if (numbers[at] !== first + at) return false;
  return true;
}

/** Elements at `indices`, `width` of them a value, as a copy; 0 where there are none. */
export function gatherWords(words: Int32Array, indices: Int32Array, width: number): Int32Array {
  const run = runStart(indices);
  const end = (run + indices.length) * width;
  if (run >= 0 && end <= words.length) return words.slice(run * width, end);
  const gathered = new Int32Array(indices.length * width);
  if (width === 1) {
    for (let at = 0; at < indices.length; at++)
      gathered[at] = words[indices[at] as number] as number;
    return gathered;
  }
  for (let at = 0; at < indices.length; at++) {
    const from = (indices[at] as number) * width;
    const to = at * width;
    for (let word = 0; word < width; word++) gathered[to + word] = words[from + word] as number;
  }
  return gathered;
}

/** Values at `indices` as a copy; NaN where there are none. */
export function gatherFloats(values: Float64Array, indices: Int32Array): Float64Array {
  const run = runStart(indices);
  const end = run + indices.length;
  if (run >= 0 && end <= values.length) return values.slice(run, end);
  const gathered = new Float64Array(indices.length);
  for (let at = 0; at < indices.length; at++)
    gathered[at] = values[indices[at] as number] as number;
  return gathered;
}
