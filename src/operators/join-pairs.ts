/**
 * Candidate pairs of one batch's rows with rows the other side keeps, and the test of what keys do not tell.
 *
 * Place in the walk: stage 6, under `HashJoin`. Pairs come in the order of the batch's rows.
 * Failure: a pair whose condition cannot be computed is an error of the batch's row, and no match.
 */
import { must } from '../base/assert.ts';
import { inRoom, takenBytes } from '../batch/batch-bytes.ts';
import type { Column, Int64Column } from '../batch/column.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { takeColumn } from '../batch/take.ts';
import { nullColumn } from '../batch/column-builder.ts';
import type { Schema } from '../batch/types.ts';
import { compilePredicate, type CompiledPredicate } from '../expr/compile.ts';
import type { Expr } from '../expr/expr.ts';
import { exprColumns } from '../expr/expr-tools.ts';
import { exprName } from '../expr/named-exprs.ts';
import { RowErrors } from '../expr/row-errors.ts';
import { grown, wider } from '../state/growth.ts';
import type { PairList } from '../state/row-lists.ts';
import type { JoinSide } from './join-side.ts';
import type { Output } from './operator.ts';
import { rowJson } from './row-json.ts';

export class JoinPairs implements PairList {
  /** Row of the batch, and place of the other side's row. */
  rows: Int32Array = new Int32Array(4096);
  ids: Int32Array = new Int32Array(4096);
  count = 0;
  readonly #predicate: CompiledPredicate | null;
  readonly #residual: Expr | null;
  readonly #used: ReadonlySet<number>;
  readonly #schemas: readonly [Schema, Schema];

  constructor(residual: Expr | null, schemas: readonly [Schema, Schema]) {
    this.#predicate = residual === null ? null : compilePredicate(residual);
    this.#used = residual === null ? new Set() : exprColumns(residual);
    this.#residual = residual;
    this.#schemas = schemas;
  }

  clear(): void {
    this.count = 0;
  }

  push(row: number, id: number): void {
    if (this.count === this.rows.length) this.grow();
    this.rows[this.count] = row;
    this.ids[this.count++] = id;
  }

  grow(): void {
    const room = grown(this.rows.length, this.rows.length + 1);
    this.rows = wider(Int32Array, this.rows, room);
    this.ids = wider(Int32Array, this.ids, room);
  }

  /** Keeps the pairs that the condition holds for. */
  test(port: number, batch: RecordBatch, other: JoinSide, output: Output): void {
    if (this.#predicate === null || this.count === 0) return;
    let kept = 0;
    const ownBytes = this.#usedBytes(port, batch);
    const otherOffset = this.#offsetOf(1 - port);
    inRoom(
      0,
      this.count,
      (from, to) =>
        ownBytes(this.rows.subarray(from, to)) +
        other.gatheredBytes(this.ids.subarray(from, to), this.#used, otherOffset),
      (from, to) => {
        kept = this.#testSome(from, to, kept, port, batch, other, output);
      },
    );
    this.count = kept;
  }

  /** Tests pairs `[from, to)` and moves those that pass behind the first `kept`; how many there are then. */
  #testSome(
    from: number,
    to: number,
    kept: number,
    port: number,
    batch: RecordBatch,
    other: JoinSide,
    output: Output,
  ): number {
    const count = to - from;
    const errors = new RowErrors(count);
    const pairs: RecordBatch = {
      rows: count,
      columns: this.#columns(from, to, port, batch, other),
      eventTime: null as Int64Column | null,
      retract: null,
    };
    const selection = must(this.#predicate, 'a condition')(pairs, errors);
    if (errors.failed) {
      const schema = this.#schemas[port === 0 ? 0 : 1];
      if (this.#residual !== null)
        errors.nameSince(0, exprName(this.#residual, this.#schemas.flat()));
      output.fail(
        errors.list.map((error) => {
          const row = this.rows[from + error.row] as number;
          return { ...error, row, raw: rowJson(batch, schema, row) };
        }),
      );
    }
    for (let at = 0; at < selection.count; at++) {
      const place = from + (selection.indices[at] as number);
      this.rows[kept + at] = this.rows[place] as number;
      this.ids[kept + at] = this.ids[place] as number;
    }
    return kept + selection.count;
  }

  /** Where a side's columns begin among those of both. */
  #offsetOf(port: number): number {
    return port === 0 ? 0 : this.#schemas[0].length;
  }

  #usedBytes(port: number, batch: RecordBatch): (rows: Int32Array) => number {
    const offset = this.#offsetOf(port);
    const used = batch.columns.filter((_, at) => this.#used.has(at + offset));
    return (rows) => used.reduce((sum, column) => sum + takenBytes(column, rows), 0);
  }

  #columns(from: number, to: number, port: number, batch: RecordBatch, other: JoinSide): Column[] {
    const ownOffset = this.#offsetOf(port);
    const otherOffset = this.#offsetOf(1 - port);
    const rows = this.rows.subarray(from, to);
    const own = batch.columns.map((column, at) =>
      this.#used.has(at + ownOffset)
        ? takeColumn(column, rows, to - from)
        : nullColumn(column.type, 0),
    );
    const ids = this.ids.subarray(from, to);
    const others = other.gatherSome(ids, this.#used, otherOffset);
    return port === 0 ? [...own, ...others] : [...others, ...own];
  }
}
