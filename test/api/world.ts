/** The API over real catalogue and log code in memory; leader, hosts and lineage are what the test says. */
import { DatabaseSync } from 'node:sqlite';
import { createApi } from '../../src/api/app.ts';
import type { ApiServices, CrashTarget, TailPage, TailTarget } from '../../src/api/services.ts';
import { EngineError } from '../../src/base/errors.ts';
import { recordObservation, type JobPatch } from '../../src/catalog/jobs.ts';
import { getPipeline } from '../../src/catalog/pipelines.ts';
import { LogStore, type SqlRow } from '../../src/connectors/http/log-store.ts';
import type { ReadOutcome } from '../../src/lineage/read.ts';
import type {
  HistoryPoints,
  LeaderStatus,
  ProblemPage,
  SubtaskPoints,
} from '../../src/protocol/messages.ts';
import { answerAtOnce } from '../harness/function-double.ts';
import { memoryCatalog } from '../harness/sqlite-dialect.ts';

/** Whatever a test looks for in an answer. */
export type Json = ReturnType<typeof JSON.parse>;

export type Answer = { status: number; headers: Headers; text: string; body: Json };

export const EVENTS = `CREATE TABLE ev (netuid INT NOT NULL, observed_at BIGINT NOT NULL, note TEXT)
  WITH (connector = 'http', format = 'json', type = 'source');
SELECT netuid, note FROM ev;`;

export class World {
  readonly database = memoryCatalog((text) => {
    this.queried(text);
    if (this.catalogDown) throw new Error(`D1 is down: ${text.slice(0, 20)}`);
  });
  readonly api = createApi();
  readonly stores = new Map<string, LogStore>();
  readonly crashes: CrashTarget[] = [];
  readonly objects = new Map<string, Uint8Array>();
  readonly reconciled: string[] = [];
  logBytesMax: number | undefined;
  catalogDown = false;
  /** Sees every statement. */
  queried: (text: string) => void = () => {};
  isLocal = true;
  nowMs = 1_700_000_000_000;
  status: LeaderStatus | null = null;
  series: SubtaskPoints[] = [];
  /** By generation. */
  readonly histories = new Map<
    number,
    (span: { fromMs: number; toMs: number; stepMs: number }) => HistoryPoints
  >();
  /** Rows that went wrong, by generation. */
  readonly problems = new Map<number, ProblemPage['rows']>();
  flushed: number | null = null;
  lineage: ReadOutcome = { tag: 'none' };
  tail: (target: TailTarget, after: number) => Promise<TailPage> = async () => ({
    first: 0,
    next: 0,
    rows: [],
  });
  readonly forgotten: string[] = [];
  #drawn = 0;

  readonly services: ApiServices = {
    database: this.database,
    nowMs: () => this.nowMs,
    randomBytes: (count) =>
      Uint8Array.from({ length: count }, () => (this.#drawn = (this.#drawn * 31 + 7) % 251)),
    sleep: async () => await new Promise((resolve) => setTimeout(resolve, 1)),
    reconcile: async (id) => {
      this.reconciled.push(id);
    },
    reconcileLater: () => {},
    leaderStatus: async () => this.status,
    leaderSeries: async () => this.series,
    leaderHistory: async (_, generation, span) => this.histories.get(generation)?.(span) ?? null,
    flush: async () => this.flushed,
    problems: async (_, generation, after, limit) => {
      const all = this.problems.get(generation) ?? [];
      return {
        rows: all.filter(({ number }) => number > after).slice(-limit),
        last: all.at(-1)?.number ?? 0,
      };
    },
    readObject: async (key) => this.objects.get(key) ?? null,
    codeVersion: 'test',
    tail: async (target, after) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      return await this.tail(target, after);
    },
    log: (pipelineId, table, partition) => {
      const name = `${pipelineId}/${table}/${partition}`;
      return {
        append: async (request) => (await this.store(name)).append([request], this.nowMs)[0]!,
        rejected: async (limit) => (await this.store(name)).rejectedRows(limit),
        unread: async () => {
          const { endOffset, trimmedOffset } = (await this.store(name)).status;
          return endOffset - trimmedOffset;
        },
        destroy: async () => {
          this.stores.delete(name);
        },
      };
    },
    lineage: async () => this.lineage,
    checkFunction: async ({ name, body }) =>
      body.includes('syntax error')
        ? new EngineError('INVALID_FUNCTION', `${name}() can not be loaded: syntax error`).report
        : null,
    callFunction: async (fn, rows, columns) => answerAtOnce({ fn, rows, columns }),
    forgetLater: (pipelineId, _jobId, generation) => {
      this.forgotten.push(`${pipelineId} up to ${generation}`);
    },
    local: {
      crash: async (_, target) => {
        this.crashes.push(target);
      },
      objects: async (prefix, after) => ({
        objects: [...this.objects]
          .filter(([key]) => key.startsWith(prefix) && key > after)
          .map(([key, bytes]) => ({ key, size: bytes.length })),
        truncated: false,
      }),
      object: async (key) => {
        const bytes = this.objects.get(key);
        return bytes === undefined
          ? null
          : { body: new Blob([bytes as Uint8Array<ArrayBuffer>]).stream(), size: bytes.length };
      },
      putObject: async (key, bytes) => {
        this.objects.set(key, bytes);
      },
    },
  };

  async store(name: string): Promise<LogStore> {
    let store = this.stores.get(name);
    if (store === undefined) {
      const database = new DatabaseSync(':memory:');
      store = new LogStore(
        {
          exec: (query, ...bindings) => database.prepare(query).all(...bindings) as SqlRow[],
          transaction: (work) => work(),
        },
        this.logBytesMax,
      );
      this.stores.set(name, store);
    }
    return store;
  }

  /** The rows that a table's logs hold, as text. */
  async rows(pipelineId: string, table: string, partition = 0): Promise<string> {
    const read = (await this.store(`${pipelineId}/${table}/${partition}`)).read(0, 1e9);
    if (read.tag !== 'rows') throw new Error('out of range');
    return new TextDecoder().decode(read.bytes);
  }

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const services: ApiServices = {
      ...this.services,
      local: this.isLocal ? this.services.local : null,
    };
    return await this.api.fetch(new Request(`http://localhost${path}`, init), services);
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const raw =
      typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream;
    const init: RequestInit = {
      method,
      headers:
        raw || body === undefined ? headers : { 'content-type': 'application/json', ...headers },
    };
    if (body !== undefined) init.body = raw ? (body as BodyInit) : JSON.stringify(body);
    if (body instanceof ReadableStream) (init as { duplex?: string }).duplex = 'half';
    const response = await this.fetch(path, init);
    const text = await response.text();
    const isJson = (response.headers.get('content-type') ?? '').includes('json');
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : text,
    };
  }

  async create(query: string, rest: Record<string, unknown> = {}): Promise<Json> {
    const answer = await this.call('POST', '/api/v1/pipelines', { name: 'test', query, ...rest });
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.body;
  }

  async observe(pipelineId: string, patch: JobPatch): Promise<void> {
    const found = await getPipeline(this.database, pipelineId);
    if (found === null || !(await recordObservation(this.database, found.job, patch, this.nowMs)))
      throw new Error('not observed');
  }

  async jobId(pipelineId: string): Promise<string> {
    return (await this.call('GET', `/api/v1/pipelines/${pipelineId}/jobs`)).body.data[0].id;
  }
}
