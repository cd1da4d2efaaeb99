/**
 * The engine without its outside: decoded batches → watermarks → the operators of a planned program → a counter.
 *
 * No connector, no format, no host: what is measured is what a row costs between decoder and encoder.
 */
import type { RecordBatch } from '../../src/batch/record-batch.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { compileExpr, type CompiledExpr } from '../../src/expr/compile.ts';
import { RowErrors } from '../../src/expr/row-errors.ts';
import type { GraphOperator, SourceSpec } from '../../src/graph/graph.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { makeOperator } from '../../src/operators/make-operator.ts';
import type { Operator } from '../../src/operators/operator.ts';
import { WatermarkGenerator } from '../../src/operators/watermark-generator.ts';
import { Node, type NodeBody } from '../../src/subtask/node.ts';

class CountingSink implements NodeBody {
  rows = 0;

  onBatch(_port: number, batch: RecordBatch): void {
    this.rows += batch.rows;
  }

  onWatermark(): void {}

  onTick(): void {}
}

export class EnginePipeline {
  readonly sink = new CountingSink();
  readonly operators: Operator[] = [];
  readonly spec: SourceSpec;
  readonly #node: Node;
  readonly #nodes: Node[] = [];
  readonly #generator: WatermarkGenerator;
  readonly #computed: readonly CompiledExpr[] | null;

  /** A program of one source, one sink and operators in between that nothing pins to a host. */
  constructor(sql: string) {
    const { graph, errors } = planSql(sql, DECLARATIONS, { defaultSink: 'stdout' });
    if (graph === null) throw new Error(JSON.stringify(errors));
    const nodes = new Map<string, Node>();
    const refuse = (): never => {
      throw new Error('no row of a benchmark fails');
    };
    for (const operator of graph.operators) {
      const ports = graph.edges.filter((edge) => edge.to === operator.id).length;
      const body = this.#bodyOf(operator, () => makeOperator(operator, graph));
      nodes.set(operator.id, new Node(operator, body, Math.max(1, ports), refuse));
    }
    for (const { from, to, port } of graph.edges)
      nodes.get(from)?.downstream.push({ node: nodes.get(to) as Node, port });
    const source = graph.operators.find(({ spec }) => spec.tag === 'source') as GraphOperator;
    this.spec = source.spec as SourceSpec;
    this.#node = nodes.get(source.id) as Node;
    this.#nodes.push(...nodes.values());
    this.#generator = new WatermarkGenerator(this.spec.watermark, source.schema, [0]);
    this.#computed = this.spec.computed?.map(compileExpr) ?? null;
  }

  #bodyOf(operator: GraphOperator, make: () => Operator): NodeBody {
    if (operator.spec.tag === 'source' || operator.spec.tag === 'sink') return this.sink;
    const body = make();
    this.operators.push(body);
    return body;
  }

  /** One batch of physical columns, as `SourceNode` takes it from a decoder. */
  push(batch: RecordBatch): void {
    const errors = new RowErrors(batch.rows);
    const columns = this.#computed?.map((expr) => expr(batch, errors)) ?? batch.columns;
    const { segments } = this.#generator.onBatch(0, { ...batch, columns }, 0);
    for (const segment of segments) {
      this.#advance(segment.watermarkBefore);
      this.#node.emit(segment.batch);
    }
    this.#advance(this.#generator.watermark);
  }

  #advance(watermark: number | null): void {
    if (watermark !== null && (this.#node.watermark === null || watermark > this.#node.watermark))
      this.#node.advance(watermark);
  }

  tick(nowMs: number): void {
    for (const node of this.#nodes) node.body.onTick(nowMs, node);
  }

  end(): void {
    this.#node.advance(Infinity);
  }
}
