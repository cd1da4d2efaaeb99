/** Runs keyed operators as a pipeline would: one source partition, a shuffle, several subtasks, checkpoints, rescale. */
import { type KeyRange, keyRangeOf } from '../../src/base/hash.ts';
import { partitionBatch } from '../../src/batch/partition.ts';
import type { RecordBatch } from '../../src/batch/record-batch.ts';
import { hashRows } from '../../src/batch/row-hash.ts';
import { sliceBatch } from '../../src/batch/take.ts';
import {
  BOOLEAN,
  INT64,
  TEXT,
  TIMESTAMP,
  type Schema,
  type SqlType,
} from '../../src/batch/types.ts';
import { batchFromRows, rowsOf, type Row } from '../../src/batch/values.ts';
import type { AggregateCall, Expr } from '../../src/expr/expr.ts';
import type { Operator, Output, RowProblem } from '../../src/operators/operator.ts';
import { type LayerPart, mergeLayers } from '../../src/state/merge-layers.ts';
import type { StateTable } from '../../src/state/state-table.ts';
import { decodeStateTable, encodeStateTable } from '../../src/state/table-file.ts';

export const column = (index: number, type: SqlType): Expr => ({ tag: 'column', index, type });

export const call = (
  fn: string,
  args: readonly Expr[],
  type: SqlType,
  filter: Expr | null = null,
): AggregateCall => ({
  fn,
  args,
  distinct: false,
  filter,
  type,
  label: fn,
});

/** Key, value, flag, event time and the watermark a row brings. */
export const INPUT: Schema = [
  { name: 'k', type: TEXT, nullable: true },
  { name: 'v', type: INT64, nullable: true },
  { name: 'flag', type: BOOLEAN, nullable: true },
  { name: 't', type: TIMESTAMP, nullable: false },
  { name: 'mark', type: TIMESTAMP, nullable: false },
];

export type InputRow = {
  k: string | null;
  v: bigint | null;
  flag: boolean | null;
  t: bigint;
  mark: bigint;
};

export const inputBatch = (rows: readonly InputRow[]): RecordBatch =>
  batchFromRows(INPUT, rows as readonly Row[]);

export class Collected implements Output {
  readonly batches: RecordBatch[] = [];
  readonly failed: RowProblem[] = [];
  readonly lateRows: RowProblem[] = [];

  emit(batch: RecordBatch): void {
    if (batch.rows > 0) this.batches.push(batch);
  }

  fail(problems: readonly RowProblem[]): void {
    this.failed.push(...problems);
  }

  late(problems: readonly RowProblem[]): void {
    this.lateRows.push(...problems);
  }

  rows(schema: Schema): Row[] {
    return this.batches.flatMap((batch) => rowsOf(batch, schema));
  }

  rowsOfBatch(batch: RecordBatch, schema: Schema): Row[] {
    return rowsOf(batch, schema);
  }
}

/** The subtasks of one keyed operator behind a shuffle on columns `keys` of its input. */
export class Subtasks {
  readonly output = new Collected();
  readonly #make: () => Operator;
  readonly #keys: readonly number[];
  #operators: Operator[];
  #watermark: number | null = null;
  /** Of each subtask: the files of its checkpoints since it was made. */
  #layers: Uint8Array[][][] = [];

  constructor(make: () => Operator, keys: readonly number[], parallelism: number) {
    this.#make = make;
    this.#keys = keys;
    this.#operators = Array.from({ length: parallelism }, make);
  }

  get operators(): readonly Operator[] {
    return this.#operators;
  }

  /** Every port is shuffled by the same columns. */
  send(batch: RecordBatch, port = 0): void {
    const hashes = new Uint32Array(batch.rows);
    hashRows(
      this.#keys.map((key) => batch.columns[key] as never),
      batch.rows,
      hashes,
    );
    partitionBatch(batch, hashes, this.#operators.length).forEach((part, subtask) => {
      if (part !== null) this.#operators[subtask]?.onBatch(port, part, this.output);
    });
  }

  watermark(watermark: number | null): void {
    if (watermark === null || (this.#watermark !== null && watermark <= this.#watermark)) return;
    this.#watermark = watermark;
    for (const operator of this.#operators) operator.onWatermark(watermark, this.output);
    if (this.#operators[0]?.keepsChanges === true) this.checkpoint();
  }

  tick(nowMs: number): void {
    for (const operator of this.#operators) operator.onTick(nowMs, this.output);
  }

  /** A checkpoint: the operators that keep changes give those since the one before, the others their whole state. */
  checkpoint(): void {
    this.#operators.forEach((operator, subtask) => {
      operator.onBarrier(this.output);
      const layers = this.#layers[subtask] ?? [];
      const kind = operator.keepsChanges === true && layers.length > 0 ? 'changes' : 'whole';
      const files = operator.snapshot(kind).map((table) => encodeStateTable(table));
      this.#layers[subtask] = kind === 'whole' ? [files] : [...layers, files];
    });
  }

  /** A checkpoint, and a restart from its files at another parallelism. */
  restart(parallelism: number): void {
    this.checkpoint();
    const layers = this.#layers;
    this.#layers = [];
    this.#operators = Array.from({ length: parallelism }, (_, subtask) => {
      const operator = this.#make();
      const range = keyRangeOf(subtask, parallelism);
      const tables = layers.flatMap((former) => tablesOf(former, range));
      operator.restore(tables.filter((table) => table.rows > 0));
      if (this.#watermark !== null) operator.onWatermark(this.#watermark, this.output);
      return operator;
    });
  }
}

/** The whole tables that one former subtask's checkpoints add up to, each cut to the range of a new one. */
function tablesOf(checkpoints: readonly Uint8Array[][], range: KeyRange): StateTable[] {
  const chains = new Map<string, LayerPart[]>();
  for (const files of checkpoints) {
    for (const table of files.map((bytes) => decodeStateTable(bytes, range))) {
      const chain = table.changes === null ? [] : (chains.get(table.table) ?? []);
      // Changes of a table that was empty so far are all there is of it.
      chains.set(table.table, [...chain, { layer: chain.length, table }]);
    }
  }
  return [...chains.values()].map(mergeLayers);
}

/** The batch cut at the given places. */
export function* cutAt(batch: RecordBatch, sizes: readonly number[]): Generator<RecordBatch> {
  let from = 0;
  for (let turn = 0; from < batch.rows; turn++) {
    const to = Math.min(batch.rows, from + (sizes[turn % sizes.length] as number));
    yield sliceBatch(batch, from, to);
    from = to;
  }
}

export const text = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? `n${inner}` : inner));
