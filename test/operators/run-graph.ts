/** Runs a planned program in one subtask without hosts, shuffles or checkpoints: SQL to rows. */
import type { RecordBatch } from '../../src/batch/record-batch.ts';
import { batchFromRows, rowsOf, type Row } from '../../src/batch/values.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { makeSource } from '../../src/connectors/registry.ts';
import type { Schema } from '../../src/batch/types.ts';
import { compileExpr, type CompiledExpr } from '../../src/expr/compile.ts';
import { RowErrors } from '../../src/expr/row-errors.ts';
import type { GraphOperator, PhysicalGraph, SourceSpec } from '../../src/graph/graph.ts';
import { makeRowDecoder } from '../../src/formats/row-decoder.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { makeOperator } from '../../src/operators/make-operator.ts';
import type { Operator, Output, RowProblem } from '../../src/operators/operator.ts';
import { UserFunctions } from '../../src/operators/user-functions.ts';
import { answerAtOnce } from '../harness/function-double.ts';
import { WatermarkMerge } from '../../src/subtask/watermark-merge.ts';
import { writeOver } from '../harness/write-over.ts';
import { WatermarkGenerator } from '../../src/operators/watermark-generator.ts';

export type RunResult = {
  rows: Row[];
  failed: RowProblem[];
  late: RowProblem[];
  /** Of the sink, the first one if there are several. */
  schema: Schema;
};

/**
 * What the sinks hold in the end: appended rows less those taken back. Sources take turns, one batch each (in the order
 * `turns` gives when there are several), and must end without reading from outside.
 */
export function runSql(sql: string, batchRows = 2048, turns: readonly number[] = []): RunResult {
  return runWith(sql, turns, (run, operator) => run.open(operator, batchRows));
}

/** Rows, which may hold values as `batchFromRows` takes them, or text in the table's format. */
export type Input = readonly Row[] | string;

/** What comes between two turns: nothing, the clock, or a barrier. */
export type Pause = 'none' | 'tick' | 'barrier';

/**
 * As `runSql`, over given rows of each table that does not make them itself. `pauses` follow on the turns, over and over;
 * without any, results that change leave at the end only.
 */
export function runRows(
  sql: string,
  inputs: Readonly<Record<string, Input>>,
  batchRows = 2048,
  turns: readonly number[] = [],
  pauses: readonly Pause[] = [],
): RunResult {
  const start = (run: GraphRun, operator: GraphOperator): Generator<void> =>
    operator.spec.tag === 'source' && MADE.has(operator.spec.connector.connector)
      ? run.open(operator, batchRows)
      : run.feed(operator, inputs, batchRows);
  return runWith(sql, turns, start, pauses);
}

/** Longer than anything waits for the clock. */
const TICK_MS = 60_000;

const MADE: ReadonlySet<string> = new Set(['values', 'nexmark']);

function runWith(
  sql: string,
  turns: readonly number[],
  start: (run: GraphRun, operator: GraphOperator) => Generator<void>,
  pauses: readonly Pause[] = [],
): RunResult {
  const { graph, errors } = planSql(sql, DECLARATIONS, { defaultSink: 'stdout' });
  if (graph === null) throw new Error(JSON.stringify(errors));
  const run = new GraphRun(graph);
  const sources = graph.operators
    .filter((operator) => operator.spec.tag === 'source')
    .map((operator) => start(run, operator));
  let open = sources;
  for (let turn = 0; open.length > 0; turn++) {
    const wanted = turns.length === 0 ? turn : (turns[turn % turns.length] as number);
    const source = open[wanted % open.length] as Generator<void>;
    if (source.next().done === true) open = open.filter((other) => other !== source);
    run.pause(pauses[turn % pauses.length] ?? 'none');
  }
  return run.finish();
}

function* batchesOf(spec: SourceSpec, input: Input, batchRows: number): Generator<RecordBatch> {
  if (typeof input !== 'string') {
    for (let from = 0; from < input.length; from += batchRows)
      yield batchFromRows(spec.physical, input.slice(from, from + batchRows));
    return;
  }
  const bytes = new TextEncoder().encode(input);
  const decoder = makeRowDecoder(spec.physical, spec.format);
  for (let from = 0; from < bytes.length;) {
    const { batch, errors, consumed } = decoder.decode(bytes, from, bytes.length, batchRows, true);
    if (errors.length > 0) throw new Error(JSON.stringify(errors));
    from = consumed;
    yield batch;
  }
}

/** What a source does to its batches. */
class SourceRun {
  readonly generator: WatermarkGenerator;
  readonly computed: readonly CompiledExpr[] | null;

  constructor(spec: SourceSpec, operator: GraphOperator, partitions: readonly number[]) {
    this.generator = new WatermarkGenerator(spec.watermark, operator.schema, partitions);
    this.computed = spec.computed?.map(compileExpr) ?? null;
  }
}

class GraphRun {
  readonly result: RunResult = { rows: [], failed: [], late: [], schema: [] };
  readonly #graph: PhysicalGraph;
  readonly #operators = new Map<string, Operator>();
  readonly #merges = new Map<string, WatermarkMerge>();
  readonly #watermarks = new Map<string, number>();

  constructor(graph: PhysicalGraph) {
    this.#graph = graph;
    for (const operator of graph.operators) {
      const ports = graph.edges.filter((edge) => edge.to === operator.id).length;
      this.#merges.set(operator.id, new WatermarkMerge(ports));
      if (operator.spec.tag === 'sink' && this.result.schema.length === 0)
        this.result.schema = operator.schema;
      if (operator.spec.tag === 'source' || operator.spec.tag === 'sink') continue;
      this.#operators.set(operator.id, makeOperator(operator, graph));
    }
  }

  /** Reads one batch at each step. */
  *open(operator: GraphOperator, batchRows: number): Generator<void> {
    const { spec } = operator;
    if (spec.tag !== 'source') throw new Error('not a source');
    const source = makeSource({
      spec,
      subtask: 0,
      parallelism: 1,
      batchRows,
      pipelineCreatedMs: 0,
    });
    const reader = new SourceRun(spec, operator, source.partitions);
    for (;;) {
      const step = source.poll(0);
      if (step.tag === 'ended') break;
      if (step.tag !== 'batch') continue;
      this.#deliver(operator.id, reader, step.partition, step.batch);
      yield;
    }
    this.#watermark(operator.id, Infinity);
  }

  /** Gives the rows of a table, one batch at each step. */
  *feed(
    operator: GraphOperator,
    inputs: Readonly<Record<string, Input>>,
    batchRows: number,
  ): Generator<void> {
    const { spec } = operator;
    if (spec.tag !== 'source') throw new Error('not a source');
    const input = inputs[spec.table];
    if (input === undefined) throw new Error(`no rows for ${spec.table}`);
    const reader = new SourceRun(spec, operator, [0]);
    for (const batch of batchesOf(spec, input, batchRows)) {
      this.#deliver(operator.id, reader, 0, batch);
      if (this.#mayLend(operator.id)) writeOver(batch);
      yield;
    }
    this.#watermark(operator.id, Infinity);
  }

  /** As `Node.mayLend`. */
  #mayLend(id: string): boolean {
    return this.#graph.edges
      .filter(({ from }) => from === id)
      .every(({ to }) => {
        const operator = this.#operators.get(to);
        return operator === undefined || (operator.copiesRows === true && this.#mayLend(to));
      });
  }

  #deliver(id: string, reader: SourceRun, partition: number, batch: RecordBatch): void {
    const { generator, computed } = reader;
    const errors = new RowErrors(batch.rows);
    const columns = computed?.map((expr) => expr(batch, errors)) ?? batch.columns;
    for (const segment of generator.onBatch(partition, { ...batch, columns }, 0).segments) {
      if (segment.watermarkBefore !== null) this.#watermark(id, segment.watermarkBefore);
      this.#emit(id, segment.batch);
    }
    if (generator.watermark !== null) this.#watermark(id, generator.watermark);
  }

  #nowMs = 0;

  /** What is held back leaves, from the sources downwards as behind a barrier. */
  pause(pause: Pause): void {
    if (pause === 'none') return;
    this.#nowMs += TICK_MS;
    for (const id of this.#downwards())
      if (pause === 'tick') this.#operators.get(id)?.onTick(this.#nowMs, this.#outputOf(id));
      else this.#operators.get(id)?.onBarrier(this.#outputOf(id));
  }

  #downwards(): string[] {
    const found: string[] = [];
    let rest = this.#graph.operators.map(({ id }) => id);
    while (rest.length > 0) {
      const ready = rest.filter((id) =>
        this.#graph.edges.every(({ from, to }) => to !== id || found.includes(from)),
      );
      found.push(...ready);
      rest = rest.filter((id) => !ready.includes(id));
    }
    return found;
  }

  #outputOf(id: string): Output {
    return {
      emit: (batch) => this.#emit(id, batch),
      fail: (problems) => this.result.failed.push(...problems),
      late: (problems) => this.result.late.push(...problems),
    };
  }

  #emit(id: string, batch: RecordBatch): void {
    if (batch.rows === 0) return;
    for (const edge of this.#graph.edges.filter((each) => each.from === id)) {
      const operator = this.#operators.get(edge.to);
      const sink = this.#graph.operators.find((each) => each.id === edge.to);
      if (operator instanceof UserFunctions) {
        const asking = operator.ask(batch);
        const replies = asking.asked.map(({ request }) =>
          request === null ? null : answerAtOnce(request),
        );
        operator.finish(asking, replies, this.#outputOf(edge.to));
      } else if (operator !== undefined)
        operator.onBatch(edge.port, batch, this.#outputOf(edge.to));
      else if (sink !== undefined) this.#settle(batch, sink);
    }
  }

  /** Appends rows and takes back retracted ones. */
  #settle(batch: RecordBatch, sink: GraphOperator): void {
    const rows = rowsOf(batch, sink.schema);
    if (!sink.updating) {
      for (const row of rows) this.result.rows.push(row);
      return;
    }
    rows.forEach((row, at) => {
      const text = JSON.stringify(row, (_, value: unknown) =>
        typeof value === 'bigint' ? `${value}` : value,
      );
      const places = this.#places.get(text) ?? [];
      this.#places.set(text, places);
      if (batch.retract?.[at] === 1) {
        const place = places.pop();
        if (place === undefined) throw new Error(`a row is taken back that is not there: ${text}`);
        this.#gone.add(place);
      } else places.push(this.result.rows.push(row) - 1);
    });
  }

  readonly #places = new Map<string, number[]>();
  readonly #gone = new Set<number>();

  finish(): RunResult {
    const rows = this.result.rows.filter((_, at) => !this.#gone.has(at));
    return { ...this.result, rows };
  }

  #watermark(id: string, watermark: number): void {
    for (const edge of this.#graph.edges.filter((each) => each.from === id)) {
      const merge = this.#merges.get(edge.to) as WatermarkMerge;
      const waiting = this.#operators.get(edge.to);
      if (waiting?.waitsForEnd === edge.port) {
        if (watermark !== Infinity) continue;
        waiting.onPortEnd?.(this.#outputOf(edge.to));
      }
      merge.set(edge.port, watermark);
      const merged = merge.merged.watermark;
      if (merged === null || merged <= (this.#watermarks.get(edge.to) ?? -Infinity)) continue;
      this.#watermarks.set(edge.to, merged);
      this.#operators.get(edge.to)?.onWatermark(merged, this.#outputOf(edge.to));
      this.#watermark(edge.to, merged);
    }
  }
}
