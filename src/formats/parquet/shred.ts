/**
 * Columns taken apart into the leaves of a Parquet file: which values are there, and their levels.
 *
 * A repetition level says at which list a value goes on (0: it begins a row), a definition level how much of what is
 * around a value is there; a value that is NULL, or lies in a list that is empty, has levels only.
 * Invariant: the levels of a row stand together, the first of them 0 where there are repetition levels.
 * Source: "Dremel: Interactive Analysis of Web-Scale Datasets", Melnik and others, 2010.
 */
import { bitAt } from '../../batch/column.ts';
import type { Column, ListColumn, StructColumn } from '../../batch/column.ts';
import type { Shape } from './parquet-schema.ts';

/** What a leaf gets of one batch. */
export type Shredded = {
  column: Column;
  part: (Shape & { tag: 'leaf' })['part'];
  /** How many levels. */
  entries: number;
  /** Null: every value is there. */
  definitions: Uint8Array | null;
  /** Null: no list is around. */
  repetitions: Uint8Array | null;
  /** The values that are there: rows of `column`; null: its first `present` rows. */
  rows: Int32Array | null;
  present: number;
};

export type Emit = (leaf: number, shredded: Shredded) => void;

/** Entries on their way down; `rows` is -1 where the value ended higher up. */
type Entries = {
  count: number;
  rows: Int32Array;
  definitions: Uint8Array;
  repetitions: Uint8Array;
  /** The repetition level of a value that goes on here: how many lists are around. */
  depth: number;
};

export function shred(column: Column, shape: Shape, emit: Emit): void {
  if (shape.tag === 'leaf') shredFlat(column, shape, emit);
  else {
    const count = column.length;
    const rows = new Int32Array(count);
    for (let row = 0; row < count; row++) rows[row] = row;
    const levels = { definitions: new Uint8Array(count), repetitions: new Uint8Array(count) };
    descend(column, shape, { count, rows, ...levels, depth: 0 }, emit);
  }
}

/** A column that is no list, no struct and in neither: most are. */
function shredFlat(column: Column, shape: Shape & { tag: 'leaf' }, emit: Emit): void {
  const { length, validity } = column;
  const { part, leaf } = shape;
  const whole = { column, part, entries: length, repetitions: null };
  if (validity === null) {
    emit(leaf, { ...whole, definitions: null, rows: null, present: length });
    return;
  }
  const definitions = new Uint8Array(length);
  const rows = new Int32Array(length);
  let present = 0;
  for (let row = 0; row < length; row++) {
    const bit = ((validity[row >> 3] as number) >> (row & 7)) & 1;
    definitions[row] = bit;
    rows[present] = row;
    present += bit;
  }
  if (present === length) emit(leaf, { ...whole, definitions: null, rows: null, present });
  else emit(leaf, { ...whole, definitions, rows, present });
}

function descend(column: Column, shape: Shape, entries: Entries, emit: Emit): void {
  const known = shape.optional ? defined(column, entries) : entries;
  switch (shape.tag) {
    case 'leaf':
      emit(shape.leaf, settled(column, shape.part, known));
      break;
    case 'struct':
      for (const [index, child] of shape.children.entries()) {
        // An interval is a group whose parts are cut from the one column.
        const inner =
          column.tag === 'struct' ? ((column as StructColumn).children[index] as Column) : column;
        descend(inner, child, known, emit);
      }
      break;
    case 'list':
      descend(
        (column as ListColumn).child,
        shape.element,
        unfolded(column as ListColumn, known),
        emit,
      );
      break;
  }
}

/** One level deeper where the value is there. */
function defined(column: Column, entries: Entries): Entries {
  const { validity } = column;
  const rows = entries.rows.slice();
  const definitions = entries.definitions.slice();
  for (let at = 0; at < entries.count; at++) {
    const row = rows[at] as number;
    if (row < 0) continue;
    if (validity === null || bitAt(validity, row))
      definitions[at] = (definitions[at] as number) + 1;
    else rows[at] = -1;
  }
  return { ...entries, rows, definitions };
}

/** An entry for each element, and one for each list that has none. */
function unfolded(column: ListColumn, entries: Entries): Entries {
  const { offsets } = column;
  let count = 0;
  for (let at = 0; at < entries.count; at++) {
    const row = entries.rows[at] as number;
    count += row < 0 ? 1 : Math.max(1, (offsets[row + 1] as number) - (offsets[row] as number));
  }
  const rows = new Int32Array(count);
  const definitions = new Uint8Array(count);
  const repetitions = new Uint8Array(count);
  const depth = entries.depth + 1;
  let to = 0;
  for (let at = 0; at < entries.count; at++) {
    const row = entries.rows[at] as number;
    const definition = entries.definitions[at] as number;
    const start = row < 0 ? 0 : (offsets[row] as number);
    const end = row < 0 ? 0 : (offsets[row + 1] as number);
    repetitions[to] = entries.repetitions[at] as number;
    if (start === end) {
      rows[to] = -1;
      definitions[to++] = definition;
      continue;
    }
    for (let element = start; element < end; element++, to++) {
      if (element > start) repetitions[to] = depth;
      rows[to] = element;
      definitions[to] = definition + 1;
    }
  }
  return { count, rows, definitions, repetitions, depth };
}

function settled(column: Column, part: Shredded['part'], entries: Entries): Shredded {
  const { count, definitions } = entries;
  const rows = new Int32Array(count);
  let present = 0;
  for (let at = 0; at < count; at++) {
    const row = entries.rows[at] as number;
    rows[present] = row;
    if (row >= 0) present++;
  }
  const repetitions = entries.depth === 0 ? null : entries.repetitions;
  return { column, part, entries: count, definitions, repetitions, rows, present };
}
