/** Runs a source through its contract alone, answering its reads from a function. */
import type { RecordBatch } from '../../src/batch/record-batch.ts';
import { rowsOf, type Row } from '../../src/batch/values.ts';
import type { Schema } from '../../src/batch/types.ts';
import type {
  ReadRequest,
  ReadResult,
  Source,
  SourceContext,
} from '../../src/connectors/connector.ts';
import { JSON_FORMAT } from '../../src/formats/format.ts';
import type { ErrorReport } from '../../src/base/errors.ts';
import type { JsonValue } from '../../src/lineage/types.ts';
import type { RowProblem } from '../../src/operators/operator.ts';

export type Reader = (request: ReadRequest) => ReadResult;

export const noReads: Reader = (request) => {
  throw new Error(`unexpected read: ${JSON.stringify(request)}`);
};

export type Given = {
  partition: number;
  batch: RecordBatch;
  problems: readonly RowProblem[];
  input: Uint8Array | null;
};

export type Outcome = {
  given: Given[];
  ended: boolean;
  failed: ErrorReport | null;
  waits: number;
  lastWaitMs: number | null;
};

/** Polls until the source ends, fails, has given `batchesMax` batches or only waits; `clock` says the time of each poll. */
export function drain(
  source: Source,
  read: Reader,
  clock: () => number,
  batchesMax = Infinity,
): Outcome {
  const outcome: Outcome = { given: [], ended: false, failed: null, waits: 0, lastWaitMs: null };
  for (let polls = 0; polls < 200_000 && outcome.given.length < batchesMax; polls++) {
    const step = source.poll(clock());
    if (step.tag === 'batch') outcome.given.push(step);
    else if (step.tag === 'read') source.onRead(step.partition, read(step.request));
    else if (step.tag === 'failed') return { ...outcome, failed: step.report };
    else if (step.tag === 'ended') return { ...outcome, ended: true };
    else if (step.tag === 'wait') {
      outcome.waits++;
      outcome.lastWaitMs = step.untilMs;
      return outcome;
    }
  }
  return outcome;
}

export const rowsGiven = (given: readonly Given[], schema: Schema): Row[] =>
  given.flatMap((each) => rowsOf(each.batch, schema));

export const restored = (make: () => Source, offsets: Record<string, JsonValue>): Source => {
  const source = make();
  // Offsets live as JSON in the checkpoint.
  source.restore(JSON.parse(JSON.stringify(offsets)) as Record<string, JsonValue>);
  return source;
};

export function contextOf(
  connector: string,
  options: Record<string, string | number | boolean>,
  schema: Schema,
  rest: Partial<Omit<SourceContext, 'spec'>> & { spec?: Partial<SourceContext['spec']> } = {},
): SourceContext {
  const { spec, ...others } = rest;
  return {
    subtask: 0,
    parallelism: 1,
    batchRows: 1000,
    pipelineCreatedMs: 1_700_000_000_000,
    ...others,
    spec: {
      tag: 'source',
      table: 't',
      connector: { connector, options },
      format: JSON_FORMAT,
      declared: schema.map((field) => ({ ...field, default: null })),
      physical: schema.map((field) => ({ ...field, default: null })),
      computed: null,
      watermark: null,
      lateRows: 'count',
      ...spec,
    },
  };
}

/** Rows as JSON text, comparable and sortable. */
export const rowText = (row: Row): string =>
  JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? `n${value}` : value));
