/** Runs a planned program in one subtask without hosts, shuffles or checkpoints: SQL to rows. */
import type { RecordBatch } from '../../src/batch/record-batch.ts';
import { rowsOf, type Row } from '../../src/batch/values.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { makeSource } from '../../src/connectors/registry.ts';
import { compileExpr } from '../../src/expr/compile.ts';
import { RowErrors } from '../../src/expr/row-errors.ts';
import type { GraphOperator, PhysicalGraph } from '../../src/graph/graph.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { makeOperator } from '../../src/operators/make-operator.ts';
import type { Operator, Output, RowProblem } from '../../src/operators/operator.ts';
import { WatermarkGenerator } from '../../src/operators/watermark-generator.ts';

export type RunResult = { rows: Row[]; failed: RowProblem[]; late: RowProblem[] };

/** The appended rows of all sinks; sources must end without reading from outside. */
export function runSql(sql: string, batchRows = 2048): RunResult {
  const { graph, errors } = planSql(sql, DECLARATIONS, { defaultSink: 'stdout' });
  if (graph === null) throw new Error(JSON.stringify(errors));
  const run = new GraphRun(graph);
  const [source, ...others] = graph.operators.filter((operator) => operator.spec.tag === 'source');
  if (source === undefined || others.length > 0) throw new Error('one source is supported');
  run.drain(source, batchRows);
  return run.result;
}

class GraphRun {
  readonly result: RunResult = { rows: [], failed: [], late: [] };
  readonly #graph: PhysicalGraph;
  readonly #operators = new Map<string, Operator>();

  constructor(graph: PhysicalGraph) {
    this.#graph = graph;
    for (const operator of graph.operators) {
      if (operator.spec.tag === 'source' || operator.spec.tag === 'sink') continue;
      this.#operators.set(operator.id, makeOperator(operator, graph));
    }
  }

  drain(operator: GraphOperator, batchRows: number): void {
    const { spec } = operator;
    if (spec.tag !== 'source') throw new Error('not a source');
    const source = makeSource({
      spec,
      subtask: 0,
      parallelism: 1,
      batchRows,
      pipelineCreatedMs: 0,
    });
    const generator = new WatermarkGenerator(spec.watermark, operator.schema, source.partitions);
    const computed = spec.computed?.map(compileExpr) ?? null;
    for (;;) {
      const step = source.poll(0);
      if (step.tag === 'ended') break;
      if (step.tag !== 'batch') continue;
      const { batch } = step;
      const errors = new RowErrors(batch.rows);
      const columns = computed?.map((expr) => expr(batch, errors)) ?? batch.columns;
      for (const segment of generator.onBatch(step.partition, { ...batch, columns }, 0).segments) {
        if (segment.watermarkBefore !== null) this.#watermark(operator.id, segment.watermarkBefore);
        this.#emit(operator.id, segment.batch);
      }
      if (generator.watermark !== null) this.#watermark(operator.id, generator.watermark);
    }
    this.#watermark(operator.id, Infinity);
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
      if (operator !== undefined) operator.onBatch(edge.port, batch, this.#outputOf(edge.to));
      else if (sink !== undefined)
        for (const row of rowsOf(batch, sink.schema)) this.result.rows.push(row);
    }
  }

  #watermark(id: string, watermark: number): void {
    for (const edge of this.#graph.edges.filter((each) => each.from === id)) {
      this.#operators.get(edge.to)?.onWatermark(watermark, this.#outputOf(edge.to));
      this.#watermark(edge.to, watermark);
    }
  }
}
