/**
 * Functions of the user's own: what is asked of their sandbox for a batch, and what the answers make of it.
 *
 * Place in the walk: stage 6. The code runs elsewhere and answers later: `ask` says what to ask, `finish` gets every
 * answer and emits. Who keeps the batches meanwhile, in their order, is `subtask/calling-body.ts`. Keeps no state.
 * Invariants: a row is asked about only where the call's guard is true, its arguments could be computed and, unless the
 * function wants NULLs, none of them is NULL. Rows keep their order, event times and retractions.
 * Failure: a row for which the code throws, or gives what its type does not hold, is an error of that row.
 */
import { assert, must } from '../base/assert.ts';
import { type Column, isValid } from '../batch/column.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { nullColumn } from '../batch/column-builder.ts';
import { filterBatch, takeBatch, takeColumn } from '../batch/take.ts';
import type { Schema } from '../batch/types.ts';
import {
  type CompiledExpr,
  type CompiledPredicate,
  compileExpr,
  compilePredicate,
} from '../expr/compile.ts';
import { RowErrors } from '../expr/row-errors.ts';
import { type UserFunction, tableColumns } from '../expr/user-function.ts';
import type { OperatorSpec } from '../graph/graph.ts';
import type { Output } from './operator.ts';
import { survivors } from './project.ts';
import { problemsOf, rowJson } from './row-json.ts';
import { StatelessOperator } from './stateless-operator.ts';

/** The arguments of `rows` calls, a column per parameter. */
export type FunctionRequest = { fn: UserFunction; rows: number; columns: readonly Column[] };

export type FunctionReply = {
  /** One of as many values as rows were asked about; of a table function those of all rows it gave, one after the other. */
  columns: readonly Column[];
  /** Of a table function: how many rows it gave for each. */
  counts: Int32Array | null;
  /** Rows of the request that failed. */
  errors: readonly { row: number; message: string }[];
};

/** A batch whose answers are awaited. */
export type Asking = {
  batch: RecordBatch;
  errors: RowErrors;
  /** Per call: the rows that are asked about. */
  asked: readonly { indices: Int32Array; request: FunctionRequest | null }[];
};

type Call = {
  fn: UserFunction;
  args: readonly CompiledExpr[];
  guard: CompiledPredicate | null;
};

export type UserFunctionsSpec = OperatorSpec & { tag: 'user-function' };

export class UserFunctions extends StatelessOperator {
  readonly #calls: readonly Call[];
  readonly #rows: UserFunctionsSpec['rows'];
  readonly #inputSchema: Schema;

  constructor(spec: UserFunctionsSpec, inputSchema: Schema) {
    super();
    this.#rows = spec.rows;
    this.#inputSchema = inputSchema;
    this.#calls = spec.calls.map(({ fn, args, guard }) => ({
      fn,
      args: args.map(compileExpr),
      guard: guard === null ? null : compilePredicate(guard),
    }));
  }

  onBatch(): void {
    assert(false, 'functions of the user are asked, and answer later');
  }

  ask(batch: RecordBatch): Asking {
    const errors = new RowErrors(batch.rows);
    return { batch, errors, asked: this.#calls.map((call) => askCall(call, batch, errors)) };
  }

  /** @param replies  one for each request, in order */
  finish(
    { batch, errors, asked }: Asking,
    replies: readonly (FunctionReply | null)[],
    output: Output,
  ): void {
    asked.forEach(({ indices }, at) => {
      const name = must(this.#calls[at], 'call').fn.name;
      for (const { row, message } of replies[at]?.errors ?? [])
        errors.fail(
          must(indices[row], 'row that was asked about'),
          'FUNCTION_ERROR',
          `${name}(): ${message}`,
        );
    });
    if (errors.failed)
      output.fail(problemsOf(errors, (row) => rowJson(batch, this.#inputSchema, row)));
    if (this.#rows === null) {
      const added = asked.map(({ indices }, at) =>
        scattered(must(this.#calls[at], 'call').fn, replies[at] ?? null, indices, batch.rows),
      );
      const made = { ...batch, columns: [...batch.columns, ...added] };
      output.emit(errors.failed ? filterBatch(made, survivors(batch.rows, errors)) : made);
      return;
    }
    const [only] = asked;
    const { fn } = must(this.#calls[0], 'call');
    output.emit(
      expanded(
        batch,
        fn,
        must(only, 'call').indices,
        replies[0] ?? null,
        errors,
        this.#rows === 'outer',
      ),
    );
  }
}

function askCall(
  { fn, args, guard }: Call,
  batch: RecordBatch,
  errors: RowErrors,
): { indices: Int32Array; request: FunctionRequest | null } {
  let indices: Int32Array | null = null;
  let rows = batch;
  if (guard !== null) {
    // A row whose guard fails does so again where the expression is computed that the call was taken out of.
    const needed = guard(batch, new RowErrors(batch.rows));
    indices = needed.indices.slice(0, needed.count);
    rows = takeBatch(batch, indices, needed.count);
  }
  const own = new RowErrors(rows.rows);
  const columns = args.map((arg) => arg(rows, own));
  for (const { row, code, message, column } of own.list)
    errors.fail(indices === null ? row : (indices[row] as number), code, message, column);
  const wantsNulls = fn.calledOnNull || fn.kind === 'aggregate';
  const kept = new Int32Array(rows.rows);
  let count = 0;
  for (let row = 0; row < rows.rows; row++) {
    if (own.hasFailed(row)) continue;
    if (!wantsNulls && columns.some((column) => !isValid(column, row))) continue;
    kept[count++] = row;
  }
  const asked = kept.slice(0, count);
  const taken = columns.map((column) => takeColumn(column, asked, count));
  const places =
    indices === null ? asked : asked.map((row) => (indices as Int32Array)[row] as number);
  return { indices: places, request: count === 0 ? null : { fn, rows: count, columns: taken } };
}

const NO_ROWS = new Int32Array(0);

/** For each row of the batch its place among those that were asked about; -1: it was not. */
function placesOf(indices: Int32Array, rows: number): Int32Array {
  const places = new Int32Array(rows).fill(-1);
  for (let at = 0; at < indices.length; at++) places[indices[at] as number] = at;
  return places;
}

/** The results at the rows they are of, NULL elsewhere. */
function scattered(
  fn: UserFunction,
  reply: FunctionReply | null,
  indices: Int32Array,
  rows: number,
): Column {
  const column = reply?.columns[0] ?? nullColumn(fn.returns, indices.length);
  assert(reply === null || column.length === indices.length, 'a function gives a value per row');
  if (indices.length === rows) return column;
  return takeColumn(column, placesOf(indices, rows), rows);
}

function expanded(
  batch: RecordBatch,
  fn: UserFunction,
  indices: Int32Array,
  reply: FunctionReply | null,
  errors: RowErrors,
  outer: boolean,
): RecordBatch {
  const counts = reply?.counts ?? NO_ROWS;
  const total = counts.reduce((sum, count) => sum + count, 0);
  const sources = new Int32Array(total + (outer ? batch.rows : 0));
  const given = new Int32Array(sources.length);
  const places = placesOf(indices, batch.rows);
  const starts = new Int32Array(counts.length + 1);
  for (let at = 0; at < counts.length; at++)
    starts[at + 1] = (starts[at] as number) + (counts[at] as number);
  let made = 0;
  for (let row = 0; row < batch.rows; row++) {
    if (errors.hasFailed(row)) continue;
    const place = places[row] as number;
    const from = place < 0 ? 0 : (starts[place] ?? 0);
    const to = place < 0 ? 0 : (starts[place + 1] ?? 0);
    for (let at = from; at < to; at++) {
      sources[made] = row;
      given[made++] = at;
    }
    if (outer && from === to) {
      sources[made] = row;
      given[made++] = -1;
    }
  }
  const rows = takeBatch(batch, sources, made);
  const columns = tableColumns(fn).map(({ type }, at) =>
    takeColumn(reply?.columns[at] ?? nullColumn(type, 0), given, made),
  );
  return { ...rows, columns: [...rows.columns, ...columns] };
}
