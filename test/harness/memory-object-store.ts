/**
 * An object store in memory behind the lineage port, with a fate for each request.
 *
 * Like R2 it has strong consistency and conditional puts, and like R2's for a plain put its etag depends on the content
 * only, so that a protocol that lets a content come back would be caught by an old condition.
 */
import { contentHash } from '../../src/lineage/content-hash.ts';
import { DELETE_KEYS_MAX } from '../../src/lineage/store.ts';
import type { StoreAnswer, StoreOp } from '../../src/lineage/store.ts';
import type { SinkItem } from '../../src/lineage/types.ts';

/**
 * `apply`: done and answered. `lose-answer`: done, but the answer is lost. `delay`: the answer is lost, and the request is done
 * when `land` is called. `throttle`: refused with 429, not done. `fail`: 5xx, not done.
 */
export type Fate = 'apply' | 'lose-answer' | 'delay' | 'throttle' | 'fail';

type Request = Exclude<StoreOp, { op: 'pause' }>;

export type StoredObject = { body: Uint8Array; etag: string };

export class MemoryObjectStore {
  readonly objects = new Map<string, StoredObject>();
  /** Requests on their way, oldest first. */
  readonly delayed: Request[] = [];
  /** Milliseconds that callers were told to wait, one entry for each pause. */
  readonly pausesMs: number[] = [];
  /** Items of sinks that were to be thrown away, in the order of the requests. */
  readonly aborted: SinkItem[] = [];
  readonly #pageSize: number;

  constructor(options: { pageSize?: number } = {}) {
    this.#pageSize = options.pageSize ?? 1000;
  }

  /** Answers one request under its fate; a pause passes at once. */
  answer(op: StoreOp, fate: Fate = 'apply'): StoreAnswer {
    if (op.op === 'pause') {
      this.pausesMs.push(op.ms);
      return { tag: 'paused' };
    }
    if (fate === 'throttle')
      return op.op === 'put' ? { tag: 'throttled' } : { tag: 'failed', message: '429' };
    if (fate === 'apply') return this.#apply(op);
    if (fate === 'lose-answer') this.#apply(op);
    if (fate === 'delay') this.delayed.push(op);
    const message = fate === 'fail' ? '503' : 'timeout';
    return op.op === 'put' ? { tag: 'unknown', message } : { tag: 'failed', message };
  }

  /** A delayed request arrives now; returns the answer that nobody waits for. */
  land(index = 0): StoreAnswer {
    const [op] = this.delayed.splice(index, 1);
    if (op === undefined) throw new Error(`no delayed request ${index}`);
    return this.#apply(op);
  }

  keys(): string[] {
    return [...this.objects.keys()].sort();
  }

  #apply(op: Request): StoreAnswer {
    if (op.op === 'get') {
      const found = this.objects.get(op.key);
      return found === undefined
        ? { tag: 'missing' }
        : { tag: 'found', body: found.body.slice(), etag: found.etag };
    }
    if (op.op === 'put') return this.#put(op);
    if (op.op === 'list') return this.#list(op.prefix, op.startAfter);
    if (op.op === 'abort') {
      this.aborted.push(...op.items);
      return { tag: 'done' };
    }
    if (op.keys.length > DELETE_KEYS_MAX) throw new Error(`a delete of ${op.keys.length} keys`);
    for (const key of op.keys) this.objects.delete(key);
    return { tag: 'done' };
  }

  #put(op: Extract<StoreOp, { op: 'put' }>): StoreAnswer {
    const present = this.objects.get(op.key);
    const allowed =
      op.condition.tag === 'absent' ? present === undefined : present?.etag === op.condition.etag;
    if (!allowed) return { tag: 'refused' };
    const etag = contentHash(op.body);
    this.objects.set(op.key, { body: op.body.slice(), etag });
    return { tag: 'stored', etag };
  }

  #list(prefix: string, startAfter: string | undefined): StoreAnswer {
    const keys = this.keys().filter(
      (key) => key.startsWith(prefix) && (startAfter === undefined || key > startAfter),
    );
    return {
      tag: 'keys',
      keys: keys.slice(0, this.#pageSize),
      truncated: keys.length > this.#pageSize,
    };
  }
}
