/**
 * Arithmetic and comparison of 64-bit whole numbers, and of decimals that fit them.
 *
 * An operand's step is 0 for a constant, else the bytes from one value to the next. A row that has no result here, because
 * of overflow, a zero divisor or a decimal wider than 64 bits, gets a bit in `hard`; what lies in its place means nothing.
 * Each function returns the number of such rows.
 */

// @ts-ignore: decorator
@inline
function mark(bits: usize, row: u32): void {
  const at = bits + (row >> 3);
  store<u8>(at, load<u8>(at) | <u8>(<u32>1 << (row & 7)));
}

export function addInt64(a: usize, stepA: usize, b: usize, stepB: usize, rows: u32, out: usize, hard: usize): u32 {
  let count: u32 = 0;
  for (let row: u32 = 0; row < rows; row++) {
    const x = load<i64>(a + stepA * row);
    const y = load<i64>(b + stepB * row);
    const sum = x + y;
    store<i64>(out + ((<usize>row) << 3), sum);
    if (((x ^ sum) & (y ^ sum)) < 0) {
      mark(hard, row);
      count++;
    }
  }
  return count;
}

export function subtractInt64(a: usize, stepA: usize, b: usize, stepB: usize, rows: u32, out: usize, hard: usize): u32 {
  let count: u32 = 0;
  for (let row: u32 = 0; row < rows; row++) {
    const x = load<i64>(a + stepA * row);
    const y = load<i64>(b + stepB * row);
    const difference = x - y;
    store<i64>(out + ((<usize>row) << 3), difference);
    if (((x ^ y) & (x ^ difference)) < 0) {
      mark(hard, row);
      count++;
    }
  }
  return count;
}

/** Whether the product wraps; the quotient is computed only when a factor has more than 32 bits. */
// @ts-ignore: decorator
@inline
function wraps(x: i64, y: i64, product: i64): bool {
  if (<i64>(<i32>x) == x && <i64>(<i32>y) == y) return false;
  if (x == 0) return false;
  if (x == -1) return y == i64.MIN_VALUE;
  return product / x != y;
}

export function multiplyInt64(a: usize, stepA: usize, b: usize, stepB: usize, rows: u32, out: usize, hard: usize): u32 {
  let count: u32 = 0;
  for (let row: u32 = 0; row < rows; row++) {
    const x = load<i64>(a + stepA * row);
    const y = load<i64>(b + stepB * row);
    const product = x * y;
    store<i64>(out + ((<usize>row) << 3), product);
    if (wraps(x, y, product)) {
      mark(hard, row);
      count++;
    }
  }
  return count;
}

/**
 * Inside ±2^51 the quotient of doubles never rounds up to the next integer, and dividing them is faster. Adding MAGIC
 * leaves an integral double in the low bits of its sum, which costs less than the conversions of the machine.
 */
const NEAR: i64 = 0x8000000000000;
const MAGIC: f64 = 6755399441055744;
const MAGIC_BITS: i64 = 0x4338000000000000;

// @ts-ignore: decorator
@inline
function isNear(x: i64): bool {
  return <u64>(x + NEAR) < <u64>(2 * NEAR);
}

// @ts-ignore: decorator
@inline
function asDouble(x: i64): f64 {
  return reinterpret<f64>(x + MAGIC_BITS) - MAGIC;
}

// @ts-ignore: decorator
@inline
function nearQuotient(x: i64, y: i64): i64 {
  return reinterpret<i64>(trunc<f64>(asDouble(x) / asDouble(y)) + MAGIC) - MAGIC_BITS;
}

export function divideInt64(a: usize, stepA: usize, b: usize, stepB: usize, rows: u32, out: usize, hard: usize): u32 {
  let count: u32 = 0;
  for (let row: u32 = 0; row < rows; row++) {
    const x = load<i64>(a + stepA * row);
    const y = load<i64>(b + stepB * row);
    let quotient: i64 = 0;
    if (y == 0 || (y == -1 && x == i64.MIN_VALUE)) {
      mark(hard, row);
      count++;
    } else if (isNear(x) && isNear(y)) quotient = nearQuotient(x, y);
    else quotient = x / y;
    store<i64>(out + ((<usize>row) << 3), quotient);
  }
  return count;
}

export function moduloInt64(a: usize, stepA: usize, b: usize, stepB: usize, rows: u32, out: usize, hard: usize): u32 {
  let count: u32 = 0;
  for (let row: u32 = 0; row < rows; row++) {
    const x = load<i64>(a + stepA * row);
    const y = load<i64>(b + stepB * row);
    let remainder: i64 = 0;
    if (y == 0) {
      mark(hard, row);
      count++;
    } else if (isNear(x) && isNear(y)) remainder = x - nearQuotient(x, y) * y;
    else remainder = x % y;
    store<i64>(out + ((<usize>row) << 3), remainder);
  }
  return count;
}

/** Whether a decimal at `at` is its lower 64 bits. */
// @ts-ignore: decorator
@inline
function isNarrow(at: usize): bool {
  return load<i64>(at, 8) == load<i64>(at) >> 63;
}

/** Products of decimals of at most 64 bits; `limit` is 10^precision, or 0 when every product of 64 bits has few enough digits. */
export function multiplyDecimal(a: usize, stepA: usize, b: usize, stepB: usize, rows: u32, limit: i64, out: usize, hard: usize): u32 {
  let count: u32 = 0;
  for (let row: u32 = 0; row < rows; row++) {
    const left = a + stepA * row;
    const right = b + stepB * row;
    const x = load<i64>(left);
    const y = load<i64>(right);
    const product = x * y;
    const to = out + ((<usize>row) << 4);
    store<i64>(to, product);
    store<i64>(to, product >> 63, 8);
    if (
      !isNarrow(left) ||
      !isNarrow(right) ||
      wraps(x, y, product) ||
      (limit != 0 && (product >= limit || product <= -limit))
    ) {
      mark(hard, row);
      count++;
    }
  }
  return count;
}

/** Whole numbers as decimals of `factor` more units; `limit` as above. */
export function scaleInt64(a: usize, rows: u32, factor: i64, limit: i64, out: usize, hard: usize): u32 {
  let count: u32 = 0;
  for (let row: u32 = 0; row < rows; row++) {
    const x = load<i64>(a + ((<usize>row) << 3));
    const product = x * factor;
    const to = out + ((<usize>row) << 4);
    store<i64>(to, product);
    store<i64>(to, product >> 63, 8);
    if (wraps(factor, x, product) || (limit != 0 && (product >= limit || product <= -limit))) {
      mark(hard, row);
      count++;
    }
  }
  return count;
}

/** Bits of the rows where a value is less than a constant (`test` 0), greater (1) or equal (2); writes whole bytes of 16 rows. */
export function compareInt64(values: usize, constant: i64, rows: u32, test: u32, bits: usize): void {
  const other = i64x2.splat(constant);
  for (let row: u32 = 0; row < rows; row += 8) {
    const at = values + ((<usize>row) << 3);
    let set: i32 = 0;
    for (let pair: u32 = 0; pair < 4; pair++) {
      const two = v128.load(at + (pair << 4));
      const holds = test == 0 ? i64x2.lt_s(two, other) : test == 1 ? i64x2.gt_s(two, other) : i64x2.eq(two, other);
      set |= i64x2.bitmask(holds) << (pair << 1);
    }
    store<u8>(bits + (row >> 3), <u8>set);
  }
}

/** The rows whose bit is set, ascending; the number of them. `present` is a bitmap of the same length or 0. */
export function selectRows(bits: usize, present: usize, rows: u32, out: usize): u32 {
  let to = out;
  for (let base: u32 = 0; base < rows; base += 32) {
    let set = load<u32>(bits + (base >> 3));
    if (present != 0) set &= load<u32>(present + (base >> 3));
    const left = rows - base;
    if (left < 32) set &= (<u32>1 << left) - 1;
    while (set != 0) {
      store<u32>(to, base + ctz<u32>(set));
      to += 4;
      set &= set - 1;
    }
  }
  return <u32>((to - out) >> 2);
}

/** Exact sums by number: 128 bits each; a row with a negative number or a byte in `nulls` counts nowhere. */
export function sumInt64(numbers: usize, values: usize, rows: u32, nulls: usize, sums: usize): void {
  for (let row: u32 = 0; row < rows; row++) {
    const number = load<i32>(numbers + ((<usize>row) << 2));
    if (number < 0 || (nulls != 0 && load<u8>(nulls + row) != 0)) continue;
    const value = load<i64>(values + ((<usize>row) << 3));
    const at = sums + ((<usize>number) << 4);
    const before = load<u64>(at);
    const after = before + <u64>value;
    store<u64>(at, after);
    store<i64>(at, load<i64>(at, 8) + (value >> 63) + <i64>(after < before), 8);
  }
}

/** Rows by number. */
export function countRows(numbers: usize, rows: u32, nulls: usize, counts: usize): void {
  for (let row: u32 = 0; row < rows; row++) {
    const number = load<i32>(numbers + ((<usize>row) << 2));
    if (number < 0 || (nulls != 0 && load<u8>(nulls + row) != 0)) continue;
    const at = counts + ((<usize>number) << 2);
    store<u32>(at, load<u32>(at) + 1);
  }
}

/** Least and greatest values by number, 64 bits each; the caller has filled them with the greatest and the least number. */
export function extremeInt64(numbers: usize, values: usize, rows: u32, nulls: usize, least: usize, greatest: usize): void {
  for (let row: u32 = 0; row < rows; row++) {
    const number = load<i32>(numbers + ((<usize>row) << 2));
    if (number < 0 || (nulls != 0 && load<u8>(nulls + row) != 0)) continue;
    const value = load<i64>(values + ((<usize>row) << 3));
    const at = (<usize>number) << 3;
    if (value < load<i64>(least + at)) store<i64>(least + at, value);
    if (value > load<i64>(greatest + at)) store<i64>(greatest + at, value);
  }
}
