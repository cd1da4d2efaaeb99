/** A batch of a join's side with the numbers of its keys, and which rows hold a NULL that meets nobody. */
import { bitAt, type Column } from '../batch/column.ts';
import { concatBatches } from '../batch/concat.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { filterBatch } from '../batch/take.ts';
import type { Schema } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import { NamedExprs } from '../expr/named-exprs.ts';
import { inParts, RowErrors } from '../expr/row-errors.ts';
import type { RowLists } from '../state/row-lists.ts';
import type { Output } from './operator.ts';
import { survivors } from './project.ts';
import { problemsOf, rowJson } from './row-json.ts';

export type KeyedBatch = {
  batch: RecordBatch;
  /** The number of each row's key; good until the next batch is evaluated. */
  keys: Int32Array;
  /** 1: a key is NULL and NULL does not meet NULL; null: no row has one. */
  nulls: Uint8Array | null;
};

export class JoinInputs {
  readonly #keys: NamedExprs;
  readonly #nullsMeet: readonly boolean[];
  readonly #schema: Schema;
  readonly #lists: RowLists;

  constructor(
    keys: readonly Expr[],
    nullsMeet: readonly boolean[],
    schema: Schema,
    lists: RowLists,
  ) {
    this.#lists = lists;
    this.#keys = NamedExprs.byText(keys, schema);
    this.#nullsMeet = nullsMeet;
    this.#schema = schema;
  }

  /**
   * Rows whose keys cannot be computed go to `output` as errors and are missing in the result. Keys that are too large to be held
   * for the whole batch are computed in parts: only their numbers are kept.
   */
  evaluate(batch: RecordBatch, output: Output): KeyedBatch {
    const parts: KeyedBatch[] = [];
    inParts(batch, (part) => {
      const keyed = this.#evaluate(part, output, RowErrors.divisible(part.rows));
      parts.push(
        part === batch ? keyed : { ...keyed, keys: keyed.keys.slice(0, keyed.batch.rows) },
      );
    });
    const [only] = parts;
    return only !== undefined && parts.length === 1 ? only : joined(parts);
  }

  #evaluate(batch: RecordBatch, output: Output, errors = new RowErrors(batch.rows)): KeyedBatch {
    const keys = this.#keys.evaluate(batch, errors);
    if (errors.failed) {
      output.fail(problemsOf(errors, (row) => rowJson(batch, this.#schema, row)));
      return this.#evaluate(filterBatch(batch, survivors(batch.rows, errors)), output);
    }
    const numbers = this.#lists.number(keys, batch.rows);
    return { batch, keys: numbers, nulls: this.#nullsOf(keys, batch.rows) };
  }

  #nullsOf(keys: readonly Column[], rows: number): Uint8Array | null {
    let found: Uint8Array | null = null;
    keys.forEach(({ validity }, key) => {
      if (validity === null || this.#nullsMeet[key] === true) return;
      for (let row = 0; row < rows; row++) {
        if (bitAt(validity, row)) continue;
        found ??= new Uint8Array(rows);
        found[row] = 1;
      }
    });
    return found;
  }
}

/** Parts of a batch as one again. */
function joined(parts: readonly KeyedBatch[]): KeyedBatch {
  const batch = concatBatches(parts.map((part) => part.batch));
  const keys = new Int32Array(batch.rows);
  const nulls = parts.some((part) => part.nulls !== null) ? new Uint8Array(batch.rows) : null;
  let at = 0;
  for (const part of parts) {
    keys.set(part.keys, at);
    if (part.nulls !== null) nulls?.set(part.nulls.subarray(0, part.batch.rows), at);
    at += part.batch.rows;
  }
  return { batch, keys, nulls };
}
