/**
 * A planned program in one subtask, from the lines of `http` tables to rows, on the production nodes and a clock of the
 * test: partitions, idleness, watermarks, late rows.
 */
import { must } from '../../src/base/assert.ts';
import { type KeyRange, keyRangeOf } from '../../src/base/hash.ts';
import { partitionBatch } from '../../src/batch/partition.ts';
import { hashRows } from '../../src/batch/row-hash.ts';
import { type CompiledExpr, compileExpr } from '../../src/expr/compile.ts';
import { RowErrors } from '../../src/expr/row-errors.ts';
import { decodeStateTable, encodeStateTable } from '../../src/state/table-file.ts';
import type { RecordBatch } from '../../src/batch/record-batch.ts';
import { typeName } from '../../src/batch/types.ts';
import { batchFromRows, rowsOf, type Row } from '../../src/batch/values.ts';
import { JSON_FORMAT } from '../../src/formats/format.ts';
import { JsonEncoder } from '../../src/formats/json-encoder.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import type { ReadRequest } from '../../src/connectors/connector.ts';
import { makeSource } from '../../src/connectors/registry.ts';
import type { GraphOperator, PhysicalGraph } from '../../src/graph/graph.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { makeOperator } from '../../src/operators/make-operator.ts';
import type { Operator, Output, RowProblem } from '../../src/operators/operator.ts';
import { type LayerPart, mergeLayers } from '../../src/state/merge-layers.ts';
import type { StateTable } from '../../src/state/state-table.ts';
import { Node, type NodeBody } from '../../src/subtask/node.ts';
import { SourceNode } from '../../src/subtask/source-node.ts';

class Collector implements NodeBody {
  readonly #operator: GraphOperator;
  /** Rows that are there: a row that was taken back is not. */
  rows: Row[] = [];
  /** Every change in order, those taken back marked. */
  readonly changes: { row: Row; retract: boolean }[] = [];

  constructor(operator: GraphOperator) {
    this.#operator = operator;
  }

  onBatch(_port: number, batch: RecordBatch): void {
    rowsOf(batch, this.#operator.schema).forEach((row, at) => {
      const retract = batch.retract?.[at] === 1;
      this.changes.push({ row, retract });
      if (!retract) this.rows.push(row);
      else this.rows.splice(must(this.#find(row), 'a row that is there'), 1);
    });
  }

  lines(): string[] {
    const encoder = new JsonEncoder(this.#operator.schema, JSON_FORMAT);
    const bytes = encoder.encode(batchFromRows(this.#operator.schema, this.rows));
    return new TextDecoder().decode(bytes).split('\n').slice(0, -1);
  }

  #find(row: Row): number | undefined {
    const text = plain(row);
    const at = this.rows.findIndex((each) => plain(each) === text);
    return at < 0 ? undefined : at;
  }

  onWatermark(): void {}

  onTick(): void {}
}

/** An operator in as many subtasks as it may have: its rows are dealt by what they are shuffled by. */
class Subtasks implements NodeBody {
  #operators: Operator[];
  readonly #make: () => Operator;
  readonly #keys: readonly (readonly CompiledExpr[])[];
  /** Of each subtask: the files of its checkpoints since it was made. */
  #checkpoints: Uint8Array[][][] = [];

  constructor(operator: GraphOperator, graph: PhysicalGraph, parallelism: number) {
    this.#make = () => makeOperator(operator, graph);
    const edges = graph.edges.filter((edge) => edge.to === operator.id);
    this.#keys = [...edges]
      .sort((one, other) => one.port - other.port)
      .map((edge) => edge.keys.map(compileExpr));
    const keyed = edges.every(({ kind, keys }) => kind === 'shuffle' && keys.length > 0);
    this.#operators = Array.from({ length: keyed ? parallelism : 1 }, this.#make);
  }

  get first(): Operator {
    return must(this.#operators[0], 'a subtask');
  }

  get waitsForEnd(): number | undefined {
    return this.first.waitsForEnd;
  }

  onPortEnd(output: Output): void {
    for (const operator of this.#operators) operator.onPortEnd?.(output);
  }

  onBatch(port: number, batch: RecordBatch, output: Output): void {
    if (this.#operators.length === 1) return this.first.onBatch(port, batch, output);
    const errors = new RowErrors(batch.rows);
    const keys = must(this.#keys[port], 'keys').map((key) => key(batch, errors));
    const hashes = new Uint32Array(batch.rows);
    hashRows(keys, batch.rows, hashes);
    partitionBatch(batch, hashes, this.#operators.length).forEach((part, subtask) => {
      if (part !== null) this.#operators[subtask]?.onBatch(port, part, output);
    });
  }

  onWatermark(watermark: number, output: Output): void {
    for (const operator of this.#operators) operator.onWatermark(watermark, output);
  }

  onTick(nowMs: number, output: Output): void {
    for (const operator of this.#operators) operator.onTick(nowMs, output);
  }

  stateRows(): number {
    return this.#operators.reduce((sum, operator) => sum + operator.stateRows(), 0);
  }

  /** Operators that keep changes give those since the checkpoint before, the others their whole state. */
  checkpoint(output: Output): void {
    this.#operators.forEach((operator, subtask) => {
      operator.onBarrier(output);
      const before = this.#checkpoints[subtask] ?? [];
      const kind = operator.keepsChanges === true && before.length > 0 ? 'changes' : 'whole';
      const tables = operator.snapshot(kind).map((table) => encodeStateTable(table));
      this.#checkpoints[subtask] = kind === 'whole' ? [tables] : [...before, tables];
    });
  }

  /** Every subtask is made anew from a checkpoint, with half or twice as many of them when there are several. */
  restart(watermark: number | null, output: Output): void {
    this.checkpoint(output);
    const former = this.#checkpoints;
    this.#checkpoints = [];
    const before = this.#operators.length;
    const after = before === 1 ? 1 : before === 2 ? 4 : 2;
    this.#operators = Array.from({ length: after }, (_, subtask) => {
      const fresh = this.#make();
      if (watermark !== null) fresh.onWatermark(watermark, output);
      const range = keyRangeOf(subtask, after);
      fresh.restore(former.flatMap((files) => wholeTables(files, range)));
      return fresh;
    });
  }
}

/** The whole tables that one subtask's checkpoints add up to, each cut to a range of keys. */
function wholeTables(checkpoints: readonly Uint8Array[][], range: KeyRange): StateTable[] {
  const chains = new Map<string, LayerPart[]>();
  for (const files of checkpoints)
    for (const table of files.map((bytes) => decodeStateTable(bytes, range))) {
      const chain = table.changes === null ? [] : (chains.get(table.table) ?? []);
      chains.set(table.table, [...chain, { layer: chain.length, table }]);
    }
  return [...chains.values()].map(mergeLayers).filter((table) => table.rows > 0);
}

/** A row with times as ISO texts and whole numbers as numbers. */
export const plain = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? Number(inner) : inner));

export class SmallPipeline {
  readonly late: RowProblem[] = [];
  readonly failed: RowProblem[] = [];
  readonly watermarks: number[] = [];
  readonly #nodes = new Map<string, Node>();
  readonly #sources: SourceNode[] = [];
  readonly #logs = new Map<string, string[][]>();
  readonly #waiting: { source: SourceNode; partition: number; request: ReadRequest }[] = [];
  readonly #graph: PhysicalGraph;
  readonly #batchRows: number;
  readonly #parallelism: number;
  #nowMs = 0;

  constructor(sql: string, batchRows = 64, parallelism = 1) {
    const { graph, errors } = planSql(sql, DECLARATIONS, { defaultSink: 'preview' });
    this.#graph = must(graph, JSON.stringify(errors));
    this.#batchRows = batchRows;
    this.#parallelism = parallelism;
    for (const operator of this.#graph.operators)
      this.#nodes.set(operator.id, this.#node(operator));
    for (const { from, to, port } of this.#graph.edges)
      this.#nodeOf(from).downstream.push({ node: this.#nodeOf(to), port });
  }

  #nodeOf(id: string): Node {
    return must(this.#nodes.get(id), id);
  }

  #node(operator: GraphOperator): Node {
    const ports = this.#graph.edges.filter((edge) => edge.to === operator.id).length;
    const body = this.#bodyOf(operator);
    const node = new Node(operator, body, Math.max(1, ports), (_, kind, problems) =>
      (kind === 'late' ? this.late : this.failed).push(...problems),
    );
    if (body instanceof SourceNode) body.attach(node);
    return node;
  }

  #bodyOf(operator: GraphOperator): NodeBody {
    const { spec } = operator;
    if (spec.tag === 'sink') return new Collector(operator);
    if (spec.tag !== 'source') return new Subtasks(operator, this.#graph, this.#parallelism);
    const source = makeSource({
      spec,
      subtask: 0,
      parallelism: 1,
      batchRows: this.#batchRows,
      pipelineCreatedMs: 0,
    });
    const unused = (): never => {
      throw new Error('a source only reads');
    };
    const port = {
      read: (_: string, partition: number, request: ReadRequest): void => {
        this.#waiting.push({ source: body, partition, request });
      },
      fail: unused,
      problems: (_: string, kind: string, problems: readonly RowProblem[]): void => {
        (kind === 'late' ? this.late : this.failed).push(...problems);
      },
      stage: unused,
      preview: unused,
    };
    const body: SourceNode = new SourceNode(operator.id, spec, source, port as never);
    this.#sources.push(body);
    return body;
  }

  /** Appends lines to a partition of a table and lets everything that can happen now happen. */
  append(table: string, lines: readonly string[], partition = 0): void {
    const log = this.#logOf(table);
    (log[partition] ??= []).push(...lines);
    this.run();
  }

  #logOf(table: string): string[][] {
    const log = this.#logs.get(table) ?? [];
    this.#logs.set(table, log);
    return log;
  }

  run(): void {
    for (let busy = true; busy;) {
      busy = false;
      for (const source of this.#sources) {
        source.wakeAtMs = 0;
        while (source.step(this.#nowMs)) busy = true;
      }
      for (const waiting of this.#waiting.splice(0)) busy = this.#answer(waiting) || busy;
    }
    this.#note();
  }

  #answer(waiting: { source: SourceNode; partition: number; request: ReadRequest }): boolean {
    const { source, partition, request } = waiting;
    if (request.tag !== 'log') throw new Error('only http tables are read');
    const lines = this.#logOf(request.table)[partition] ?? [];
    const rows = lines.slice(request.offset);
    if (rows.length === 0) {
      this.#waiting.push(waiting);
      return false;
    }
    source.onRead(partition, {
      tag: 'log',
      firstOffset: request.offset,
      rows: rows.length,
      bytes: new TextEncoder().encode(rows.map((line) => `${line}\n`).join('')),
      endOffset: lines.length,
    });
    return true;
  }

  #note(): void {
    for (const { operator, watermark } of this.#nodes.values())
      if (operator.spec.tag === 'source' && watermark !== null) this.watermarks.push(watermark);
  }

  /** The clock goes on, a tenth of a second at a time. */
  advanceClock(ms: number): void {
    for (const end = this.#nowMs + ms; this.#nowMs < end;) {
      this.#nowMs += 100;
      this.run();
      for (const source of this.#sources) source.tick(this.#nowMs);
      for (const node of this.#nodes.values()) node.body.onTick(this.#nowMs, node);
    }
    this.#note();
  }

  /** The input ends. */
  end(): void {
    for (const source of this.#sources) {
      source.ended = true;
      this.#nodeOf(source.operator).advance(Infinity);
    }
  }

  /** Every operator gives what has changed since the checkpoint before. */
  checkpoint(): void {
    for (const node of this.#nodes.values())
      if (node.body instanceof Subtasks) node.body.checkpoint(node);
  }

  /** Every operator is made anew from a checkpoint of its state. */
  restart(): void {
    for (const node of this.#nodes.values())
      if (node.body instanceof Subtasks) node.body.restart(node.watermark, node);
  }

  /** The rows of every sink, each as JSON with times as ISO texts, in an order of their own. */
  rows(): string[] {
    return this.#collectors()
      .flatMap(({ rows }) => rows)
      .map(shown)
      .sort();
  }

  /** The rows of every sink as it writes them, in an order of their own. */
  lines(): string[] {
    return this.#collectors()
      .flatMap((collector) => collector.lines())
      .sort();
  }

  /** The rows of every sink as values. */
  values(): Row[] {
    return this.#collectors().flatMap(({ rows }) => rows);
  }

  /** Rows of state that operators of a kind keep. */
  stateRows(tag: GraphOperator['spec']['tag']): number {
    return [...this.#nodes.values()]
      .filter(({ operator }) => operator.spec.tag === tag)
      .reduce((sum, { body }) => sum + (body instanceof Subtasks ? body.stateRows() : 0), 0);
  }

  /** Lines that sources were given, rows that left them, and lines they refused. */
  sourceCounts(): { read: number; passed: number; refused: number } {
    const counts = { read: 0, passed: 0, refused: 0 };
    for (const log of this.#logs.values())
      for (const lines of log) counts.read += lines?.length ?? 0;
    for (const { operator, counters } of this.#nodes.values())
      if (operator.spec.tag === 'source') {
        counts.passed += counters.rowsOut;
        counts.refused += counters.errors;
      }
    return counts;
  }

  changes(): { row: string; retract: boolean }[] {
    return this.#collectors().flatMap(({ changes }) =>
      changes.map(({ row, retract }) => ({ row: shown(row), retract })),
    );
  }

  /** The columns of all sinks as SQL spells them. */
  types(): string[] {
    return [...this.#nodes.values()].flatMap(({ operator }) =>
      operator.spec.tag === 'sink'
        ? operator.schema.map(({ name, type }) => `${name} ${typeName(type)}`)
        : [],
    );
  }

  #collectors(): Collector[] {
    return [...this.#nodes.values()].flatMap(({ body }) =>
      body instanceof Collector ? [body] : [],
    );
  }
}

/** Whole numbers beyond any count are times. */
function shown(row: Row): string {
  return JSON.stringify(row, (_, value: unknown) => {
    if (typeof value !== 'bigint') return value;
    if (value < 1_000_000_000_000n) return Number(value);
    return new Date(Number(value / 1000n)).toISOString().slice(0, 19);
  });
}
