/** What is made of the sorted bag of a group: lists, percentiles, modes, the n-th value. See `collected.ts`. */
import type {
  Column,
  DecimalColumn,
  Float64Column,
  ListColumn,
  TextColumn,
} from '../../batch/column.ts';
import { bitmapBytes, setBit } from '../../batch/column.ts';
import { compareValues } from '../../batch/row-equal.ts';
import { takeColumn } from '../../batch/take.ts';
import type { SqlType } from '../../batch/types.ts';
import { TextSink, encodeText } from '../text-sink.ts';
import { LIMITS } from '../../base/limits.ts';
import { Outcome, makeDecimal, makeFloat64, makeInt32, makeInt64 } from '../vector.ts';
import { divideHalfUp, powerOfTen, readDecimal, writeDecimal } from '../wide.ts';
import type { Finish } from './collected.ts';
import type { Bags } from './multiset.ts';

/** Which groups hold something; null: all. */
function filled({ offsets }: Bags, groups: number): Uint8Array | null {
  let empty = false;
  const validity = new Uint8Array(bitmapBytes(groups));
  for (let group = 0; group < groups; group++) {
    if (offsets[group] === offsets[group + 1]) empty = true;
    else setBit(validity, group);
  }
  return empty ? validity : null;
}

/** The row of the tuple at place `index` of a group, counting repeated ones; -1: there is none. */
function rowAt({ offsets, counts }: Bags, group: number, index: number): number {
  let left = index;
  for (let row = offsets[group] as number; row < (offsets[group + 1] as number); row++) {
    left -= counts[row] as number;
    if (left < 0) return row;
  }
  return -1;
}

function sizeOf({ offsets, counts }: Bags, group: number): number {
  let size = 0;
  for (let row = offsets[group] as number; row < (offsets[group + 1] as number); row++)
    size += counts[row] as number;
  return size;
}

/** The first column's value at one row of each group; -1 is NULL. */
const pick =
  (
    choose: (bags: Bags, group: number, params: Parameters<Finish>[2]['params']) => number,
  ): Finish =>
  (bags, groups, { params }) => {
    const rows = Int32Array.from({ length: groups }, (_, group) => choose(bags, group, params));
    return takeColumn(bags.columns[0] as Column, rows, groups);
  };

export const first: Finish = pick((bags, group) => rowAt(bags, group, 0));
export const last: Finish = pick(({ offsets }, group) =>
  offsets[group] === offsets[group + 1] ? -1 : (offsets[group + 1] as number) - 1,
);
export const nth: Finish = pick((bags, group, params) => rowAt(bags, group, Number(params[0]) - 1));

/** The most frequent value, of several the smallest. */
export const mode: Finish = pick(({ offsets, counts }, group) => {
  let best = -1;
  for (let row = offsets[group] as number; row < (offsets[group + 1] as number); row++)
    if (best < 0 || (counts[row] as number) > (counts[best] as number)) best = row;
  return best;
});

const extreme = (direction: 1 | -1): Finish =>
  pick(({ offsets, columns }, group) => {
    const column = columns[0] as Column;
    let best = -1;
    for (let row = offsets[group] as number; row < (offsets[group + 1] as number); row++)
      if (best < 0 || compareValues(column, row, column, best) * direction > 0) best = row;
    return best;
  });

export const smallest: Finish = extreme(-1);
export const largest: Finish = extreme(1);

export const arrayOf: Finish = (bags, groups, { type }) => {
  const offsets = new Int32Array(groups + 1);
  const rows: number[] = [];
  for (let group = 0; group < groups; group++) {
    for (let row = bags.offsets[group] as number; row < (bags.offsets[group + 1] as number); row++)
      for (let copy = bags.counts[row] as number; copy > 0; copy--) rows.push(row);
    offsets[group + 1] = rows.length;
  }
  return {
    tag: 'list',
    type: type as SqlType & { tag: 'list' },
    length: groups,
    validity: filled(bags, groups),
    offsets,
    child: takeColumn(bags.columns[0] as Column, Int32Array.from(rows), rows.length),
  } satisfies ListColumn;
};

export const joinedText: Finish = (bags, groups, { params, label }, errors) => {
  const between = encodeText(String(params[0]));
  const { bytes, offsets } = bags.columns[0] as TextColumn;
  const sink = new TextSink(groups, bytes.length);
  const outcome = new Outcome([], groups, errors);
  for (let group = 0; group < groups; group++) {
    const from = bags.offsets[group] as number;
    const to = bags.offsets[group + 1] as number;
    if (from === to) outcome.makeNull(group);
    let started = false;
    for (let row = from; row < to && sink.rowBytes <= LIMITS.valueBytesMax; row++) {
      for (let copy = bags.counts[row] as number; copy > 0; copy--) {
        if (started) sink.append(between, 0, between.length);
        started = true;
        sink.append(bytes, offsets[row] as number, offsets[row + 1] as number);
        if (sink.rowBytes > LIMITS.valueBytesMax) break;
      }
    }
    if (sink.rowBytes > LIMITS.valueBytesMax)
      outcome.fail(
        group,
        'ROW_TOO_LARGE',
        () => `${label} is longer than ${LIMITS.valueBytesMax} bytes`,
      );
    sink.endRow();
  }
  return sink.finish(outcome.validity);
};

/** Between the values beside the place p·(n − 1), as Postgres does. */
export const percentileCont: Finish = (bags, groups, { params }) => {
  const fraction = Number(params[0]);
  const { values } = bags.columns[0] as Float64Column;
  const result = makeFloat64(groups);
  result.validity = filled(bags, groups);
  for (let group = 0; group < groups; group++) {
    const size = sizeOf(bags, group);
    if (size === 0) continue;
    const place = fraction * (size - 1);
    const below = Math.floor(place);
    const low = values[rowAt(bags, group, below)] as number;
    const high = values[rowAt(bags, group, Math.ceil(place))] as number;
    result.values[group] = low === high ? low : low + (high - low) * (place - below);
  }
  return result;
};

/** The first value whose share, with all before it, reaches the fraction. */
export const percentileDisc: Finish = pick((bags, group, params) => {
  const size = sizeOf(bags, group);
  const place = Math.max(0, Math.ceil(Number(params[0]) * size) - 1);
  return rowAt(bags, group, params[1] === true ? size - 1 - place : place);
});

/** Of DECIMAL: the mean of the two middle values has one digit more at most. */
export const medianDecimal: Finish = (bags, groups, { type }) => {
  const input = bags.columns[0] as DecimalColumn;
  const result = makeDecimal(groups, type as SqlType & { tag: 'decimal' });
  result.validity = filled(bags, groups);
  const up = powerOfTen(result.type.scale - input.type.scale);
  for (let group = 0; group < groups; group++) {
    const size = sizeOf(bags, group);
    if (size === 0) continue;
    const low = readDecimal(input.words, rowAt(bags, group, Math.floor((size - 1) / 2)));
    const high = readDecimal(input.words, rowAt(bags, group, Math.ceil((size - 1) / 2)));
    writeDecimal(result.words, group, divideHalfUp((low + high) * up, 2n));
  }
  return result;
};

/** Values and weights: the first value whose weight, with all before it, reaches the fraction. */
export const percentileWeighted: Finish = (bags, groups, { params }) => {
  const fraction = Number(params[0]);
  const [input, weights] = bags.columns as readonly [Float64Column, Float64Column];
  const result = makeFloat64(groups);
  const outcome = filled(bags, groups);
  for (let group = 0; group < groups; group++) {
    const from = bags.offsets[group] as number;
    const to = bags.offsets[group + 1] as number;
    let total = 0;
    for (let row = from; row < to; row++)
      total += (weights.values[row] as number) * (bags.counts[row] as number);
    let reached = 0;
    for (let row = from; row < to; row++) {
      reached += (weights.values[row] as number) * (bags.counts[row] as number);
      result.values[group] = input.values[row] as number;
      if (reached >= fraction * total) break;
    }
  }
  return { ...result, validity: outcome };
};

/** bit_and or bit_or of INT or BIGINT. */
export const bits =
  (every: boolean): Finish =>
  (bags, groups, { type }) => {
    const input = bags.columns[0] as Column;
    const words = 'words' in input ? input.words : (input as { values: Int32Array }).values;
    const width = 'words' in input ? 2 : 1;
    const found = new Int32Array(groups * width);
    for (let group = 0; group < groups; group++) {
      for (let word = 0; word < width; word++) {
        let value = every ? -1 : 0;
        for (
          let row = bags.offsets[group] as number;
          row < (bags.offsets[group + 1] as number);
          row++
        ) {
          const next = words[row * width + word] as number;
          value = every ? value & next : value | next;
        }
        found[group * width + word] = value;
      }
    }
    const validity = filled(bags, groups);
    return width === 2
      ? { ...makeInt64(groups, type), words: found, validity }
      : { ...makeInt32(groups), type, values: found, validity };
  };

const CELL = new Float64Array(1);
const CELL_WORDS = new Uint32Array(CELL.buffer);

/**
 * Doubles with 9 significant bits, rounded to nearest: what approximate percentiles keep. Whole numbers up to 512
 * stay as they are, others are off by at most 1 in 1024.
 */
export function coarse(column: Float64Column, rows: number): Float64Column {
  const values = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    CELL[0] = column.values[row] as number;
    const high = CELL_WORDS[1] as number;
    if ((high & 0x7ff00000) !== 0x7ff00000) {
      // A carry out of the mantissa raises the exponent, which is the right neighbour.
      CELL_WORDS[1] = (high + 0x800) & ~0xfff;
      CELL_WORDS[0] = 0;
    }
    values[row] = CELL[0] as number;
  }
  return { ...column, length: rows, values };
}
