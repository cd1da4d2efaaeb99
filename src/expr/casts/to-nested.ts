/** Casts among lists, element by element, and among structs, field by field in order. */
import { assert } from '../../base/assert.ts';
import type { Column, ListColumn, StructColumn } from '../../batch/column.ts';
import { sliceColumn } from '../../batch/take.ts';
import type { ListType, StructType } from '../../batch/types.ts';
import type { CastColumn, Casting } from '../cast.ts';
import { RowErrors } from '../row-errors.ts';

/** An element that fails fails its row; under TRY_CAST the element alone becomes NULL. */
export function toList(
  column: Column,
  type: ListType,
  casting: Casting,
  castColumn: CastColumn,
): ListColumn {
  assert(column.tag === 'list', 'only a list becomes a list');
  const { offsets, length } = column;
  const first = offsets[0] as number;
  const size = (offsets[length] as number) - first;
  const inner = new RowErrors(size);
  const elements = sliceColumn(column.child, first, first + size);
  const child = castColumn(elements, type.element, casting.orNull, inner);
  const failed = [...inner.list].sort((a, b) => a.row - b.row);
  let row = 0;
  for (const { row: element, code, message } of failed) {
    while ((offsets[row + 1] as number) - first <= element) row++;
    casting.fail(row, code, () => message);
  }
  return {
    tag: 'list',
    type,
    length,
    validity: casting.outcome.validity,
    offsets: offsets.subarray(0, length + 1).map((at) => at - first),
    child,
  };
}

export function toStruct(
  column: Column,
  type: StructType,
  casting: Casting,
  castColumn: CastColumn,
): StructColumn {
  assert(column.tag === 'struct', 'only a struct becomes a struct');
  const { length } = column;
  const children = type.fields.map((field, index) => {
    const inner = new RowErrors(length);
    const from = column.children[index] as Column;
    const child = castColumn(from, field.type, casting.orNull, inner);
    for (const { row, code, message } of inner.list) casting.fail(row, code, () => message);
    return child;
  });
  return { tag: 'struct', type, length, validity: casting.outcome.validity, children };
}
