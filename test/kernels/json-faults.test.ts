/**
 * Faults planted in the sources of the kernels `json` and `json-writer`, one at a time: each must make kernel and twin differ
 * on the inputs of test/formats/json-kernel.test.ts and json-writer-kernel.test.ts. A fault that goes unseen means that a fast path is not tested.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { compileKernel } from '../../scripts/kernels.ts';
import { Prng } from '../../src/base/prng.ts';
import { compiledKernel, readKernels } from '../../src/cli/kernels.ts';
import { useKernels } from '../../src/kernels/kernels.ts';
import type { KernelName } from '../../src/kernels/kernels.ts';
import { alikeCase, awkwardCases, cutCases, refusedCases } from '../formats/json-alike.ts';
import {
  firstDifference,
  hostileCase,
  neighbourCases,
  utf8Case,
  windowsCase,
} from '../formats/json-differential.ts';
import type { Case } from '../formats/json-differential.ts';

import { firstWritten } from '../formats/json-writer-differential.ts';

type Fault = { file: string; is: string; becomes: string };

const fault = (file: string, is: string, becomes: string): Fault => ({ file, is, becomes });

const FAULTS: readonly Fault[] = [
  // Rows.
  fault('json', 'if (load<u32>(field, STAMP) == stamp) return 0;', ''),
  fault('json', 'if (seenCount < fieldCount && !fillMissing(row)) return 0;', ''),
  fault('json', 'if (load<u32>(field, MISSING) == 0) return false;', ''),
  fault(
    'json',
    'if (load<u32>(field, STAMP) != serial) {',
    'if (load<u32>(field, STAMP) + 1 < serial) {',
  ),
  fault('json', 'return load<u32>(token, LENGTH) <= 16 || matchesRest(p, token);', 'return true;'),
  fault('json', '(<u32>equal & mask) != mask', '(<u32>equal & mask & 0x7fff) != (mask & 0x7fff)'),
  fault(
    'json',
    'if (load<u8>(p) <= 32) p = skipSpace(p);',
    'if (load<u8>(p) <= 34) p = skipSpace(p) + 1;',
  ),
  fault(
    'json',
    'const lineEnd = load<u8>(start) == 0x7b ? readLine(start, row) : 0;',
    'const lineEnd = readLine(start, row);',
  ),
  fault('json', 'if (next != 0x2c && next != 0x7d) return 0;', 'if (next == 10) return 0;'),
  fault('json', 'if (load<u8>(p) != 10) return 0;', ''),
  fault('json', 'if (seenHigh() && !validUtf8(start, objectEnd)) return 0;', ''),
  fault(
    'json',
    'if (end == 0 || (seenHigh() && !validUtf8(start, objectEnd))) return 0;',
    'if (end == 0) return 0;',
  ),
  fault(
    'json',
    'if (field == 1 || unknownCount == UNKNOWN_MAX) return 0;',
    'if (unknownCount == UNKNOWN_MAX) return 0;',
  ),
  fault('json', 'countUnknown(unknownCount);', ''),
  fault('json', 'objectEnd = ++p;', 'objectEnd = ++p + 1;'),
  fault('json', 'if (row == rowMax) {', 'if (row > rowMax) {'),
  fault('json', 'store<u32>(field, stamp, STAMP);\n      seenCount++;', 'seenCount++;'),
  fault('json', 'store<usize>(unknown + (unknownCount << 2), token);\n      unknownCount++;', ''),
  // The shape of rows.
  fault('json-shape', 'ctz<u32>(~equal) < length', 'ctz<u32>(~equal) + 1 < length'),
  fault('json-shape', 'behind + load<u32>(step, TARGET)', 'p - 1'),
  fault('json-shape', 'fillAbsent(step, row);', ';'),
  fault('json-shape', 'shapedRows += rows;', 'shapedRows += 1;'),
  fault('json-shape', 'flushShape();\n  stepsEnd = 0;', 'stepsEnd = 0;'),
  fault('json-shape', 'load<u32>(token, COUNT) + shapedRows', 'load<u32>(token, COUNT) + 1'),
  fault(
    'json-shape',
    '(step, STEP_FIELD) == field) return true;',
    '(step, STEP_FIELD) == field) return false;',
  ),
  fault('json-shape', 'if (kind == 2) what = INT64;', 'if (kind == 2 || kind == 1) what = INT64;'),
  fault(
    'json-shape',
    '(field, SCALE) != 0 ? SKIP_STRING : STRING',
    '(field, SCALE) == 0 ? SKIP_STRING : STRING',
  ),
  fault('json-shape', 'behind = p;\n    step', 'step'),
  fault('json-shape', 'leftStep = step;', 'leftStep = steps;'),
  fault('json-values', '<u32>(chunk & 255) - 1 > 8', '<u32>(chunk & 255) > 9'),
  fault('json-values', '<u32>(chunk & 255) - 1 > 8', '<u32>(chunk & 255) == 0'),
  fault('json-values', '(chunk << (56 - bits)) << 8', 'chunk << (64 - bits)'),
  fault('json-values', 'WHOLE_POWERS + <usize>bits', 'WHOLE_POWERS + 64'),
  fault('json-values', 'if (others == 0) return 0;', ''),
  fault('json-values', '0x7f7676767f767a7f', '0x7f7676767f76767f'),
  fault('json-values', '0x7f7676767f767a7f', '0x767676767f767a7f'),
  fault('json-values', '|| load<u8>(p, 24) != 34', ''),
  fault('json-values', 'i8x16.bitmask(same) != 0xffff', '(i8x16.bitmask(same) | 0x8000) != 0xffff'),
  fault('json-values', '((pairs >> 16) & 255) * 100', '((pairs >> 16) & 255) * 10'),
  fault('json-strings', '<u32>(chunk & 255) - 1 > 8 ||', '(chunk & 255) > 9 ||'),
  // Two rows at once.
  fault('json-pairs', 'next < limit', 'next <= limit'),
  fault('json-pairs', 'if (a != other) return false;', ''),
  fault(
    'json-pairs',
    'ctz<u32>(~i8x16.bitmask(equal)) < length',
    'ctz<u32>(~i8x16.bitmask(equal)) + 1 < length',
  ),
  fault(
    'json-pairs',
    'v128.and(i8x16.eq(v128.load(a), text), i8x16.eq(v128.load(b), text))',
    'i8x16.eq(v128.load(a), text)',
  ),
  fault('json-pairs', 'fillAbsent(step, row + 1);', ''),
  fault('json-pairs', 'load<u8>(p) == NULL_BEGINS ? 0 : readInt64', 'readInt64'),
  fault('json-pairs', 'load<u8>(p) == NULL_BEGINS ? 0 : readValue', 'readValue'),
  fault('json-pairs', '|| load<u8>(endB) != 34', ''),
  fault(
    'json-pairs',
    'b = readPresent(b, field, row + 1);\n      if (seenHigh()) return false;',
    'b = readPresent(b, field, row + 1);',
  ),
  fault(
    'json-pairs',
    'b = skipValue(b, 0);\n      if (seenHigh()) return false;',
    'b = skipValue(b, 0);',
  ),
  fault('json-pairs', 'if (a == 0) return false;', ''),
  fault('json-pairs', 'slot + 8', 'slot'),
  fault('json-pairs', 'secondEnd = behindB', 'secondEnd = behindA'),
  fault(
    'json-pairs',
    'readPlainTimestamp(b, values, field, row + 1)',
    'readPlainTimestamp(b, values, field, row)',
  ),
  fault('json-strings', 'load<u8>(at) == 34 ? at + 1 : 0;', 'at + 1;'),
  fault('json', 'row + 2 <= rowMax', 'row + 1 <= rowMax'),
  fault('json', 'countShaped(2)', 'countShaped(1)'),
  fault('json', 'noteRange(row + 1, other - shift, secondEnd - shift);', ''),
  // The hash.
  fault('json', 'v128.load(hashed, 80)', 'v128.load(hashed, 96)'),
  fault('json', 'hashed + 128 <= p', 'hashed + 96 <= p'),
  fault('json', 'v128.load(at), v128.load(at, 32)', 'v128.load(at, 32), v128.load(at)'),
  fault('json', 'v128.load(at, 48)', 'v128.load(at, 32)'),
  fault('json', 'at + 64 <= end', 'at + 128 <= end'),
  fault('json', 'hashAt = to - (end - at);', 'hashAt = to;'),
  fault('json', 'memory.copy(hashAt, at, end - at);', ''),
  fault('json', 'at + 64 <= end', 'at + 32 <= end'),
  fault('json', 'v128.store(lanes, upper, 16);\n  hashAt', 'hashAt'),
  fault('columns-bytes', 'i32x4.shr_u(mixed, 19)', 'i32x4.shr_u(mixed, 18)'),
  // Strings.
  fault(
    'json-strings',
    '0x0202020202020202, 0x0202020202020202',
    '0x0202020202020202, 0x0202020202020302',
  ),
  fault('json-strings', '0x5c5c5c5c5c5c5c5c], 16', '0x5c5c5c5c5c7c5c5c], 16'),
  fault('json-strings', 'i8x16.gt_s(v128', 'i8x16.gt_u(v128'),
  fault('json-strings', 'plainStopsOf(second) << 16', 'plainStopsOf(second) << 17'),
  fault(
    'json-strings',
    'load<u32>(field, SCALE) != 0 ? skipString',
    'load<u32>(field, SCALE) == 0 ? skipString',
  ),
  fault('json-strings', 'v128.store(to, second, 16);', ''),
  fault('json-strings', 'v128.store(to, third, 32);', ''),
  fault(
    'json-strings',
    '<u64>plainStopsOfTwo(third, last) << 32',
    '<u64>plainStopsOfTwo(third, last) << 33',
  ),
  fault('json-strings', '(at, 48)) << 32', '(at, 48)) << 33'),
  fault('json-strings', 'at += 64;\n      to += 64;', 'at += 64;\n      to += 63;'),
  fault('json-strings', 'i8x16.splat(31)', 'i8x16.splat(30)'),
  fault('json-strings', 'i8x16.eq(block, i8x16.splat(92))', 'i8x16.eq(block, i8x16.splat(124))'),
  fault('json-strings', 'to - heap + (at - p)', 'to - heap + (at - p) + 1'),
  fault('json-strings', 'to + (at - p), heap', 'to, heap'),
  fault('json-strings', 'if ((first | second | third | last) > 15) return 0x10000;', ''),
  fault('json-strings', 'unit < 0xd800 || unit > 0xdfff', 'unit < 0xd800 || unit > 0xdf00'),
  fault(
    'json-strings',
    'unit > 0xdbff || load<u16>(p + 6) != 0x755c',
    'load<u16>(p + 6) != 0x755c',
  ),
  fault('json-strings', 'if (low < 0xdc00 || low > 0xdfff) return 0;', ''),
  fault('json-strings', 'load<u16>(p + 6) != 0x755c', 'load<u8>(p + 6) != 0x5c'),
  fault('json-strings', 'escaped = 12;', 'escaped = 11;'),
  fault('json-strings', 'if (point < 0x800) {', 'if (point < 0x8000) {'),
  fault(
    'json-strings',
    '} else if (byte < 32) {\n      return 0;',
    '} else if (byte < 32) {\n      at++;',
  ),
  fault('json-strings', 'if (byte != 92) return 0;', 'if (byte != 92) { at++; continue; }'),
  fault(
    'json-strings',
    'if (at == whole || (load<u8>(whole) == 48 && at > whole + 1)) return 0;',
    'if (at == whole) return 0;',
  ),
  fault('json-strings', 'if (at == fraction) return 0;', ''),
  fault('json-strings', 'if (at == exponent) return 0;', ''),
  fault('json-strings', 'if (next != 44) return 0;', ''),
  fault('json-strings', 'if (load<u8>(at) != 58) return 0;', ''),
  fault('json-strings', 'word == 0x736c6166 && load<u8>(p + 4) == 101', 'word == 0x736c6166'),
  // Numbers.
  fault(
    'json-values',
    '(count > 1 && load<u8>(p) == 48)) return 0;\n  whole',
    'false) return 0;\n  whole',
  ),
  fault('json-values', 'if (load<u8>(p) == 48) return 0;', ''),
  fault('json-values', 'if (at - p == 19) return 0;', 'if (at - p == 20) return 0;'),
  fault('json-values', '<u64>i64.MAX_VALUE + <u64>negative', '<u64>i64.MAX_VALUE + 1'),
  fault('json-values', 'if (value > <u64>i64.MAX_VALUE + <u64>negative) return 0;', ''),
  fault('json-values', '<u64>i32.MAX_VALUE + <u64>negative', '<u64>u32.MAX_VALUE'),
  fault('json-values', '0x7676767676767676', '0x7576767676767676'),
  fault('json-values', '6553601', '6553600'),
  fault('json-values', 'if (allDigits > 19 || whole > 9007199254740992) return 0;', ''),
  fault('json-values', 'if (power < -22) return 0;', 'if (power < -23) return 0;'),
  fault('json-values', 'if (power > 22) return 0;', ''),
  fault('json-values', 'if (at == start) return 0;', ''),
  fault('json-values', 'sign == 45 ? -exponent : exponent', 'exponent'),
  fault('json-values', 'negative ? -value : value);', 'value);'),
  fault('json-values', 'if (fractionDigits == 0) return 0;', ''),
  fault('json-values', 'allDigits + missing > 18', 'false'),
  fault(
    'json-values',
    'if (limit != 0 && value >= limit) return 0;',
    'if (limit != 0 && value > limit) return 0;',
  ),
  fault('json-values', 'if (load<u8>(end) != 34) return 0;', ''),
  fault('json-values', 'store<i64>(slot, <i64>signed >> 63, 8);', 'store<i64>(slot, 0, 8);'),
  // Times.
  fault(
    'json-values',
    '!i8x16.all_true(same) && !readMinute',
    '!v128.any_true(same) && !readMinute',
  ),
  fault('json-values', 'load<u8>(p + 17) != 58 || ', ''),
  fault('json-values', 'seconds > 59', 'seconds > 60'),
  fault('json-values', 'hour > 23 || minute > 59', 'hour > 24 || minute > 59'),
  fault('json-values', 'minute > 59) return false', 'minute > 60) return false'),
  fault('json-values', 'day > daysOfMonth(year, month)', 'day > 31'),
  fault('json-values', 'year % 100 != 0', 'true'),
  fault('json-values', 'separator != 32 && (separator | 32) != 116', 'false'),
  fault('json-values', 'month <= 2 ? 1 : 0', 'month < 2 ? 1 : 0'),
  fault('json-values', '(count == 0 || count > 9)', '(count == 0 || count > 10)'),
  fault('json-values', '(count == 0 || count > 9)', '(count > 9)'),
  fault('json-values', 'if (at - p < 6) micros', 'if (at - p < 7) micros'),
  fault('json-values', 'if (hours > 23) return 0;', ''),
  fault('json-values', 'if (minutes > 59) return 0;', 'if (minutes > 60) return 0;'),
  fault('json-values', 'if (load<u8>(p) == 45) offset = -offset;', ''),
  fault('json-values', 'if (load<u8>(at) != 34) return 0;\n  store<i64>', 'store<i64>'),
  fault('json-values', 'value > <u64>i64.MAX_VALUE / unit', 'false'),
  fault('json-values', 'if (unit == 0 || value', 'if (value'),
  fault('json-values', '- <i64>(quotient * 1000 > micros)', ''),
  fault('json-values', '|| load<usize>(field, PRESENT) == 0', ''),
  // What only one place or one character tells.
  fault('json-values', 'month == 11 ? 30 : 31', 'month == 11 ? 30 : 32'),
  fault('json-values', 'if (count == 0 || count > 9) return 0;', 'if (count > 9) return 0;'),
  fault('json-strings', 'case 110:', 'case 109:'),
  fault('json-strings', 'byte != 9 && byte != 13', 'byte != 9 && byte != 14'),
  fault('json-strings', 'if (load<u8>(at) != 58) return 0;', 'if (load<u8>(at) != 57) return 0;'),
  fault('json-shape', 'if (step >= steps + (STEPS_MAX - 1) * STEP_SIZE) return 0;', ''),
  // UTF-8.
  fault('utf8', '0xe0 - 0x80', '0xdf - 0x80'),
  fault('utf8', '0xf0 - 0x80', '0xf1 - 0x80'),
  fault('utf8', 'TOO_SHORT | OVERLONG_2,', 'TOO_SHORT,'),
  fault('utf8', 'TOO_SHORT | OVERLONG_3 | SURROGATE', 'TOO_SHORT | OVERLONG_3'),
  fault('utf8', 'TOO_SHORT | OVERLONG_3 | SURROGATE', 'TOO_SHORT | SURROGATE'),
  fault('utf8', 'ANY | TOO_LARGE,', 'ANY,'),
  fault('utf8', 'OVERLONG_3 | EDGE_OF_FOUR,', 'OVERLONG_3,'),
  // Packing.
  fault('pack', '(<u32>1 << (count - at)) - 1', '(<u32>1 << (count - at + 1)) - 1'),
  fault('pack', 'if (bits != wanted) all = 0;', ''),
  fault('pack', 'all &= bits;', ''),
  // Writing.
  fault('json-writer', 'if (validity != 0 && !bitAt(validity, row)) {', 'if (false) {'),
  fault(
    'json-writer',
    'return writeUnsigned(to + 1, 0 - <u32>value);',
    'return writeUnsigned(to + 1, <u32>value);',
  ),
  fault('json-writer', 'store<u64>(to, 0x65736c6166);', 'store<u64>(to, 0x65736c6167);'),
  fault('json-writer', '(row & 7)) & 1', '(row & 3)) & 1'),
  fault('write-text', 'i8x16.splat(31)', 'i8x16.splat(30)'),
  fault('write-text', '} while (done < length);', '} while (done + 16 < length);'),
  fault('write-text', 'if (plain < 16 && at < end)', 'if (plain < 16)'),
  fault('write-text', 'end - at);', '16);'),
  fault('write-text', '98, 116, 110, 0, 102, 114', '98, 116, 110, 118, 102, 114'),
  fault('write-number', '5243', '5242'),
  fault(
    'write-number',
    'value < 100000000) return writeSmall(to, value)',
    'value <= 100000000) return writeSmall(to, value)',
  ),
  fault('write-number', 'if (upper < 100000000) {', 'if (upper <= 100000000) {'),
  fault('write-number', 'high = ~high + <u64>(low == 0);', 'high = ~high;'),
  fault('write-number', 'i32 = 4; group', 'i32 = 3; group'),
  fault('write-number', 'if (count <= scale) {', 'if (count < scale) {'),
  fault('write-timestamp', 'if (start * MINUTE > value) start--;', ''),
  fault('write-timestamp', 'value < FIRST || value >= END', 'value < FIRST'),
  fault('write-timestamp', '>= <u64>MINUTE', '> <u64>MINUTE'),
  fault('write-timestamp', 'month >= 10 ? 1 : 0', 'month > 10 ? 1 : 0'),
  fault('write-timestamp', '- dayOfEra / 146096', ''),
  fault('write-timestamp', 'let end = to + 20;', 'let end = to - 20;'),
  fault('write-timestamp', 'while (load<u8>(end - 1) == 48) end--;', ''),
];

/** By default some of them; KERNEL_ROUNDS asks for all. */
const CHOSEN =
  process.env['KERNEL_ROUNDS'] === undefined
    ? FAULTS.filter((_, index) => index % 7 === 0)
    : FAULTS;
const ROUNDS_MAX = 1000;

afterAll(() => useKernels(null));

const CASES = {
  near: [...neighbourCases(), windowsCase(), ...awkwardCases(), ...refusedCases(), ...cutCases()],
  utf8: [0, 13, 14].map(utf8Case),
};

/** Also when it leaves its memory, or an assertion of the decoder fails. */
function differs(each: Case): boolean {
  try {
    return firstDifference(each) !== null;
  } catch {
    return true;
  }
}

/** The kernel that a source file belongs to. */
const kernelOf = (file: string): KernelName =>
  file === 'json-writer' || file.startsWith('write-') ? 'json-writer' : 'json';

function isSeenWritten(): boolean {
  try {
    return firstWritten() !== null;
  } catch {
    return true;
  }
}

/** Whether some input makes the kernel differ from its twin. */
function isSeen(file: string): boolean {
  if (kernelOf(file) === 'json-writer') return isSeenWritten();
  if (file === 'utf8' && CASES.utf8.some(differs)) return true;
  if (CASES.near.some(differs)) return true;
  for (let round = 0; round < ROUNDS_MAX; round++)
    if (
      differs(alikeCase(new Prng(`alike ${round}`))) ||
      differs(hostileCase(new Prng(`kernel ${round}`)))
    )
      return true;
  return false;
}

test('every fault can still be planted where it says', () => {
  const folder = join(import.meta.dirname, '../../src/kernels/assembly');
  const lost = FAULTS.filter(
    ({ file, is }) => !readFileSync(join(folder, `${file}.ts`), 'utf8').includes(is),
  );
  expect(lost).toEqual([]);
});

test.each(CHOSEN)(
  'a fault in $file is seen: $is → $becomes',
  async ({ file, is, becomes }) => {
    let planted = 0;
    const wasm = await compileKernel(kernelOf(file), {
      optimizeLevel: 0,
      change: (path, text) => {
        if (!path.endsWith(`/${file}.ts`) || !text.includes(is)) return text;
        planted++;
        return text.replace(is, () => becomes);
      },
    });
    expect(planted, 'the text is there').toBe(1);
    useKernels({ ...readKernels(), [kernelOf(file)]: compiledKernel(wasm) });
    expect(isSeen(file)).toBe(true);
  },
  60_000,
);
