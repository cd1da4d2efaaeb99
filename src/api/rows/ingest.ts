/**
 * Rows in: from a request's body to the durable log, and the answer that says what became of every row.
 *
 * Place in the walk: before stage 5. Rows are checked against the columns the table declares, by the decoder that reads
 * them later. What tables a pipeline has never changes, so it is looked up once in a while only, and known tables take
 * rows while the catalogue does not answer. Failure: nothing is answered before the log says that the rows are durable.
 */
import type { z } from '@hono/zod-openapi';
import { EngineError } from '../../base/errors.ts';
import { sha256 as hexSha256 } from '../../base/sha256.ts';
import { hashBytes } from '../../base/hash.ts';
import { LIMITS } from '../../base/limits.ts';
import { getPipeline } from '../../catalog/pipelines.ts';
import { TERMINAL_STATES, type JobState } from '../../catalog/schema.ts';
import type { AppendAnswer, RejectedRow } from '../../connectors/http/log-store.ts';
import { REDACTED } from '../../formats/redacted.ts';
import type { FormatSpec } from '../../formats/format.ts';
import { makeRowDecoder, type RowDecoder } from '../../formats/row-decoder.ts';
import type { PhysicalGraph, SourceSpec } from '../../graph/graph.ts';
import { httpTable, noPipeline, partitionsOf } from '../load.ts';
import { ndjsonOf, type RefusedRow, type TakenRows, takeRows } from './rows-body.ts';
import type { RowsAnswerSchema } from './rows-shapes.ts';
import type { ApiServices } from '../services.ts';
import { graphOf } from '../views.ts';

export type RowsAnswer = z.infer<typeof RowsAnswerSchema>;

type KnownPipeline = {
  graph: PhysicalGraph;
  /** When it was looked up, and its state then if nothing reads its rows in that state. */
  readMs: number;
  resting: JobState | null;
  decoders: Map<string, RowDecoder>;
};

const KNOWN_MS = 10_000;
const PIPELINES_KNOWN_MAX = 200;
/** What is left of several lines when a client has taken the line feeds out, as `curl -d` does. */
const JOINED_ROWS = /\}\s*\{/;
const JOINED_HINT =
  'Several rows seem to be on one line: send one row a line, with curl by --data-binary (-d takes line feeds out).';
/** What goes wrong all over a body is told so often. */
const TOLD_MAX = LIMITS.errorRowsKept;

export class Ingest {
  readonly #known = new Map<string, KnownPipeline>();

  /** The pipeline is gone: its tables take no more rows here. */
  forget(pipelineId: string): void {
    this.#known.delete(pipelineId);
  }

  async append(
    services: ApiServices,
    pipelineId: string,
    table: string,
    body: Uint8Array,
    key: string | null,
  ): Promise<RowsAnswer> {
    const known = await this.#pipeline(services, pipelineId);
    const spec = httpTable(known.graph, table);
    const ndjson = ndjsonOf(body);
    const taken = takeRows(decoderOf(known, spec), ndjson);
    const partition = partitionFor(services, key, partitionsOf(spec));
    const outcome = await services.log(pipelineId, spec.table, partition).append({
      idempotencyKey: key,
      bodyHash: key === null ? '' : await sha256(body),
      ndjson: taken.ndjson,
      rows: taken.accepted,
      rejected: taken.rejected.map((row) => keptRow(row, ndjson, spec.format)),
    });
    if (outcome.tag === 'refused')
      throw new EngineError(outcome.report.code, outcome.report.message, outcome.report);
    return answerOf(outcome.answer, taken, partition, known.resting);
  }

  async #pipeline(services: ApiServices, id: string): Promise<KnownPipeline> {
    const nowMs = services.nowMs();
    const known = this.#known.get(id);
    if (known !== undefined && nowMs - known.readMs < KNOWN_MS) return known;
    let found;
    try {
      found = await getPipeline(services.database, id);
    } catch (thrown) {
      if (known !== undefined) return known;
      throw thrown;
    }
    if (found === null) {
      this.#known.delete(id);
      throw noPipeline(id);
    }
    if (known !== undefined) {
      known.readMs = nowMs;
      known.resting = restingState(found.job.state);
      return known;
    }
    if (this.#known.size >= PIPELINES_KNOWN_MAX) this.#known.clear();
    const fresh = {
      graph: graphOf(found.pipeline),
      readMs: nowMs,
      resting: restingState(found.job.state),
      decoders: new Map<string, RowDecoder>(),
    };
    this.#known.set(id, fresh);
    return fresh;
  }
}

/** A refused row as the error table keeps it. Whoever sent it is told everything: it is theirs. */
function keptRow(
  { index, code, column, message, raw, start, end }: RefusedRow,
  ndjson: Uint8Array,
  { redactErrors }: FormatSpec,
): RejectedRow {
  const row = { index, code, column: column ?? '', message, raw };
  if (redactErrors !== true) return row;
  const rawSha256 = hexSha256(ndjson.subarray(start, end));
  return { ...row, message: REDACTED, raw: null, rawSha256 };
}

const restingState = (state: JobState): JobState | null =>
  TERMINAL_STATES.includes(state) ? state : null;

function decoderOf(known: KnownPipeline, spec: SourceSpec): RowDecoder {
  let decoder = known.decoders.get(spec.table);
  if (decoder === undefined) {
    decoder = makeRowDecoder(spec.declared, spec.format, { unknownByRow: true });
    known.decoders.set(spec.table, decoder);
  }
  return decoder;
}

/** Retries of a key go to the same partition, where its first answer is. */
function partitionFor(services: ApiServices, key: string | null, count: number): number {
  const bytes = key === null ? services.randomBytes(8) : new TextEncoder().encode(key);
  return hashBytes(bytes, 0, bytes.length, 0) % count;
}

async function sha256(bytes: Uint8Array): Promise<string> {
  const hash = new Uint8Array(
    await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>),
  );
  return [...hash].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Of a replayed request the counts are the stored ones; the same body has the same errors. */
function answerOf(
  answer: AppendAnswer,
  taken: TakenRows,
  partition: number,
  resting: JobState | null,
): RowsAnswer {
  return {
    ...(resting === null || answer.accepted === 0
      ? {}
      : { notice: `the pipeline is ${resting}: the rows wait until it is started` }),
    accepted: answer.accepted,
    rejected: answer.rejectedCount,
    first_offset: answer.accepted === 0 ? null : answer.firstOffset,
    partition,
    replayed: answer.replayed,
    errors: taken.rejected
      .slice(0, TOLD_MAX)
      .map(({ index, code, column, message, expected, raw }) => ({
        index,
        code,
        column,
        message,
        ...(expected === null ? {} : { expected }),
        ...(code === 'PARSE_ERROR' && JOINED_ROWS.test(raw) ? { hint: JOINED_HINT } : {}),
      })),
    warnings: taken.unknown.map(({ index, column }) => ({
      index,
      code: 'UNKNOWN_FIELD' as const,
      column,
    })),
  };
}
