/**
 * Entry file of the kernel `columns`: loops over columns that have been decoded. Everything exported here is exported by
 * columns.wasm.
 *
 * Each function reads and writes what its arguments point at and keeps nothing. Buffers are read up to 16 bytes past
 * their end.
 */
import { hashContent, hashStream } from './columns-bytes.ts';
import { hashNulls, joinHashes, partition, routeFloats, routeText, routeWords } from './columns-hash.ts';
import {
  addInt64,
  compareInt64,
  countRows,
  divideInt64,
  extremeInt64,
  moduloInt64,
  multiplyDecimal,
  multiplyInt64,
  scaleInt64,
  selectRows,
  subtractInt64,
  sumInt64,
} from './columns-numbers.ts';
import {
  buildText,
  buildWords,
  chainRows,
  countPairs,
  pairRows,
  probeText,
  probeWords,
} from './columns-table.ts';

export {
  hashContent,
  hashStream,
  hashNulls,
  joinHashes,
  partition,
  routeFloats,
  routeText,
  routeWords,
  addInt64,
  compareInt64,
  countRows,
  divideInt64,
  extremeInt64,
  moduloInt64,
  multiplyDecimal,
  multiplyInt64,
  scaleInt64,
  selectRows,
  subtractInt64,
  sumInt64,
  buildText,
  buildWords,
  chainRows,
  countPairs,
  pairRows,
  probeText,
  probeWords,
};

/** Where memory is free from. */
export function heapBase(): usize {
  return __heap_base;
}
