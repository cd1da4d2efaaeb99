/**
 * The bucket of the model: immutable, interned, so that a whole bucket is one number and a request is looked up once.
 */
import type { StoreAnswer, StoreOp } from '../../src/lineage/store.ts';
import { Interner } from './interning.ts';

/** A request that reaches the bucket. */
export type BucketOp = Exclude<StoreOp, { op: 'pause' }>;

/** Key → number of its body. */
export type Objects = ReadonlyMap<string, number>;

const latin = (bytes: Uint8Array): string => String.fromCharCode(...bytes);

export class Buckets {
  readonly #bodies = new Interner<Uint8Array>();
  readonly #ops = new Interner<BucketOp>();
  readonly #answers = new Interner<StoreAnswer>();
  readonly #buckets = new Interner<Objects>();
  readonly #results = new Map<number, number>();
  readonly #pairs: { bucket: number; answer: number }[] = [];
  readonly empty: number;

  constructor() {
    this.empty = this.#bucket(new Map());
  }

  get size(): number {
    return this.#buckets.size;
  }

  objects(bucket: number): Objects {
    return this.#buckets.value(bucket);
  }

  body(number: number): Uint8Array {
    return this.#bodies.value(number);
  }

  op(number: number): BucketOp {
    return this.#ops.value(number);
  }

  answer(number: number): StoreAnswer {
    return this.#answers.value(number);
  }

  internOp(op: BucketOp): number {
    let text = '';
    if (op.op === 'get') text = `get ${op.key}`;
    if (op.op === 'list') text = `list ${op.prefix} ${op.startAfter ?? ''}`;
    if (op.op === 'delete') text = `delete ${op.keys.join(' ')}`;
    if (op.op === 'abort') text = `abort ${JSON.stringify(op.items)}`;
    if (op.op === 'put')
      text = `put ${op.key} ${this.#body(op.body)} ${op.condition.tag === 'absent' ? '' : op.condition.etag}`;
    return this.#ops.intern(text, () => op);
  }

  internAnswer(answer: StoreAnswer): number {
    let text: string = answer.tag;
    if (answer.tag === 'found') text += ` ${answer.etag}`;
    if (answer.tag === 'stored') text += ` ${answer.etag}`;
    if (answer.tag === 'keys') text += ` ${answer.keys.join(' ')}`;
    return this.#answers.intern(text, () => answer);
  }

  /** The bucket after the request, and the number of its answer. */
  apply(bucket: number, op: number): { bucket: number; answer: number } {
    const memo = bucket * 2 ** 24 + op;
    let pair = this.#results.get(memo);
    if (pair === undefined) {
      pair = this.#pairs.length;
      this.#pairs.push(this.#perform(bucket, this.#ops.value(op)));
      this.#results.set(memo, pair);
    }
    return this.#pairs[pair] as { bucket: number; answer: number };
  }

  #perform(bucket: number, op: BucketOp): { bucket: number; answer: number } {
    const objects = this.#buckets.value(bucket);
    if (op.op === 'get') {
      const body = objects.get(op.key);
      if (body === undefined) return { bucket, answer: this.internAnswer({ tag: 'missing' }) };
      return {
        bucket,
        answer: this.internAnswer({
          tag: 'found',
          body: this.#bodies.value(body),
          etag: String(body),
        }),
      };
    }
    if (op.op === 'list') {
      const { startAfter } = op;
      const keys = [...objects.keys()].filter(
        (key) => key.startsWith(op.prefix) && (startAfter === undefined || key > startAfter),
      );
      return {
        bucket,
        answer: this.internAnswer({ tag: 'keys', keys: keys.sort(), truncated: false }),
      };
    }
    if (op.op === 'abort') return { bucket, answer: this.internAnswer({ tag: 'done' }) };
    const after = new Map(objects);
    if (op.op === 'delete') {
      for (const key of op.keys) after.delete(key);
      return { bucket: this.#bucket(after), answer: this.internAnswer({ tag: 'done' }) };
    }
    const present = objects.get(op.key);
    const allowed =
      op.condition.tag === 'absent' ? present === undefined : String(present) === op.condition.etag;
    if (!allowed) return { bucket, answer: this.internAnswer({ tag: 'refused' }) };
    const body = this.#body(op.body);
    after.set(op.key, body);
    return {
      bucket: this.#bucket(after),
      answer: this.internAnswer({ tag: 'stored', etag: String(body) }),
    };
  }

  #body(bytes: Uint8Array): number {
    return this.#bodies.intern(latin(bytes), () => bytes);
  }

  #bucket(objects: Objects): number {
    const text = [...objects]
      .map(([key, body]) => `${key}=${body}`)
      .sort()
      .join(' ');
    return this.#buckets.intern(text, () => objects);
  }
}
