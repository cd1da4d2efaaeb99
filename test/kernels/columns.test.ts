/** The kernel `columns` against its twins, on values where sums wrap, keys collide and texts end early; and faults planted in it. */
import { afterAll, describe, expect, test } from 'vitest';
import { compileKernel } from '../../scripts/kernels.ts';
import type { Column, Int64Column } from '../../src/batch/column.ts';
import { splitRows } from '../../src/batch/partition.ts';
import { hashRows } from '../../src/batch/row-hash.ts';
import { decimalType, FLOAT64, INT32, INT64, TEXT, TIMESTAMP } from '../../src/batch/types.ts';
import type { SqlType } from '../../src/batch/types.ts';
import { columnFromValues, valueAt, type Value } from '../../src/batch/values.ts';
import { readKernels } from '../../src/cli/kernels.ts';
import { foldInt64 } from '../../src/expr/aggregates/fold-int64.ts';
import { castColumn } from '../../src/expr/cast.ts';
import { functionById } from '../../src/expr/registry.ts';
import { RowErrors } from '../../src/expr/row-errors.ts';
import { selectRows } from '../../src/expr/select.ts';
import { kernel, useKernels } from '../../src/kernels/kernels.ts';
import { routeRows, splitRowsFast } from '../../src/kernels/route-rows.ts';
import { contentHash } from '../../src/lineage/content-hash.ts';
import { StreamHash } from '../../src/lineage/stream-hash.ts';
import { numberRows, pairRows, type KeyedRows } from '../../src/state/row-numbers.ts';

const committed = readKernels();
afterAll(() => useKernels(null));

/** Draws by a seed that is the same in every run. */
class Draw {
  #state = 0x2545f491;

  below(bound: number): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) % bound;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }
}

const POWERS = [0n, 31n, 32n, 51n, 53n, 62n, 63n].map((power) => 2n ** power);
const EDGES = POWERS.flatMap((power) => [power - 1n, power, power + 1n]).flatMap((x) => [x, -x]);
const FITTING = EDGES.filter((x) => x >= -(2n ** 63n) && x < 2n ** 63n);
const TEXTS = ['', 'a', 'b', 'ab', 'abc', 'abd', 'seven b', 'eight by', 'nine byte', 'nine bytf'];
const LONGER = ['fifteen bytes..', 'sixteen bytes ..', 'sixteen bytes .!', 'seventeen bytes ..'];
const LONGEST = [
  'a text of forty bytes, give or take some',
  'a text of forty bytes, give or take same',
];

function value(draw: Draw, type: SqlType): Value {
  switch (type.tag) {
    case 'int32':
      return draw.pick([-2147483648, -1, 0, 1, 2147483647, draw.below(40)]);
    case 'float64':
      return draw.pick([NaN, -0, 0, 1.5, -Infinity, 1e300]);
    case 'text':
      return draw.pick([...TEXTS, ...LONGER, ...LONGEST]);
    case 'decimal': {
      const unscaled =
        draw.below(4) > 0
          ? BigInt(draw.below(2000) - 1000)
          : draw.pick(FITTING) * draw.pick([1n, 4n, 5n, 7n]);
      const digits = `${unscaled < 0n ? -unscaled : unscaled}`.padStart(3, '0');
      return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
    }
    default:
      return draw.below(2) === 0 ? BigInt(draw.below(60) - 20) : draw.pick(FITTING);
  }
}

function column(draw: Draw, type: SqlType, rows: number, nulls: boolean): Column {
  return columnFromValues(
    type,
    Array.from({ length: rows }, () => (nulls && draw.below(8) === 0 ? null : value(draw, type))),
  );
}

const valuesOf = (given: Column, rows: number): Value[] =>
  Array.from({ length: rows }, (_, row) => valueAt(given, given.length === 1 ? 0 : row));

/** What `run` gives with the kernel of `modules` is what it gives without. */
function agree(modules: typeof committed, run: () => unknown): void {
  useKernels(null);
  const wanted = run();
  useKernels(modules);
  expect(run()).toEqual(wanted);
}

const DECIMAL = decimalType(30, 2);
const BINARY: [string, SqlType, SqlType][] = [
  ...['add', 'subtract', 'multiply', 'divide', 'modulo'].map((name): [string, SqlType, SqlType] => [
    `${name}:int64`,
    INT64,
    INT64,
  ]),
  ['multiply:decimal', DECIMAL, decimalType(38, 4)],
  ['multiply:decimal', decimalType(9, 2), decimalType(10, 4)],
  ...['equal', 'not-equal', 'less', 'less-equal', 'greater', 'greater-equal'].map(
    (name): [string, SqlType, SqlType] => [name, INT64, { tag: 'boolean' }],
  ),
];

function checkNumbers(modules: typeof committed, draw: Draw): void {
  for (const [fn, type, result] of BINARY) {
    const rows = 64 + draw.below(60);
    const narrow = type.tag === 'decimal' && type.precision === 9;
    const full = (): Column =>
      narrow
        ? columnFromValues(
            type,
            Array.from({ length: rows }, () =>
              draw.pick(['100000.00', `${draw.below(9999999)}.25`]),
            ),
          )
        : column(draw, type, rows, draw.below(2) === 0);
    const one = (): Column =>
      narrow
        ? columnFromValues(type, [draw.pick(['10.00', '7.10'])])
        : column(draw, type, 1, false);
    for (const args of [
      [full(), full()],
      [full(), one()],
      [one(), full()],
    ]) {
      agree(modules, () => {
        const errors = new RowErrors(rows);
        const found = functionById(fn).evaluate(args, rows, errors, result);
        return [valuesOf(found, rows), errors.list];
      });
    }
  }
}

function checkCastsAndSelections(modules: typeof committed, draw: Draw): void {
  const rows = 64 + draw.below(60);
  const input = column(draw, INT64, rows, draw.below(2) === 0);
  for (const target of [decimalType(19, 0), decimalType(12, 3), decimalType(38, 18)]) {
    agree(modules, () => {
      const errors = new RowErrors(rows);
      return [valuesOf(castColumn(input, target, false, errors), rows), errors.list];
    });
  }
  const bits = Uint8Array.from({ length: 16 }, () => draw.below(256) & draw.below(256));
  const present = Uint8Array.from({ length: 16 }, () => draw.below(256));
  for (const mask of [null, present]) {
    agree(modules, () => {
      const out = new Int32Array(rows);
      return [...out.subarray(0, selectRows(bits, mask, rows, out)), ...out];
    });
  }
}

function checkRouting(modules: typeof committed, draw: Draw): void {
  const rows = 64 + draw.below(100);
  const types = [INT32, INT64, TIMESTAMP, FLOAT64, DECIMAL, TEXT, { tag: 'boolean' } as const];
  const nulls = draw.below(2) === 0;
  const columns = Array.from({ length: 1 + draw.below(3) }, () => {
    const type = draw.pick(types);
    if (type.tag !== 'boolean') return column(draw, type, rows, nulls);
    return columnFromValues(
      type,
      Array.from({ length: rows }, () => draw.below(2) === 0),
    );
  });
  useKernels(modules);
  const hashes = new Uint32Array(rows);
  const wanted = new Uint32Array(rows);
  routeRows(columns, rows, hashes);
  hashRows(columns, rows, wanted);
  expect(hashes).toEqual(wanted);
  for (let edge = 0; edge < 20; edge++)
    hashes[draw.below(rows)] = Math.floor((draw.below(8) * 4294967296) / 7) - draw.below(2);
  for (const count of [1, 2, 3, 7, 64])
    expect(splitRowsFast(hashes, rows, count)).toEqual(splitRows(hashes, rows, count));
}

/** Two words that the kernel's table hashes to one value, whatever the first is. */
function collidingKey(low: number): bigint {
  let hash = Math.imul(low, 0x9e3779b1);
  hash ^= hash >>> 15;
  return BigInt.asIntN(64, (BigInt(hash >>> 0) << 32n) | BigInt(low >>> 0));
}

/** The inverse of the factor of the kernel's hash of text, modulo 2^64. */
function inverse(factor: bigint): bigint {
  let found = factor;
  for (let turn = 0; turn < 6; turn++) found = BigInt.asUintN(64, found * (2n - factor * found));
  return found;
}

/** Texts of 8, 16, 24 or 40 bytes, all of one hash: the last 8 bytes undo what the others have made of it. */
function collidingTexts(draw: Draw, rows: number): Column {
  const factor = 0x9fb21c651e98df25n;
  const bytes = new DataView(new ArrayBuffer(rows * 40 + 64));
  const offsets = new Int32Array(rows + 1);
  for (let row = 0; row < rows; row++) {
    const start = offsets[row] as number;
    const size = draw.pick([8, 16, 24, 40]);
    let hash = BigInt.asUintN(64, BigInt(size) * 0x9e3779b97f4a7c15n);
    for (let at = 0; at < size - 8; at += 8) {
      const word = BigInt(draw.below(2));
      bytes.setBigUint64(start + at, word, true);
      hash = BigInt.asUintN(64, (hash ^ word) * factor);
      hash ^= hash >> 32n;
    }
    const both = BigInt(draw.below(3));
    const last = BigInt.asUintN(64, ((both << 32n) | both) * inverse(factor)) ^ hash;
    bytes.setBigUint64(start + size - 8, last, true);
    offsets[row + 1] = start + size;
  }
  const validity = null;
  return {
    tag: 'text',
    type: TEXT,
    length: rows,
    validity,
    offsets,
    bytes: new Uint8Array(bytes.buffer),
  };
}

function checkCollisions(modules: typeof committed, draw: Draw): void {
  const rows = 64 + draw.below(100);
  const keys = Array.from({ length: rows }, () => collidingKey(draw.below(30)));
  const ids = columnFromValues(INT64, keys);
  for (const columns of [[ids], [collidingTexts(draw, rows)], [ids, collidingTexts(draw, rows)]]) {
    agree(modules, () => numberRows({ rows, columns }));
    agree(modules, () => pairRows({ rows, columns }, { rows, columns }));
  }
}

function checkRows(modules: typeof committed, draw: Draw): void {
  const types = [INT32, INT64, TIMESTAMP, DECIMAL, TEXT];
  const keys = Array.from({ length: 1 + draw.below(3) }, () => draw.pick(types));
  const nulls = draw.below(2) === 0;
  const side = (): KeyedRows => {
    const rows = 64 + draw.below(100);
    return { rows, columns: keys.map((type) => column(draw, type, rows, nulls)) };
  };
  const [left, right] = [side(), side()];
  agree(modules, () => numberRows(left));
  agree(modules, () => pairRows(left, right));
  const numbers = Int32Array.from({ length: left.rows }, () => draw.below(9) - 1);
  const values = column(draw, INT64, left.rows, nulls) as Int64Column;
  agree(modules, () => foldInt64(numbers, 8, values, left.rows));
}

function checkHashes(modules: typeof committed, draw: Draw): void {
  const bytes = Uint8Array.from({ length: draw.pick([511, 512, 2000, 70_000]) }, () =>
    draw.below(256),
  );
  const cut = draw.below(bytes.length);
  agree(modules, () => {
    const hash = new StreamHash();
    hash.update(bytes.subarray(0, cut));
    hash.update(bytes.subarray(cut));
    return [hash.digest(), contentHash(bytes), contentHash(bytes.subarray(cut))];
  });
}

function check(modules: typeof committed, rounds: number): void {
  const draw = new Draw();
  const ofBytes = new Draw();
  for (let round = 0; round < rounds; round++) {
    checkNumbers(modules, draw);
    checkCastsAndSelections(modules, draw);
    checkRouting(modules, draw);
    checkRows(modules, draw);
    checkCollisions(modules, draw);
    checkHashes(modules, ofBytes);
  }
}

test('arithmetic, comparisons, routes, numbers and pairs of rows are those of the twins', () => {
  check(committed, 30);
  expect(kernel('columns'), 'the kernel was in use').not.toBeNull();
}, 60_000);

test('a column of thousands of keys has its numbers, and pairs multiply', () => {
  useKernels(committed);
  const many = Array.from({ length: 3000 }, (_, at) => collidingKey(at % 1500));
  const rows = { rows: 3000, columns: [columnFromValues(INT64, many)] };
  expect(numberRows(rows).firsts).toHaveLength(1500);
  expect(pairRows(rows, rows).left).toHaveLength(6000);
});

/** A fault each in one fast path: what stands in the sources, and what replaces it. */
const FAULTS: [string, string, string][] = [
  ['an overflow of a sum goes unseen', '((x ^ sum) & (y ^ sum)) < 0', '((x ^ sum) & (x ^ y)) < 0'],
  [
    'an overflow of a difference goes unseen',
    '((x ^ y) & (x ^ difference)) < 0',
    '((x ^ y) & (y ^ x) & difference) < 0',
  ],
  ['factors of 33 bits count as 32', '<i64>(<i32>x) == x', '<i64>(<i32>(x >> 8)) == x >> 8'],
  [
    'the least number times -1 passes',
    'if (x == -1) return y == i64.MIN_VALUE;',
    'if (x == -1) return false;',
  ],
  [
    'quotients are near up to 2^52',
    'const NEAR: i64 = 0x8000000000000',
    'const NEAR: i64 = 0x10000000000000',
  ],
  [
    'a decimal of 65 bits is narrow',
    'load<i64>(at, 8) == load<i64>(at) >> 63',
    'load<i64>(at, 8) >> 1 == load<i64>(at) >> 63',
  ],
  [
    '10^precision itself fits',
    'product >= limit || product <= -limit',
    'product > limit || product < -limit',
  ],
  ['rows behind the last are selected', 'if (left < 32) set &=', 'if (left < 16) set &='],
  ['a lane of a hash of bytes is turned too far', 'shl(mixed, 13)', 'shl(mixed, 14)'],
  ['lanes of a content hash do not meet', 'rotl<u32>(h4, 13) + h1', 'rotl<u32>(h4, 13) + h2'],
  ['a carry of a sum is lost', '+ <i64>(after < before)', ''],
  ['-0 hashes as itself', 'reinterpret<u64>(value + 0)', 'reinterpret<u64>(value)'],
  [
    'the tail of a text has a byte too many',
    '((<u32>1 << (rest << 3)) - 1)',
    '((<u32>1 << ((rest << 3) | 8)) - 1)',
  ],
  [
    'a hash at the end of a range goes to it',
    'hash >= load<u32>(lowers',
    'hash > load<u32>(lowers',
  ],
  [
    'equal hashes are equal keys',
    'if (load<u32>(left + at) != load<u32>(right + at)) return false;',
    '',
  ],
  [
    'long texts are compared without their end',
    'v128.xor(v128.load(left + size - 16), v128.load(right + size - 16))',
    'v128.xor(v128.load(left), v128.load(right))',
  ],
  ['short texts are compared with what follows', '(8 - rest) << 3', '(7 - rest) << 3'],
  [
    'rows with NULL are paired',
    'return nulls != 0 && load<u8>(nulls + row) != 0;',
    'return false;',
  ],
  [
    'lists of equal keys end early',
    'store<i32>(next + at, load<i32>(head));',
    'store<i32>(next + at, -1);',
  ],
];

describe('a fault in the kernel is found', () => {
  test.each(FAULTS)(
    '%s',
    async (_, from, to) => {
      let changed = 0;
      const wasm = await compileKernel('columns', {
        optimizeLevel: 0,
        change: (path, text) => {
          if (!path.includes('columns') || !text.includes(from)) return text;
          changed++;
          return text.replaceAll(from, () => to);
        },
      });
      expect(changed, 'the sources have the text').toBeGreaterThan(0);
      const Module = WebAssembly.Module as unknown as new (bytes: Uint8Array) => WebAssembly.Module;
      const modules = { ...committed, columns: new Module(wasm) };
      expect(() => check(modules, 30)).toThrow();
    },
    60_000,
  );
});
