/**
 * Calls to the target of a sink: each ends, is asked again while that may help, and says what went wrong.
 *
 * A call that hangs is given up after a quarter of the time, and asked again. 409, 412, 429, 5xx and answers nobody
 * understands are asked again after a pause that grows and is drawn at random, until the time is over. What the target
 * refuses for good (401, 403, no such bucket) fails at once. What is gone comes back as `Gone`: only the sink knows
 * what that means. Source: R2 error codes, developers.cloudflare.com/r2/api/error-codes.
 */
import { EngineError } from '../../base/errors.ts';
import type { CommitToken } from '../../connectors/two-phase-sink.ts';
import { answeredWithin } from '../deadline.ts';

/** Time and chance, so that tests need not wait. */
export type SinkClock = {
  nowMs(): number;
  pause(ms: number): Promise<void>;
  /** In [0, 1). */
  random(): number;
};

const SYSTEM_CLOCK: SinkClock = {
  nowMs: () => Date.now(),
  pause: async (ms) => await new Promise((resolve) => setTimeout(resolve, ms)),
  random: () => Math.random(),
};

/** The upload, part or object that a call was about is not there. */
export class Gone extends Error {
  override readonly name = 'Gone';
}

export type SinkFailure = 'again' | 'gone' | 'refused';

const GONE_CODES: ReadonlySet<number> = new Set([
  10007, // NoSuchKey
  10024, // NoSuchUpload
  10025, // InvalidPart
]);
const REFUSED_CODES: ReadonlySet<number> = new Set([
  10002, // Unauthorized
  10003, // AccessDenied
  10006, // NoSuchBucket
  10020, // InvalidObjectName
  10035, // SignatureDoesNotMatch
  10042, // NotEntitled
]);

/** What a thrown answer means for whoever asked. */
export function judgeFailure(message: string): SinkFailure {
  const code = Number(/\((1\d{4})\)\s*$/.exec(message)?.[1] ?? Number.NaN);
  if (GONE_CODES.has(code) || /NoSuchUpload|NoSuchKey|InvalidPart/.test(message)) return 'gone';
  if (REFUSED_CODES.has(code) || /NoSuchBucket|AccessDenied|\b40[13]\b/.test(message))
    return 'refused';
  return 'again';
}

/** What calls are made for; `token` is null for what belongs to no epoch yet or any more. */
export type SinkUse = 'stage' | 'pre-commit' | 'commit' | 'abort';
export type CallsFor = (use: SinkUse, token: CommitToken | null) => SinkCalls;

const PAUSE_MIN_MS = 200;
const PAUSE_MAX_MS = 10_000;
/** A call is given up no earlier than this. */
const CALL_MIN_MS = 1_000;

/** The calls of one stage, pre-commit, commit or abort, under one deadline. */
export class SinkCalls {
  readonly #use: SinkUse;
  /** For messages, as in `the commit of epoch 3 by sink-1`. */
  readonly #what: string;
  readonly #timeoutMs: number;
  readonly #clock: SinkClock;
  readonly #deadlineMs: number;
  #pauses = 0;

  constructor(
    use: SinkUse,
    token: CommitToken | null,
    timeoutMs: number,
    clock: SinkClock = SYSTEM_CLOCK,
  ) {
    this.#use = use;
    this.#what =
      token === null
        ? `the ${use} of output`
        : `the ${use} of epoch ${token.epoch} by ${token.sink}`;
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
    this.#deadlineMs = clock.nowMs() + timeoutMs;
  }

  /**
   * The answer of `call`, which may be sent several times. Throws `Gone`, SINK_REFUSED, or COMMIT_TIMEOUT or SINK_FAILED
   * once the time is over; whether a call that was not answered has had an effect is then unknown.
   */
  async ask<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      const answer = await this.#try(call);
      if (answer.tag === 'answered') return answer.value;
      await this.rest(answer.message);
    }
  }

  /** Sends `call` once; `unknown` when nobody can say whether it was done. */
  async once<T>(call: () => Promise<T>, unknown: T): Promise<T> {
    const answer = await this.#try(call);
    return answer.tag === 'answered' ? answer.value : unknown;
  }

  async #try<T>(
    call: () => Promise<T>,
  ): Promise<{ tag: 'answered'; value: T } | { tag: 'again'; message: string }> {
    const leftMs = this.#deadlineMs - this.#clock.nowMs();
    if (leftMs <= 0) throw this.#expired('none');
    const patienceMs = Math.min(leftMs, Math.max(CALL_MIN_MS, this.#timeoutMs / 4));
    try {
      return { tag: 'answered', value: await answeredWithin(patienceMs, call()) };
    } catch (thrown) {
      if (thrown instanceof EngineError) throw thrown;
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      const failure = judgeFailure(message);
      if (failure === 'gone') throw new Gone(message);
      if (failure === 'refused') throw this.#refused(message);
      return { tag: 'again', message };
    }
  }

  /** A pause that grows, with jitter, so that callers who met each other do not meet again. */
  async rest(last: string): Promise<void> {
    const pauseMs = Math.min(PAUSE_MAX_MS, PAUSE_MIN_MS * 2 ** this.#pauses++);
    const drawnMs = pauseMs / 2 + (pauseMs / 2) * this.#clock.random();
    if (this.#clock.nowMs() + drawnMs >= this.#deadlineMs) throw this.#expired(last);
    await this.#clock.pause(drawnMs);
  }

  #refused(answer: string): EngineError {
    return new EngineError('SINK_REFUSED', `the target refuses ${this.#what}: ${answer}`, {
      hint: 'Check that the bucket exists and that the Worker may write to it, then start the pipeline: a commit that is open is made then.',
    });
  }

  lost(message: string): EngineError {
    return new EngineError('SINK_FAILED', `${this.#what} is not possible: ${message}`);
  }

  #expired(last: string): EngineError {
    return new EngineError(
      this.#use === 'commit' ? 'COMMIT_TIMEOUT' : 'SINK_FAILED',
      `the target did not take ${this.#what} within ${this.#timeoutMs} ms`,
      {
        detail: `The last answer was: ${last}. Whether it has taken effect is not known; nothing was deleted.`,
        hint: 'It is repeated under the same token; check that the target of the sink answers.',
      },
    );
  }
}

/** Calls at most so many at a time: what a Worker may have open to the bucket. */
const CALLS_MAX = 6;

/** Does something with each, a few at a time; the first failure is thrown after those under way have ended. */
export async function withEach<T>(
  all: readonly T[],
  perform: (each: T) => Promise<void>,
): Promise<void> {
  const rest = all.values();
  let failed = false;
  const work = async (): Promise<void> => {
    for (const each of rest) {
      if (failed) return;
      try {
        await perform(each);
      } catch (thrown) {
        failed = true;
        throw thrown;
      }
    }
  };
  const workers = Array.from({ length: Math.min(CALLS_MAX, all.length) }, work);
  const outcomes = await Promise.allSettled(workers);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
