/**
 * The shape of rows: a producer writes the same bytes between the values of every row, so the rows of a table mostly differ
 * in their values alone. A shape is a list of steps, each up to 16 bytes to be met and the kind of value behind them; it is
 * taken from a row that was accepted, and read without looking keys up. Where a row departs from it, the reading by
 * tokens goes on (json.ts): `leftStep` and `leftAt` tell from where.
 *
 * Invariants: steps are a row's own bytes, so what they accept the reading by tokens accepts as well, with the same
 * result; no column stands in two of them; steps in front of one that fails are those of keys that were read.
 */
import {
  readBoolean,
  readDecimal,
  readFloat,
  readInt32,
  readInt64,
  readPlainInt64,
  readPlainTimestamp,
  readTimestamp,
  setNull,
} from './json-values.ts';
import { copyString, readText, skipPlainNumber, skipString, skipValue } from './json-strings.ts';
import {
  ABSENT,
  COUNT,
  DATA,
  END,
  FIELD,
  FIELD_SIZE,
  INT64,
  KIND,
  OTHER,
  SCALE,
  SKIP_NUMBER,
  SKIP_OTHER,
  SKIP_STRING,
  STEP_FIELD,
  STEP_SIZE,
  STRING,
  TARGET,
  TEXT_ONLY,
  TIME,
  TOKEN,
  WHAT,
} from './json-layout.ts';

const STEPS_MAX: usize = 96;
export const steps = memory.data(3072, 16);

/** Where the list ends; 0: there is no shape. */
let stepsEnd: usize = 0;
/** Rows that were read by the shape and whose unknown keys are not counted yet. */
let shapedRows: u32 = 0;
/** Rows that departed from it. */
let departed: u32 = 0;

/** Keys of the row that is read by tokens: start of the token, start of the value, the token. */
const TRAIL_MAX: u32 = 64;
const trail = memory.data(768, 16);
let trailCount: u32 = 0;

/** Where the row that `readShaped` gave up departs: the step, and the end of the last value before it. */
export let leftStep: usize = 0;
export let leftAt: usize = 0;
/** The end of the object that it read. */
export let shapedEnd: usize = 0;

export function hasShape(): bool {
  return stepsEnd != 0;
}

/** No shape: descriptors or places of columns have changed. Unknown keys must have been counted. */
export function forgetShape(): void {
  stepsEnd = 0;
  shapedRows = 0;
}

export function countShaped(rows: u32): void {
  shapedRows += rows;
}

/** Counts the unknown keys of rows that were read by the shape. */
export function flushShape(): void {
  if (shapedRows == 0) return;
  for (let step = steps; step < stepsEnd; step += STEP_SIZE) {
    const token = load<usize>(step, TOKEN);
    if (token != 0 && load<usize>(token, FIELD) == 0)
      store<u32>(token, load<u32>(token, COUNT) + shapedRows, COUNT);
  }
  shapedRows = 0;
}

export function firstStep(): usize {
  return steps;
}
export function tokenOfStep(step: usize): usize {
  return load<usize>(step, TOKEN);
}
export function stepBehind(step: usize): usize {
  return step + STEP_SIZE;
}

export function startTrail(): void {
  trailCount = 0;
}

// @ts-ignore: decorator
@inline
export function noteKey(tokenAt: usize, valueAt: usize, token: usize): void {
  if (trailCount < TRAIL_MAX) {
    const entry = trail + trailCount * 12;
    store<u32>(entry, tokenAt);
    store<u32>(entry, valueAt, 4);
    store<u32>(entry, token, 8);
  }
  trailCount++;
}

/** Writes steps for the bytes `[from, to)`; the last of them, without what follows it, or 0: no room. */
function putText(first: usize, from: usize, to: usize): usize {
  let step = first;
  let at = from;
  for (;;) {
    if (step >= steps + (STEPS_MAX - 1) * STEP_SIZE) return 0;
    const length = min<usize>(to - at, 16);
    v128.store(step, i64x2.splat(0));
    v128.store(step, i64x2.splat(0), 16);
    memory.copy(step, at, length);
    store<u32>(step, <u32>length, WHAT);
    at += length;
    if (at == to) return step;
    step += STEP_SIZE;
  }
  return 0;
}

// @ts-ignore: decorator
@inline
function finish(step: usize, what: u32): void {
  store<u32>(step, load<u32>(step, WHAT) | (what << 8), WHAT);
}

/** A step for the key of an entry of the trail; the next step's place, or 0. */
function putKey(first: usize, entry: usize): usize {
  const from = load<u32>(entry);
  const valueAt = load<u32>(entry, 4);
  const token = load<usize>(entry, 8);
  const field = load<usize>(token, FIELD);
  const byte: u32 = load<u8>(valueAt);
  const isQuoted = byte == 34;
  const isDigit = byte - 48 < 10;
  let what = SKIP_OTHER;
  if (field > 1) {
    const kind = load<u32>(field, KIND);
    what = OTHER;
    if (kind == 2) what = INT64;
    else if (kind == 5 && isQuoted) what = load<u32>(field, SCALE) != 0 ? SKIP_STRING : STRING;
    else if (kind == 6 && isQuoted) what = TIME;
  } else if (isQuoted) what = SKIP_STRING;
  else if (isDigit) what = SKIP_NUMBER;
  // The quote that a string begins with is met as text.
  const step = putText(first, from, valueAt + (what != OTHER && isQuoted ? 1 : 0));
  if (step == 0) return 0;
  finish(step, what);
  store<usize>(step, token, TOKEN);
  if (field > 1) {
    store<usize>(step, field, STEP_FIELD);
    store<usize>(step, load<usize>(field, DATA), TARGET);
  }
  return step + STEP_SIZE;
}

/** Makes the steps from `step` on those of the row that the trail tells, which ended with the bytes `[endAt, lineEnd]`. */
export function learnShape(
  step: usize,
  endAt: usize,
  objectEnd: usize,
  lineEnd: usize,
  fields: usize,
  fieldCount: u32,
): void {
  // One row that departs does not make a shape.
  if (stepsEnd != 0 && (++departed & 3) != 0) return;
  flushShape();
  stepsEnd = 0;
  if (trailCount > TRAIL_MAX || lineEnd + 1 - endAt > 16) return;
  for (let index: u32 = 0; index < trailCount; index++) {
    step = putKey(step, trail + index * 12);
    if (step == 0) return;
  }
  step = putText(step, endAt, lineEnd + 1);
  if (step == 0) return;
  finish(step, END);
  store<u32>(step, <u32>(objectEnd - endAt), TARGET);
  step += STEP_SIZE;
  for (let index: u32 = 0; index < fieldCount; index++) {
    const field = fields + index * FIELD_SIZE;
    if (isNamed(field, step)) continue;
    if (step >= steps + STEPS_MAX * STEP_SIZE) return;
    store<u32>(step, ABSENT << 8, WHAT);
    store<usize>(step, field, STEP_FIELD);
    store<usize>(step, 0, TOKEN);
    step += STEP_SIZE;
  }
  stepsEnd = step;
}

function isNamed(field: usize, end: usize): bool {
  for (let step = steps; step < end; step += STEP_SIZE) {
    if (load<usize>(step, TOKEN) != 0 && load<usize>(step, STEP_FIELD) == field) return true;
  }
  return false;
}

/** Behind the last step `end`: NULL for each column that rows of the shape do not name. */
export function fillAbsent(end: usize, row: u32): void {
  for (let step = end + STEP_SIZE; step < stepsEnd; step += STEP_SIZE)
    setNull(load<usize>(step, STEP_FIELD), row);
}

/** Notes where the row departs from the shape. */
function leave(step: usize, at: usize): usize {
  // A text of several steps is read again from its first.
  while (step > steps && load<u32>(step - STEP_SIZE, WHAT) >> 8 == TEXT_ONLY) step -= STEP_SIZE;
  leftStep = step;
  leftAt = at;
  return 0;
}

/** The value at `p` into row `row` of the field, by its kind. */
export function readValue(p: usize, field: usize, row: u32): usize {
  switch (load<u32>(field, KIND)) {
    case 2:
      return readInt64(p, field, row);
    case 5:
      return readText(p, field, row);
    case 6:
      return readTimestamp(p, field, row);
    case 1:
      return readInt32(p, field, row);
    case 3:
      return readFloat(p, field, row);
    case 4:
      return readDecimal(p, field, row);
    case 0:
      return readBoolean(p, field, row);
    default:
      return 0;
  }
}

/** Reads the row at `start` by the shape; the position of its LF, or 0. */
// @ts-ignore: decorator
@inline
export function readShaped(start: usize, row: u32): usize {
  let step = steps;
  /** The end of the value before. */
  let behind = start;
  let p = start;
  for (;;) {
    const what = load<u32>(step, WHAT);
    const equal = i8x16.bitmask(i8x16.eq(v128.load(p), v128.load(step)));
    const length = what & 255;
    if (ctz<u32>(~equal) < length) break;
    p += length;
    const follows = what >> 8;
    if (follows == SKIP_STRING) p = skipString(p);
    else if (follows == INT64) {
      const end = readPlainInt64(p, load<usize>(step, TARGET) + (row << 3));
      p = end != 0 ? end : readInt64(p, load<usize>(step, STEP_FIELD), row);
    }
    else if (follows == SKIP_NUMBER) p = skipPlainNumber(p);
    else if (follows == TIME) p = readPlainTimestamp(p, load<usize>(step, TARGET), load<usize>(step, STEP_FIELD), row);
    else if (follows == STRING) p = copyString(p, load<usize>(step, STEP_FIELD), row);
    else if (follows == END) {
      shapedEnd = behind + load<u32>(step, TARGET);
      fillAbsent(step, row);
      return p - 1;
    } else if (follows == OTHER) p = readValue(p, load<usize>(step, STEP_FIELD), row);
    else if (follows == SKIP_OTHER) p = skipValue(p, 0);
    else {
      step += STEP_SIZE;
      continue;
    }
    if (p == 0) break;
    behind = p;
    step += STEP_SIZE;
  }
  return leave(step, behind);
}
