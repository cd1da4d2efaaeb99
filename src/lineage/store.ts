/**
 * The object-store port of the lineage protocol.
 *
 * Place in the walk: stages 8-10. A workflow is a generator: it yields one `StoreOp`, and whoever drives it
 * (the shell with R2, the simulator, the model checker) sends back the `StoreAnswer`. Nothing here waits.
 *
 * Invariants: a failed read is never taken for "missing"; an unanswered write is never taken for "not applied";
 * a throttled request was not applied and is repeated unchanged after at least a second.
 *
 * Not guaranteed: that a request has landed when its answer is `unknown`, or that it never lands later.
 *
 * Failure: every retry is bounded. After the last attempt the helper answers `unavailable`; the caller may run
 * the same workflow again, because each is safe to repeat.
 */
import { assert } from '../base/assert.ts';
import type { SinkItem } from './types.ts';

export type PutCondition = { tag: 'absent' } | { tag: 'matches'; etag: string };

export type StoreOp =
  | { op: 'get'; key: string }
  | { op: 'put'; key: string; body: Uint8Array; condition: PutCondition }
  /** Keys with the prefix in ascending order of their UTF-8 bytes, after (not including) `startAfter`. */
  | { op: 'list'; prefix: string; startAfter?: string }
  /** At most `DELETE_KEYS_MAX` keys; deleting what is not there is fine. */
  | { op: 'delete'; keys: string[] }
  /** Throw away what sinks have staged as these items; they are committed already, gone, or of a history that lost. */
  | { op: 'abort'; items: SinkItem[] }
  | { op: 'pause'; ms: number };

export type StoreAnswer =
  | Found
  | { tag: 'missing' }
  | { tag: 'stored'; etag: string }
  /** The condition did not hold; nothing was written. */
  | { tag: 'refused' }
  /** 429: nothing was written. */
  | { tag: 'throttled' }
  /** Timeout, 5xx or a lost answer to a put: it may have been applied, or be applied later. */
  | { tag: 'unknown'; message: string }
  | { tag: 'keys'; keys: string[]; truncated: boolean }
  | { tag: 'done' }
  /** A get, list, delete or abort that gave no answer. */
  | { tag: 'failed'; message: string }
  | { tag: 'paused' };

export type Found = { tag: 'found'; body: Uint8Array; etag: string };
export type Unanswered = { tag: 'unanswered'; message: string };

/** A piece of the protocol that ends in `T`. */
export type Lineage<T> = Generator<StoreOp, T, StoreAnswer>;

/** Attempts of one request, and of one write together with its read-back. */
export const STORE_ATTEMPTS_MAX = 5;
/** What R2 accepts in one delete. */
export const DELETE_KEYS_MAX = 1000;
const PAUSE_MIN_MS = 1000;
const PAUSE_MAX_MS = 8000;

/** Waits between attempt `attempt` (1-based) and the next: 1, 2, 4, 8, 8 … seconds. */
export function* pauseAfter(attempt: number): Lineage<void> {
  const answer = yield {
    op: 'pause',
    ms: Math.min(PAUSE_MIN_MS * 2 ** (attempt - 1), PAUSE_MAX_MS),
  };
  assert(answer.tag === 'paused', 'a pause is answered with paused');
}

/** The object, or `missing`, or `unanswered` after the last attempt. */
export function* get(key: string): Lineage<Found | { tag: 'missing' } | Unanswered> {
  for (let attempt = 1; ; attempt++) {
    const answer = yield { op: 'get', key };
    if (answer.tag === 'found' || answer.tag === 'missing') return answer;
    assert(answer.tag === 'failed', `a get cannot be answered with ${answer.tag}`);
    if (attempt === STORE_ATTEMPTS_MAX)
      return { tag: 'unanswered', message: `get ${key}: ${answer.message}` };
    yield* pauseAfter(attempt);
  }
}

export type PutOutcome =
  | { tag: 'stored'; etag: string }
  | { tag: 'refused' }
  | { tag: 'unknown'; message: string }
  /** Throttled to the last attempt: surely not applied. */
  | Unanswered;

/** Sends one conditional put; only a throttled one is repeated here, an `unknown` one is the caller's to resolve. */
export function* put(key: string, body: Uint8Array, condition: PutCondition): Lineage<PutOutcome> {
  for (let attempt = 1; ; attempt++) {
    const answer = yield { op: 'put', key, body, condition };
    if (answer.tag === 'stored' || answer.tag === 'refused' || answer.tag === 'unknown')
      return answer;
    assert(answer.tag === 'throttled', `a put cannot be answered with ${answer.tag}`);
    if (attempt === STORE_ATTEMPTS_MAX)
      return { tag: 'unanswered', message: `put ${key}: throttled` };
    yield* pauseAfter(attempt);
  }
}

export function* putIfAbsent(key: string, body: Uint8Array): Lineage<PutOutcome> {
  return yield* put(key, body, { tag: 'absent' });
}

export function* putIfMatches(key: string, body: Uint8Array, etag: string): Lineage<PutOutcome> {
  return yield* put(key, body, { tag: 'matches', etag });
}

export type ConfirmOutcome =
  | { tag: 'confirmed' }
  | { tag: 'different'; body: Uint8Array }
  | Unanswered;

/**
 * Creates an object and makes sure that it is there with this very content.
 *
 * For names that only one incarnation writes (checkpoint manifests, state files): `confirmed` when it was created now or
 * lay there with equal bytes, `different` when something else lies there, which the caller may consider a bug.
 */
export function* createConfirmed(key: string, body: Uint8Array): Lineage<ConfirmOutcome> {
  for (let attempt = 1; ; attempt++) {
    const written = yield* putIfAbsent(key, body);
    if (written.tag === 'stored') return { tag: 'confirmed' };
    if (written.tag === 'unanswered') return written;
    if (written.tag === 'refused') {
      const present = yield* get(key);
      if (present.tag === 'unanswered') return present;
      if (present.tag === 'found') {
        return bytesEqual(present.body, body)
          ? { tag: 'confirmed' }
          : { tag: 'different', body: present.body };
      }
    }
    if (attempt === STORE_ATTEMPTS_MAX)
      return { tag: 'unanswered', message: `put ${key}: no confirmation` };
    yield* pauseAfter(attempt);
  }
}

/** All keys with the prefix after `startAfter`, ascending; pages are fetched one after the other. */
export function* listAll(
  prefix: string,
  startAfter?: string,
): Lineage<{ tag: 'keys'; keys: string[] } | Unanswered> {
  const keys: string[] = [];
  let after = startAfter;
  let attempt = 1;
  for (;;) {
    const answer = yield after === undefined
      ? { op: 'list', prefix }
      : { op: 'list', prefix, startAfter: after };
    if (answer.tag === 'keys') {
      for (const key of answer.keys) keys.push(key);
      const last = answer.keys.at(-1);
      if (!answer.truncated) return { tag: 'keys', keys };
      if (last === undefined)
        return { tag: 'unanswered', message: `list ${prefix}: an empty page that goes on` };
      assert(after === undefined || last > after, 'a page starts after the given name');
      after = last;
      attempt = 1;
      continue;
    }
    assert(answer.tag === 'failed', `a list cannot be answered with ${answer.tag}`);
    if (attempt === STORE_ATTEMPTS_MAX)
      return { tag: 'unanswered', message: `list ${prefix}: ${answer.message}` };
    yield* pauseAfter(attempt++);
  }
}

/** Deletes the keys in order, `DELETE_KEYS_MAX` at a time; `unanswered` leaves an unknown part of them deleted. */
export function* deleteAll(keys: readonly string[]): Lineage<{ tag: 'done' } | Unanswered> {
  for (let at = 0; at < keys.length; at += DELETE_KEYS_MAX) {
    const chunk = keys.slice(at, at + DELETE_KEYS_MAX);
    for (let attempt = 1; ; attempt++) {
      const answer = yield { op: 'delete', keys: chunk };
      if (answer.tag === 'done') break;
      assert(answer.tag === 'failed', `a delete cannot be answered with ${answer.tag}`);
      if (attempt === STORE_ATTEMPTS_MAX)
        return { tag: 'unanswered', message: `delete: ${answer.message}` };
      yield* pauseAfter(attempt);
    }
  }
  return { tag: 'done' };
}

/** Asks that staged items be thrown away; `unanswered` leaves an unknown part of them. */
export function* abortAll(items: readonly SinkItem[]): Lineage<{ tag: 'done' } | Unanswered> {
  if (items.length === 0) return { tag: 'done' };
  for (let attempt = 1; ; attempt++) {
    const answer = yield { op: 'abort', items: [...items] };
    if (answer.tag === 'done') return answer;
    assert(answer.tag === 'failed', `an abort cannot be answered with ${answer.tag}`);
    if (attempt === STORE_ATTEMPTS_MAX)
      return { tag: 'unanswered', message: `abort: ${answer.message}` };
    yield* pauseAfter(attempt);
  }
}

export function bytesEqual(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index++) if (left[index] !== right[index]) return false;
  return true;
}
