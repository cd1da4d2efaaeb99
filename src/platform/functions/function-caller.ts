/**
 * Calls functions of the user's own, each in a Worker of its own that Cloudflare's Worker Loader makes from its code.
 *
 * Such a Worker has no bindings and, unless that is granted, no network. A batch is one call. Limits: a time for each call,
 * the CPU time and memory that the platform gives it.
 * Invariants: a call that fails as a whole (it took too long, used up its memory) is made again for the halves of its rows,
 * down to single ones, so that the other rows of the batch have their values; a row that fails alone, twice, is an
 * error of that row. At most so many different Workers are under way at once as the platform allows.
 * Failure: FUNCTIONS_UNAVAILABLE without the binding, INVALID_FUNCTION for code that does not load, FUNCTION_FAILED when
 * the Worker does not even answer what it is: rows are not to blame then.
 */
import { EngineError, reportOf, type ErrorReport } from '../../base/errors.ts';
import { nullColumn } from '../../batch/column-builder.ts';
import { concatColumns } from '../../batch/concat.ts';
import type { Column } from '../../batch/column.ts';
import { takeColumn } from '../../batch/take.ts';
import type { NetworkGrant, UserFunction } from '../../expr/user-function.ts';
import type { Reply, Request } from '../../sandbox/run-function.ts';
import { answeredWithin } from '../deadline.ts';
import { type FunctionCode, functionCode, invalidFunction } from './function-code.ts';

/** Rows of one call at most. */
const ROWS_MAX = 4_096;
/** Rows of one call of a function that waits, per row that may be under way at once. */
const ROUNDS_MAX = 4;
const CHECK_MS = 10_000;
/** For the way there and back. */
const SLACK_MS = 1_000;
const COMPATIBILITY_DATE = '2026-11-24';

/** What the loaded Worker answers to. */
export type FunctionWorker = {
  check(): Promise<string | null>;
  call(request: Request): Promise<Reply>;
};

/** Gives the Worker for some code: loads it, or finds it loaded. */
export type LoadFunction = (fn: UserFunction, code: FunctionCode) => FunctionWorker;

/** What loaded code reaches by `fetch`; null: nothing; undefined: everything. */
export type OutboundOf = (grant: NetworkGrant) => Fetcher | null | undefined;

export function workerLoad(loader: WorkerLoader | undefined, outboundOf: OutboundOf): LoadFunction {
  return (fn, { id, modules, signature }) => {
    if (loader === undefined)
      throw new EngineError(
        'FUNCTIONS_UNAVAILABLE',
        `${fn.name}() can not run: this Worker has no binding LOADER`,
        {
          hint: 'add [[worker_loaders]] with binding = "LOADER" to wrangler.toml and deploy again; it needs the paid plan',
        },
      );
    const outbound = outboundOf(fn.network);
    const worker = loader.get(id, () => ({
      compatibilityDate: COMPATIBILITY_DATE,
      mainModule: 'main.js',
      modules,
      env: { SIGNATURE: signature },
      limits: { cpuMs: fn.timeoutMs, subRequests: 1_000 },
      ...(outbound === undefined ? {} : { globalOutbound: outbound }),
    }));
    return worker.getEntrypoint() as unknown as FunctionWorker;
  };
}

export class FunctionCaller {
  readonly #load: LoadFunction;
  readonly #codes = new WeakMap<UserFunction, FunctionCode>();
  readonly #slots: Slots;

  /** @param workersMax  different Workers that may be under way at once */
  constructor(load: LoadFunction, workersMax: number) {
    this.#slots = new Slots(workersMax);
    this.#load = load;
  }

  /** What is wrong with the function; null when it loads. */
  async check(fn: UserFunction): Promise<ErrorReport | null> {
    try {
      await this.#slots.within(this.#code(fn).id, () => this.#probe(fn));
      return null;
    } catch (thrown) {
      return reportOf(thrown);
    }
  }

  async call({ fn, rows, columns }: Request & { fn: UserFunction }): Promise<Reply> {
    return await this.#slots.within(this.#code(fn).id, async () => {
      const size = fn.waits ? Math.min(ROWS_MAX, fn.concurrency * ROUNDS_MAX) : ROWS_MAX;
      const replies: Reply[] = [];
      for (let from = 0; from < rows; from += size)
        replies.push(await this.#range(fn, columns, from, Math.min(rows, from + size)));
      return joined(replies);
    });
  }

  #code(fn: UserFunction): FunctionCode {
    let code = this.#codes.get(fn);
    if (code === undefined) {
      code = functionCode(fn);
      this.#codes.set(fn, code);
    }
    return code;
  }

  async #probe(fn: UserFunction): Promise<void> {
    let problem: string | null;
    try {
      problem = await answeredWithin(CHECK_MS, this.#load(fn, this.#code(fn)).check());
    } catch (thrown) {
      if (thrown instanceof EngineError) throw thrown;
      // An error that came from the code itself, while it was read or began.
      if (thrown instanceof Error && 'remote' in thrown) throw invalidFunction(fn.name, thrown);
      if (thrown instanceof SyntaxError || isStartFailure(thrown))
        throw invalidFunction(fn.name, thrown);
      throw new EngineError(
        'FUNCTION_FAILED',
        `${fn.name}() does not answer: ${reportOf(thrown).message}`,
        {},
        thrown,
      );
    }
    if (problem !== null) throw invalidFunction(fn.name, problem);
  }

  /** The rows `[from, to)` of the request. */
  async #range(
    fn: UserFunction,
    columns: readonly Column[],
    from: number,
    to: number,
  ): Promise<Reply> {
    let failure: unknown;
    // A single row has a second chance, since no half of it can be tried.
    for (let attempt = to - from === 1 ? 0 : 1; attempt < 2; attempt++) {
      try {
        return await this.#once(fn, columns, from, to);
      } catch (thrown) {
        if (thrown instanceof EngineError) throw thrown;
        failure = thrown;
      }
    }
    await this.#probe(fn);
    if (to - from > 1) {
      const middle = (from + to) >> 1;
      const left = await this.#range(fn, columns, from, middle);
      return joined([left, await this.#range(fn, columns, middle, to)]);
    }
    return failedRow(fn, reportOf(failure).message);
  }

  async #once(
    fn: UserFunction,
    columns: readonly Column[],
    from: number,
    to: number,
  ): Promise<Reply> {
    const indices = Int32Array.from({ length: to - from }, (_, at) => from + at);
    const request: Request = {
      rows: to - from,
      columns: columns.map((column) => takeColumn(column, indices, to - from)),
    };
    const worker = this.#load(fn, this.#code(fn));
    return await answeredWithin(deadlineMs(fn, to - from), worker.call(request));
  }
}

/** A module that throws or can not be parsed has no Worker to answer. */
const isStartFailure = (thrown: unknown): boolean =>
  /SyntaxError|ReferenceError|TypeError|No such module|failed to start/i.test(String(thrown));

function deadlineMs(
  { waits, timeoutMs, retries, concurrency }: UserFunction,
  rows: number,
): number {
  const rounds = waits ? Math.ceil(rows / concurrency) * (retries + 1) : 1;
  return timeoutMs * rounds + SLACK_MS;
}

function failedRow({ kind, returns }: UserFunction, message: string): Reply {
  const types =
    kind === 'table' && returns.tag === 'struct'
      ? returns.fields.map(({ type }) => type)
      : [returns];
  const isTable = kind === 'table';
  return {
    columns: types.map((type) => nullColumn(type, isTable ? 0 : 1)),
    counts: isTable ? new Int32Array(1) : null,
    errors: [{ row: 0, message }],
  };
}

/** Replies to parts of a request, one after the other. */
function joined(replies: readonly Reply[]): Reply {
  const [first] = replies;
  if (replies.length === 1 && first !== undefined) return first;
  const columns = (first?.columns ?? []).map((_, at) =>
    concatColumns(replies.map((reply) => reply.columns[at] as Column)),
  );
  const isTable = first?.counts !== null;
  const counts = isTable ? replies.flatMap((reply) => [...(reply.counts ?? [])]) : null;
  const errors: Reply['errors'] = [];
  let base = 0;
  for (const reply of replies) {
    for (const { row, message } of reply.errors) errors.push({ row: base + row, message });
    base += reply.counts?.length ?? reply.columns[0]?.length ?? 0;
  }
  return { columns, counts: counts === null ? null : Int32Array.from(counts), errors };
}

/** Lets work of at most so many different names go on at once; work of one name as much as there is. */
class Slots {
  readonly #max: number;
  readonly #busy = new Map<string, number>();
  readonly #waiting: { name: string; go: () => void }[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  async within<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (!this.#take(name))
      await new Promise<void>((resolve) => this.#waiting.push({ name, go: resolve }));
    try {
      return await work();
    } finally {
      this.#leave(name);
    }
  }

  #take(name: string): boolean {
    const count = this.#busy.get(name);
    if (count === undefined && this.#busy.size >= this.#max) return false;
    this.#busy.set(name, (count ?? 0) + 1);
    return true;
  }

  #leave(name: string): void {
    const count = (this.#busy.get(name) ?? 1) - 1;
    if (count > 0) this.#busy.set(name, count);
    else this.#busy.delete(name);
    while (this.#waiting[0] !== undefined && this.#take(this.#waiting[0].name))
      this.#waiting.shift()?.go();
  }
}
