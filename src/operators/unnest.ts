/**
 * UNNEST: a row for each element of its lists.
 *
 * Place in the walk: stage 6. Keeps no state. Output: columns of the row, an element of each list, and its place from 1
 * when that is asked for. Lists of one row go side by side, a shorter one ends with NULLs; a NULL list has no elements.
 * Invariants: elements keep the order, event time and retraction of their row. Batches have a bounded number of rows,
 * however long the lists are.
 * Failure: a row whose lists cannot be computed is reported with its text and leaves; the others go on.
 */
import { LIMITS } from '../base/limits.ts';
import { assert, must } from '../base/assert.ts';
import { bitAt, bitmapBytes, setBit, type Column, type ListColumn } from '../batch/column.ts';
import { batchBytes, valueBytes } from '../batch/batch-bytes.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { sliceBatch, takeBatch, takeColumn } from '../batch/take.ts';
import { INT64, type Schema } from '../batch/types.ts';
import { NamedExprs } from '../expr/named-exprs.ts';
import { RowErrors, inParts } from '../expr/row-errors.ts';
import type { OperatorSpec } from '../graph/graph.ts';
import type { Output } from './operator.ts';
import { problemsOf, rowJson } from './row-json.ts';
import { StatelessOperator } from './stateless-operator.ts';

export type UnnestSpec = OperatorSpec & { tag: 'unnest' };

const ROWS_AT_FIRST = 8;

export class Unnest extends StatelessOperator {
  readonly #lists: NamedExprs;
  readonly #spec: UnnestSpec;
  readonly #inputSchema: Schema;
  /** Per row of the batch being made: the row it comes of, and the place of its element, from 0. */
  readonly #origins = new Int32Array(LIMITS.batchRowsDefault);
  readonly #places = new Int32Array(LIMITS.batchRowsDefault);
  /** Rows to unnest at a time: as few as their lists are long. */
  #rows = ROWS_AT_FIRST;
  #made = 0;
  #rest: RecordBatch | null = null;

  constructor(spec: UnnestSpec, inputSchema: Schema) {
    super();
    this.#spec = spec;
    this.#lists = NamedExprs.byText(spec.lists, inputSchema);
    this.#inputSchema = inputSchema;
  }

  onBatch(_port: number, batch: RecordBatch, output: Output): void {
    this.#made = 0;
    let from = 0;
    while (from < batch.rows && this.#made < LIMITS.unitRowsMax) {
      const to = Math.min(batch.rows, from + this.#rows);
      const before = this.#made;
      inParts(sliceBatch(batch, from, to), (part) => this.#unnest(part, output));
      const units = (this.#made - before) / LIMITS.unitRowsMax;
      this.#rows =
        units > 1
          ? Math.max(1, Math.floor((to - from) / units))
          : Math.min(LIMITS.batchRowsMax, units > 0.5 ? this.#rows : this.#rows * 2);
      from = to;
    }
    if (from < batch.rows) this.#rest = sliceBatch(batch, from, batch.rows);
  }

  takeRest(): RecordBatch | null {
    const rest = this.#rest;
    this.#rest = null;
    return rest;
  }

  #unnest(batch: RecordBatch, output: Output): void {
    const errors = RowErrors.divisible(batch.rows);
    const lists = this.#lists.evaluate(batch, errors).map(asList);
    if (errors.failed)
      output.fail(problemsOf(errors, (row) => rowJson(batch, this.#inputSchema, row)));
    const { outer } = this.#spec;
    const most = this.#origins.length;
    const weighsFew = batchBytes(batch) * most <= LIMITS.unitBytesMax;
    let filled = 0;
    for (let row = 0; row < batch.rows; row++) {
      if (errors.hasFailed(row)) continue;
      const length = longest(lists, row);
      // What stands beside a long list stands beside each element; weighed only where it may be too much.
      const room = Math.min(most, weighsFew ? most : this.#roomOf(batch, row));
      // The place -1: the row has no elements and stays, with NULLs.
      for (let place = length === 0 && outer ? -1 : 0; place < length; place++) {
        if (filled >= room) {
          this.#emit(batch, lists, filled, output);
          filled = 0;
        }
        this.#origins[filled] = row;
        this.#places[filled++] = place;
        if (place < 0) break;
      }
    }
    this.#emit(batch, lists, filled, output);
  }

  /** Rows that may be in one batch when they are as wide as this one. */
  #roomOf(batch: RecordBatch, row: number): number {
    let bytes = 1;
    for (const at of this.#spec.kept) bytes += valueBytes(must(batch.columns[at], 'a column'), row);
    return Math.max(1, Math.floor(LIMITS.unitBytesMax / bytes));
  }

  #emit(batch: RecordBatch, lists: readonly ListColumn[], rows: number, output: Output): void {
    if (rows === 0) return;
    this.#made += rows;
    const columns = this.#spec.kept.map((at) => must(batch.columns[at], 'a column'));
    const kept = takeBatch({ ...batch, columns }, this.#origins, rows);
    const elements = lists.map((list) =>
      takeColumn(list.child, this.#elementsOf(list, rows), rows),
    );
    const ordinals = this.#spec.ordinality ? [this.#ordinals(rows)] : [];
    output.emit({ ...kept, columns: [...kept.columns, ...elements, ...ordinals] });
  }

  /** Places in the child column; -1: NULL. */
  #elementsOf(list: ListColumn, rows: number): Int32Array {
    const indices = new Int32Array(rows);
    for (let at = 0; at < rows; at++) {
      const row = this.#origins[at] as number;
      const place = this.#places[at] as number;
      indices[at] =
        place >= 0 && place < lengthAt(list, row) ? (list.offsets[row] as number) + place : -1;
    }
    return indices;
  }

  #ordinals(rows: number): Column {
    const words = new Int32Array(rows * 2);
    const validity = this.#spec.outer ? new Uint8Array(bitmapBytes(rows)) : null;
    for (let at = 0; at < rows; at++) {
      words[at * 2] = (this.#places[at] as number) + 1;
      if (validity !== null && (this.#places[at] as number) >= 0) setBit(validity, at);
    }
    return { tag: 'int64', type: INT64, length: rows, validity, words };
  }
}

function asList(column: Column): ListColumn {
  assert(column.tag === 'list', 'UNNEST reads lists');
  return column;
}

function lengthAt({ validity, offsets }: ListColumn, row: number): number {
  if (validity !== null && !bitAt(validity, row)) return 0;
  return (offsets[row + 1] as number) - (offsets[row] as number);
}

function longest(lists: readonly ListColumn[], row: number): number {
  let most = 0;
  for (let at = 0; at < lists.length; at++)
    most = Math.max(most, lengthAt(must(lists[at], 'a list'), row));
  return most;
}
