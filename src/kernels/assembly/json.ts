/** Entry file of the kernel `json`: everything exported here is exported by json.wasm. */

/** Where memory is free from: below lie the constants of this file. */
export function heapBase(): usize {
  return __heap_base;
}
