/** Whole numbers and decimals as digits. */

/** Writes exactly eight digits of a number below 10^8. */
export function writeEight(to: usize, value: u32): void {
  // Halves, quarters and digits side by side, from the most significant in the lowest byte.
  const upper = value / 10000;
  let digits: u64 = <u64>upper | (<u64>(value - upper * 10000) << 32);
  let tops = ((digits * 5243) >> 19) & 0x0000007f0000007f;
  digits = tops | ((digits - tops * 100) << 16);
  tops = ((digits * 103) >> 10) & 0x000f000f000f000f;
  digits = tops | ((digits - tops * 10) << 8);
  store<u64>(to, digits | 0x3030303030303030);
}

/** Room for digits before it is known how many there are. */
const scratch = memory.data(64, 16);

/** Writes a number below 10^8 without leading zeros. */
// @ts-ignore: decorator
@inline
function writeSmall(to: usize, value: u32): usize {
  if (value < 10) {
    store<u8>(to, 48 + value);
    return to + 1;
  }
  writeEight(scratch, value);
  const digits = load<u64>(scratch);
  // Zeros at the front are the lowest bytes.
  const zeros = ctz<u64>(digits ^ 0x3030303030303030) >> 3;
  store<u64>(to, digits >> (zeros << 3));
  return to + <usize>(8 - zeros);
}

export function writeUnsigned(to: usize, value: u32): usize {
  if (value < 100000000) return writeSmall(to, value);
  const upper = value / 100000000;
  const end = writeSmall(to, upper);
  writeEight(end, value - upper * 100000000);
  return end + 8;
}

/** Writes an unsigned 64-bit number. */
export function writeLong(to: usize, value: u64): usize {
  if (value < 100000000) return writeSmall(to, <u32>value);
  const upper = value / 100000000;
  let end = to;
  if (upper < 100000000) {
    end = writeSmall(to, <u32>upper);
  } else {
    const top = upper / 100000000;
    end = writeSmall(to, <u32>top);
    writeEight(end, <u32>(upper - top * 100000000));
    end += 8;
  }
  writeEight(end, <u32>(value - upper * 100000000));
  return end + 8;
}

// @ts-ignore: decorator
@inline
export function writeInt64(to: usize, value: i64): usize {
  if (value >= 0) return writeLong(to, value);
  store<u8>(to, 45);
  return writeLong(to + 1, 0 - <u64>value);
}

/** Writes a 128-bit number without sign as five groups of eight digits into `scratch`; where the first digit lies. */
function digitsOf(low: u64, high: u64): usize {
  let words0: u64 = high >> 32;
  let words1: u64 = high & 0xffffffff;
  let words2: u64 = low >> 32;
  let words3: u64 = low & 0xffffffff;
  for (let group: i32 = 4; group >= 0; group--) {
    let rest = words0 % 100000000;
    words0 = words0 / 100000000;
    let part = (rest << 32) | words1;
    words1 = part / 100000000;
    rest = part % 100000000;
    part = (rest << 32) | words2;
    words2 = part / 100000000;
    rest = part % 100000000;
    part = (rest << 32) | words3;
    words3 = part / 100000000;
    writeEight(scratch + (group << 3), <u32>(part % 100000000));
  }
  let first = scratch;
  while (first < scratch + 39 && load<u8>(first) == 48) first++;
  return first;
}

/** Writes the 128-bit value at `at` with exactly `scale` digits behind its point. */
export function writeDecimal(to: usize, at: usize, scale: u32): usize {
  let low = load<u64>(at);
  let high = load<u64>(at, 8);
  let end = to;
  if (<i64>high < 0) {
    low = 0 - low;
    high = ~high + <u64>(low == 0);
    store<u8>(end++, 45);
  }
  let first: usize = 0;
  let last: usize = 0;
  if (high == 0) {
    first = scratch + 8;
    last = writeLong(first, low);
  } else {
    first = digitsOf(low, high);
    last = scratch + 40;
  }
  const count = <u32>(last - first);
  if (count <= scale) {
    store<u8>(end++, 48);
  } else {
    memory.copy(end, first, count - scale);
    end += count - scale;
  }
  if (scale == 0) return end;
  store<u8>(end++, 46);
  const zeros = count < scale ? scale - count : 0;
  memory.fill(end, 48, zeros);
  end += zeros;
  const kept = scale - zeros;
  memory.copy(end, last - kept, kept);
  return end + kept;
}
