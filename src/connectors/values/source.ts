/**
 * The rows of VALUES and of SELECT without FROM: a source that ends.
 *
 * Place in the walk: stage 5. Rows are constants of the plan; they are one partition, which subtask 0 reads. It is no
 * connector that a table can name. Offset: how many rows were given out. Failure: none.
 */
import { assert } from '../../base/assert.ts';
import { appendLiteral, type LiteralLike } from '../../batch/constant-column.ts';
import { makeBuilder } from '../../batch/column-builder.ts';
import type { RecordBatch } from '../../batch/record-batch.ts';
import type { DecodeColumn } from '../../formats/format.ts';
import type { JsonValue } from '../../lineage/types.ts';
import type { ReadResult, Source, SourceContext, SourceStep } from '../connector.ts';

export class ValuesSource implements Source {
  readonly partitions: readonly number[];
  readonly #columns: readonly DecodeColumn[];
  readonly #values: Readonly<Record<string, readonly LiteralLike[]>>;
  readonly #rows: number;
  readonly #context: SourceContext;
  #given = 0;
  #ended = false;

  constructor(context: SourceContext) {
    const { spec, subtask } = context;
    const { rows, values } = spec.connector.options;
    assert(typeof rows === 'number' && typeof values === 'string', 'the planner wrote the rows');
    this.partitions = subtask === 0 ? [0] : [];
    this.#columns = spec.physical;
    this.#values = JSON.parse(values) as Record<string, LiteralLike[]>;
    this.#rows = rows;
    this.#context = context;
  }

  poll(_nowMs: number): SourceStep {
    if (this.partitions.length === 0 || this.#ended) return { tag: 'ended' };
    if (this.#given === this.#rows) {
      this.#ended = true;
      return { tag: 'partition-ended', partition: 0 };
    }
    const to = Math.min(this.#rows, this.#given + this.#context.batchRows);
    const batch = this.#batch(this.#given, to);
    this.#given = to;
    return { tag: 'batch', partition: 0, batch, read: batch.rows, problems: [], input: null };
  }

  #batch(from: number, to: number): RecordBatch {
    const columns = this.#columns.map(({ name, type }) => {
      const builder = makeBuilder(type, to - from);
      const values = this.#values[name] ?? [];
      for (let row = from; row < to; row++) appendLiteral(builder, values[row] ?? null);
      return builder.finish();
    });
    return { rows: to - from, columns, eventTime: null, retract: null };
  }

  onRead(_partition: number, _result: ReadResult): void {
    assert(false, 'values ask for nothing to be read');
  }

  snapshot(): Record<string, JsonValue> {
    return this.partitions.length === 0 ? {} : { 0: this.#given };
  }

  restore(offsets: Record<string, JsonValue>): void {
    const given = offsets['0'];
    if (typeof given === 'number') this.#given = given;
  }
}
