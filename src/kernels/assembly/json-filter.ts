/** Conditions `column op constant` that a row has to fulfil, checked when the row has been read. */
import {
  DATA,
  FILTER_BYTES,
  FILTER_FIELD,
  FILTER_LENGTH,
  FILTER_NUMBER,
  FILTER_OPERATION,
  FILTER_SIZE,
  HEAP,
  KIND,
  PRESENT,
} from './json-layout.ts';

/** -1, 0 or 1: how the text of a row compares with the constant, by bytes. */
function compareText(filter: usize, field: usize, row: u32): i32 {
  const offsets = load<usize>(field, DATA) + (row << 2);
  const start = load<u32>(offsets);
  const length = load<u32>(offsets, 4) - start;
  const other = load<u32>(filter, FILTER_LENGTH);
  const order = memory.compare(
    load<usize>(field, HEAP) + start,
    load<usize>(filter, FILTER_BYTES),
    min<u32>(length, other),
  );
  if (order != 0) return order;
  return length < other ? -1 : length > other ? 1 : 0;
}

function compareNumber(filter: usize, field: usize, row: u32): i32 {
  const data = load<usize>(field, DATA);
  const value =
    load<u32>(field, KIND) == 1 ? <i64>load<i32>(data + (row << 2)) : load<i64>(data + (row << 3));
  const other = load<i64>(filter, FILTER_NUMBER);
  return value < other ? -1 : value > other ? 1 : 0;
}

/** Whether row `row` fulfils all filters; NULL fulfils none. */
export function keeps(filters: usize, count: u32, row: u32): bool {
  const end = filters + count * FILTER_SIZE;
  for (let filter = filters; filter < end; filter += FILTER_SIZE) {
    const field = load<usize>(filter, FILTER_FIELD);
    const present = load<usize>(field, PRESENT);
    if (present != 0 && load<u8>(present + row) == 0) return false;
    const order =
      load<u32>(field, KIND) == 5
        ? compareText(filter, field, row)
        : compareNumber(filter, field, row);
    let fulfilled = false;
    switch (load<u32>(filter, FILTER_OPERATION)) {
      case 0:
        fulfilled = order == 0;
        break;
      case 1:
        fulfilled = order != 0;
        break;
      case 2:
        fulfilled = order < 0;
        break;
      case 3:
        fulfilled = order <= 0;
        break;
      case 4:
        fulfilled = order > 0;
        break;
      default:
        fulfilled = order >= 0;
    }
    if (!fulfilled) return false;
  }
  return true;
}
