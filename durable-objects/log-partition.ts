/**
 * Shell of one partition of an `http` table's log. Requests that arrive while others are being
 * stored are stored together in the next transaction (group commit); an answer leaves only when the
 * rows are durable (output gate).
 */
import { DurableObject } from 'cloudflare:workers';
import { EngineError } from '../src/base/errors.ts';
import type { ReadResult } from '../src/connectors/connector.ts';
import {
  type AppendOutcome,
  type AppendRequest,
  type LogStatus,
  LogStore,
  type RejectedRecord,
} from '../src/connectors/http/log-store.ts';
import { sqlStorage } from '../src/platform/sql-storage.ts';
import { type Env, isLocal, type LogCalls } from '../src/platform/env.ts';

type Waiting = {
  request: AppendRequest;
  resolve: (outcome: AppendOutcome) => void;
  reject: (thrown: unknown) => void;
};

export class LogPartition extends DurableObject<Env> implements LogCalls {
  readonly #store: LogStore;
  #group: Waiting[] = [];
  readonly #readers = new Set<() => void>();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#store = new LogStore(sqlStorage(ctx.storage));
  }

  async append(request: AppendRequest): Promise<AppendOutcome> {
    return await new Promise((resolve, reject) => {
      this.#group.push({ request, resolve, reject });
      if (this.#group.length === 1) setTimeout(() => this.#storeGroup(), 0);
    });
  }

  async read(offset: number, bytesMax: number, waitMs: number): Promise<ReadResult> {
    if (offset >= this.#store.status.endOffset && waitMs > 0) await this.#rowsOrTimeout(waitMs);
    const read = this.#store.read(offset, bytesMax);
    if (read.tag === 'rows') return { ...read, tag: 'log' };
    const { report } = new EngineError(
      'SOURCE_MISSING',
      `row ${offset} is outside of what the log keeps, ${read.firstKept} to ${read.endOffset}`,
      {
        hint: 'restart the pipeline without state: it then begins at the oldest row that is kept',
      },
    );
    return { tag: 'failed', report };
  }

  async trim(offset: number): Promise<void> {
    this.#store.trim(offset, Date.now());
  }

  async status(): Promise<LogStatus> {
    return this.#store.status;
  }

  async rejected(limit: number): Promise<RejectedRecord[]> {
    return this.#store.rejectedRows(limit);
  }

  async destroy(): Promise<void> {
    await this.ctx.storage.deleteAll();
    this.ctx.abort('deleted');
  }

  async crash(): Promise<void> {
    if (isLocal(this.env)) this.ctx.abort('crash asked for');
  }

  #storeGroup(): void {
    const group = this.#group;
    this.#group = [];
    try {
      const outcomes = this.#store.append(
        group.map((waiting) => waiting.request),
        Date.now(),
      );
      group.forEach((waiting, index) => waiting.resolve(outcomes[index] as AppendOutcome));
    } catch (thrown) {
      for (const waiting of group) waiting.reject(thrown);
    }
    for (const wake of this.#readers) wake();
  }

  async #rowsOrTimeout(waitMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#readers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, waitMs);
      this.#readers.add(wake);
    });
  }
}
