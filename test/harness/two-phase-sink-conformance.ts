/**
 * The examination that every two-phase sink has to pass, over any bucket. It knows a sink by its contract only; what it
 * needs to know about the target is in `TwoPhaseWorld`.
 *
 * Numbers in names are those of the list of lineage scenarios.
 */
import { describe, expect, test } from 'vitest';
import { spreadItems } from '../../src/leader/commits.ts';
import { EngineError } from '../../src/base/errors.ts';
import { HostCommits } from '../../src/subtask/host-commits.ts';
import type { ItemPayload, StageRequest } from '../../src/connectors/connector.ts';
import type { CommitToken, TwoPhaseSink } from '../../src/connectors/two-phase-sink.ts';
import type { SinkItem } from '../../src/lineage/types.ts';
import { type CallsFor, SinkCalls, type SinkClock } from '../../src/platform/sinks/sink-calls.ts';
import {
  type BucketCall,
  type BucketFate,
  CONFLICT,
  FaultyBucket,
  FORBIDDEN,
  THROTTLED,
  UNAVAILABLE,
} from './faulty-bucket.ts';

/** One target, used by nobody else. Every sink made is another caller, perhaps of another host. */
export type TwoPhaseWorld = {
  bucket: R2Bucket;
  make(bucket: R2Bucket, calls: CallsFor): TwoPhaseSink;
  /** What to stage as piece `name`, which is unique to its writer. `sink` has a target of its own. */
  request(name: string, text: string, sink: string): StageRequest;
  /** What a reader of the target of `sink` sees; lines of one file in their order. */
  visible(sink: string): Promise<string[]>;
  /** Staged data vanish behind the sink's back. */
  lose(item: ItemPayload): Promise<void>;
  /** Somebody who once wrote for the sink goes on with what he can reach: the upload, the names. */
  haunt(item: ItemPayload): Promise<void>;
  /** Somebody else writes where the item was committed, and keeps what is there if `keeps`. */
  change(item: ItemPayload, keeps: boolean): Promise<void>;
  /** What a commit of another lineage to the same target comes to; it is never just dropped. */
  otherLineage: 'applied' | 'refused';
};

const LINEAGE = 'pl_1/job_1';
const TIMEOUT_MS = 30_000;

/** A clock whose pauses pass at once. */
class TestClock implements SinkClock {
  readonly pausesMs: number[] = [];
  #skippedMs = 0;

  nowMs(): number {
    return Date.now() + this.#skippedMs;
  }

  async pause(ms: number): Promise<void> {
    this.pausesMs.push(ms);
    this.#skippedMs += ms;
  }

  random(): number {
    return (this.pausesMs.length * 0.37) % 1;
  }
}

class Exam {
  readonly world: TwoPhaseWorld;
  readonly clock = new TestClock();

  constructor(world: TwoPhaseWorld) {
    this.world = world;
  }

  sink(bucket: R2Bucket = this.world.bucket, timeoutMs = TIMEOUT_MS): TwoPhaseSink {
    return this.world.make(
      bucket,
      (use, token) => new SinkCalls(use, token, timeoutMs, this.clock),
    );
  }

  /** A caller whose calls to the bucket have fates. */
  faulty(
    fateOf: (call: BucketCall, index: number) => BucketFate,
    timeoutMs?: number,
  ): { sink: TwoPhaseSink; bucket: FaultyBucket } {
    const bucket = new FaultyBucket(this.world.bucket, fateOf);
    return { sink: this.sink(bucket.binding, timeoutMs), bucket };
  }

  async stage(
    name: string,
    text: string,
    options: { by?: TwoPhaseSink; sink?: string } = {},
  ): Promise<ItemPayload> {
    const request = this.world.request(name, `${text}\n`, options.sink ?? 'sink-1');
    const staged = await (options.by ?? this.sink()).stage(request);
    return { ...staged, target: request.target ?? request.key, hash: '' };
  }

  async stageEpoch(epoch: number, pieces = 2): Promise<ItemPayload[]> {
    const items: ItemPayload[] = [];
    for (let piece = 0; piece < pieces; piece++)
      items.push(await this.stage(`${pad(epoch)}-${piece}`, rowOf(epoch, piece)));
    return items;
  }

  /** Stages and commits epochs without a fault. */
  async run(from: number, to: number): Promise<void> {
    for (let epoch = from; epoch <= to; epoch++)
      await this.sink().commit(tokenOf(epoch), await this.stageEpoch(epoch));
  }

  async seen(): Promise<string[]> {
    return await this.world.visible('sink-1');
  }
}

const pad = (epoch: number): string => String(epoch).padStart(7, '0');
const rowOf = (epoch: number, piece: number): string => `row ${epoch}.${piece}`;
const rowsOf = (from: number, to: number, pieces = 2): string[] => {
  const rows: string[] = [];
  for (let epoch = from; epoch <= to; epoch++)
    for (let piece = 0; piece < pieces; piece++) rows.push(rowOf(epoch, piece));
  return rows;
};
const tokenOf = (epoch: number, sink = 'sink-1', lineage = LINEAGE): CommitToken => ({
  lineage,
  sink,
  epoch,
});

/** How a call ended: its error's code, or `done`. */
async function ending(call: Promise<void>): Promise<string> {
  return await call.then(
    () => 'done',
    (thrown: unknown) => {
      if (thrown instanceof EngineError) return thrown.code;
      throw thrown;
    },
  );
}

export function describeTwoPhaseSink(name: string, newWorld: () => TwoPhaseWorld): void {
  const exam = (): Exam => new Exam(newWorld());
  describe(`${name} as a two-phase sink`, () => {
    describeCommits(exam);
    describeFaults(exam);
    describeHistories(exam);
    describeRefusals(exam);
  });
}

function describeCommits(exam: () => Exam): void {
  test('what is staged is invisible, what is committed is whole', async () => {
    const each = exam();
    const items = await each.stageEpoch(1, 3);
    expect(await each.seen()).toEqual([]);
    await each.sink().preCommit(tokenOf(1), items);
    expect(await each.seen()).toEqual([]);
    await each.sink().commit(tokenOf(1), items);
    expect(await each.seen()).toEqual(rowsOf(1, 1, 3));
  });

  test('24: a commit that is repeated, made by four callers at once, and again 20 epochs later changes nothing', async () => {
    const each = exam();
    await each.run(1, 1);
    const items = await each.stageEpoch(2);
    const commit = (): Promise<void> => each.sink().commit(tokenOf(2), items);
    await Promise.all([commit(), commit(), commit(), commit()]);
    await commit();
    expect(await each.seen()).toEqual(rowsOf(1, 2));
    await each.run(3, 22);
    await commit();
    await Promise.all([commit(), commit()]);
    expect(await each.seen()).toEqual(rowsOf(1, 22));
  });

  test('19: items staged at one parallelism are committed at another, 2 to 4 and 4 to 2', async () => {
    for (const [staged, committing] of [
      [2, 4],
      [4, 2],
    ] as const) {
      const each = exam();
      const items: SinkItem[] = [];
      for (const sink of ['sink-1', 'sink-2', 'sink-3'])
        for (let subtask = 0; subtask < staged; subtask++)
          for (let index = 0; index < 2; index++) {
            const row = `${sink} ${subtask}.${index}`;
            const piece = await each.stage(`0000001-${sink}-${subtask}-${index}`, row, { sink });
            items.push({ sink, subtask, index, payload: piece });
          }
      const commit = async (): Promise<void> => {
        for (const share of spreadItems(items.toReversed(), committing))
          for (const [sink, own] of new HostCommits().begin(1, share.items)) {
            const payloads = own.map((item) => item.payload as unknown as ItemPayload);
            await each.sink().commit(tokenOf(1, sink), payloads);
          }
      };
      await commit();
      await commit();
      for (const sink of ['sink-1', 'sink-2', 'sink-3']) {
        const wanted = Array.from(
          { length: staged * 2 },
          (_, at) => `${sink} ${at >> 1}.${at % 2}`,
        );
        expect(await each.world.visible(sink), `${staged} to ${committing}`).toEqual(wanted);
      }
    }
  });

  test('22: an epoch without items is committed without a call', async () => {
    const each = exam();
    await each.run(1, 1);
    const { sink, bucket } = each.faulty(() => 'apply');
    await sink.preCommit(tokenOf(2), []);
    await sink.commit(tokenOf(2), []);
    await sink.abort([]);
    expect(bucket.calls).toEqual([]);
    await each.run(3, 3);
    expect(await each.seen()).toEqual([...rowsOf(1, 1), ...rowsOf(3, 3)]);
  });

  test('pre-commit notices what is missing, as often as it is asked, and is content with what was committed', async () => {
    const each = exam();
    const items = await each.stageEpoch(1, 3);
    for (let time = 0; time < 3; time++) await each.sink().preCommit(tokenOf(1), items);
    await each.sink().commit(tokenOf(1), items);
    await each.sink().preCommit(tokenOf(1), items);
    const others = await each.stageEpoch(2, 3);
    await each.world.lose(others[1] as ItemPayload);
    expect(await ending(each.sink().preCommit(tokenOf(2), others))).toBe('SINK_FAILED');
    expect(await each.seen()).toEqual(rowsOf(1, 1, 3));
  });

  test('staged rows that are gone after the claim are an error, never a silent loss', async () => {
    const each = exam();
    const items = await each.stageEpoch(1, 1);
    await each.world.lose(items[0] as ItemPayload);
    expect(await ending(each.sink().commit(tokenOf(1), items))).toBe('SINK_FAILED');
    expect(await each.seen()).toEqual([]);
  });
}

/** One call, by number, has another fate; every number is tried until the work needs no such call. */
async function atEveryCall(
  exam: () => Exam,
  fate: BucketFate,
  only: (call: BucketCall) => boolean,
  run: (each: Exam, faulty: { sink: TwoPhaseSink; bucket: FaultyBucket }) => Promise<void>,
): Promise<number> {
  for (let wanted = 0; ; wanted++) {
    const each = exam();
    let met = 0;
    const faulty = each.faulty((call) => (only(call) && met++ === wanted ? fate : 'apply'));
    await run(each, faulty);
    if (met <= wanted) return wanted;
  }
}

function describeFaults(exam: () => Exam): void {
  const changes = (call: BucketCall): boolean => call.changes;

  test('a lost answer to any call of stage, pre-commit or commit is made good, and rows are there once', async () => {
    const tried = await atEveryCall(exam, 'lose-answer', changes, async (each, { sink }) => {
      await each.run(1, 1);
      const items = [
        await each.stage('0000002-0', rowOf(2, 0), { by: sink }),
        await each.stage('0000002-1', rowOf(2, 1), { by: sink }),
      ];
      await sink.preCommit(tokenOf(2), items);
      await sink.commit(tokenOf(2), items);
      await each.run(3, 3);
      expect(await each.seen()).toEqual(rowsOf(1, 3));
    });
    expect(tried).toBeGreaterThan(2);
  });

  test('28: a call that arrives late, after the epoch or after the next one, changes nothing', async () => {
    for (const after of [2, 3]) {
      const tried = await atEveryCall(exam, 'delay', changes, async (each, { sink, bucket }) => {
        await each.run(1, 1);
        const items = [
          await each.stage('0000002-0', rowOf(2, 0), { by: sink }),
          await each.stage('0000002-1', rowOf(2, 1), { by: sink }),
        ];
        await sink.preCommit(tokenOf(2), items);
        await sink.commit(tokenOf(2), items);
        if (after === 2) await bucket.land();
        await each.run(3, 3);
        await bucket.land();
        expect(await each.seen()).toEqual(rowsOf(1, 3));
      });
      expect(tried).toBeGreaterThan(2);
    }
  });

  test('29: whatever a crash left undone of a batch is done by the next commit, and nothing twice', async () => {
    for (let calls = 0; ; calls++) {
      const each = exam();
      const items = await each.stageEpoch(1, 9);
      const { sink, bucket } = each.faulty((_, index) => (index < calls ? 'apply' : FORBIDDEN));
      const ended = await ending(sink.commit(tokenOf(1), items));
      await each.sink().commit(tokenOf(1), items);
      expect(await each.seen(), `after ${calls} calls`).toEqual(rowsOf(1, 1, 9));
      if (ended === 'done') break;
      expect(bucket.calls.length).toBeGreaterThan(0);
    }
  });

  test('25: the acknowledgement is lost and another writer changes the target: the redo adds nothing', async () => {
    for (const keeps of [true, false]) {
      const each = exam();
      const items = await each.stageEpoch(1);
      await each.sink().commit(tokenOf(1), items);
      await each.world.change(items[0] as ItemPayload, keeps);
      const before = await each.seen();
      const ended = await ending(each.sink().commit(tokenOf(1), items));
      expect(await each.seen()).toEqual(before);
      expect(['done', 'SINK_REFUSED']).toContain(ended);
      if (keeps) expect(ended).toBe('done');
    }
  });

  test('U45, U48: conflicts, throttling and 503 are waited out with growing random pauses, and rows are there once', async () => {
    for (const fate of [CONFLICT, THROTTLED, UNAVAILABLE]) {
      const each = exam();
      const items = await each.stageEpoch(1);
      const { sink } = each.faulty((_, index) => (index < 5 ? fate : 'apply'));
      await sink.commit(tokenOf(1), items.slice(0, 1));
      expect(await each.seen()).toEqual([rowOf(1, 0)]);
      expect(each.clock.pausesMs).toHaveLength(5);
      const bases = each.clock.pausesMs.map((ms, at) => ms / (200 * 2 ** at));
      for (const base of bases) {
        expect(base).toBeGreaterThanOrEqual(0.5);
        expect(base).toBeLessThanOrEqual(1);
      }
      expect(new Set(bases).size).toBeGreaterThan(1);
    }
  });

  test('U48: a call that is never answered is sent again, and rows are there once', async () => {
    const each = exam();
    const items = await each.stageEpoch(1, 1);
    const { sink } = each.faulty((_, index) => (index === 0 ? 'hang' : 'apply'), 4_000);
    await sink.commit(tokenOf(1), items);
    expect(await each.seen()).toEqual(rowsOf(1, 1, 1));
  });

  test('U45, U48: a target that never answers is COMMIT_TIMEOUT, deletes nothing, and the same token succeeds later', async () => {
    for (const fate of ['hang', UNAVAILABLE] as const) {
      const each = exam();
      const items = await each.stageEpoch(1);
      const { sink, bucket } = each.faulty(() => fate, fate === 'hang' ? 100 : TIMEOUT_MS);
      expect(await ending(sink.commit(tokenOf(1), items))).toBe('COMMIT_TIMEOUT');
      expect(
        bucket.calls.filter(({ method }) => method === 'delete' || method === 'abort'),
      ).toEqual([]);
      await each.sink().preCommit(tokenOf(1), items);
      await each.sink().commit(tokenOf(1), items);
      expect(await each.seen()).toEqual(rowsOf(1, 1));
    }
  });

  test('U45: a commit that was done and never answered is found to be done', async () => {
    const each = exam();
    const items = await each.stageEpoch(1);
    const { sink } = each.faulty((call) => (call.changes ? 'lose-answer' : UNAVAILABLE));
    expect(await ending(sink.commit(tokenOf(1), items))).toBe('COMMIT_TIMEOUT');
    await each.sink().commit(tokenOf(1), items);
    expect(await each.seen()).toEqual(rowsOf(1, 1));
  });
}

function describeHistories(exam: () => Exam): void {
  test('27: what an orphan has staged is never visible, and is gone once it is thrown away', async () => {
    const each = exam();
    const orphaned = await each.stage('0000001-orphan', 'orphan');
    await each.run(1, 2);
    expect(await each.seen()).toEqual(rowsOf(1, 2));
    for (let time = 0; time < 2; time++) await each.sink().abort([orphaned]);
    expect(await ending(each.sink().preCommit(tokenOf(3), [orphaned]))).toBe('SINK_FAILED');
    await each.run(3, 3);
    expect(await each.seen()).toEqual(rowsOf(1, 3));
  });

  test('27: a commit that comes after the abort of its items does nothing', async () => {
    const each = exam();
    await each.run(1, 1);
    const orphaned = await each.stageEpoch(2);
    await each.sink().abort(orphaned);
    expect(await ending(each.sink().commit(tokenOf(2), orphaned))).toBe('SINK_FAILED');
    expect(await each.seen()).toEqual(rowsOf(1, 1));
  });

  test('an abort that comes after the commit of its items takes nothing away', async () => {
    const each = exam();
    const items = await each.stageEpoch(1);
    await each.sink().commit(tokenOf(1), items);
    await each.sink().abort(items);
    expect(await each.seen()).toEqual(rowsOf(1, 1));
    await each.sink().commit(tokenOf(1), items);
    expect(await each.seen()).toEqual(rowsOf(1, 1));
  });

  test('an abort whose answer is lost, or that stops half-way, is finished by the next', async () => {
    const each = exam();
    const items = await each.stageEpoch(1, 5);
    const { sink } = each.faulty((_, index) => (index % 2 === 0 ? 'lose-answer' : 'apply'));
    await sink.abort(items);
    await each.sink().abort(items);
    for (const item of items)
      expect(await ending(each.sink().preCommit(tokenOf(1), [item]))).toBe('SINK_FAILED');
  });

  test('28: a zombie goes on with what it can reach; the canonical commit is as if it did not', async () => {
    const each = exam();
    const items = await each.stageEpoch(1);
    for (const item of items) await each.world.haunt(item);
    await each.sink().preCommit(tokenOf(1), items);
    await each.sink().commit(tokenOf(1), items);
    for (const item of items) await each.world.haunt(item);
    expect(await each.seen()).toEqual(rowsOf(1, 1));
  });

  test('30: after a restart without state epochs go on, and the first commit is not taken for an old one', async () => {
    const each = exam();
    await each.run(1, 5);
    await each.run(7, 7);
    expect(await each.seen()).toEqual([...rowsOf(1, 5), ...rowsOf(7, 7)]);
  });

  test('30: epoch 1 of a pipeline that was created again is not taken for the old one', async () => {
    const each = exam();
    await each.run(1, 5);
    const fresh = [await each.stage('0000009-fresh', 'fresh')];
    const ended = await ending(each.sink().commit(tokenOf(1, 'sink-1', 'pl_2/job_2'), fresh));
    const { otherLineage } = each.world;
    expect(ended).toBe(otherLineage === 'applied' ? 'done' : 'SINK_REFUSED');
    const added = otherLineage === 'applied' ? ['fresh'] : [];
    expect(await each.seen()).toEqual([...rowsOf(1, 5), ...added]);
  });
}

function describeRefusals(exam: () => Exam): void {
  test('U48: 403 fails once, as a matter of the user, and says which sink, what the answer was and what to check', async () => {
    const each = exam();
    const items = await each.stageEpoch(1);
    const { sink, bucket } = each.faulty(() => FORBIDDEN);
    const thrown: unknown = await sink
      .commit(tokenOf(1), items.slice(0, 1))
      .catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(EngineError);
    const { report } = thrown as EngineError;
    expect(report).toMatchObject({ code: 'SINK_REFUSED', domain: 'user', retry: 'never' });
    expect(report.message).toContain('sink-1');
    expect(report.message).toContain('Access Denied (10003)');
    expect(report.hint).toContain('Check');
    expect(bucket.calls).toHaveLength(1);
    await each.sink().commit(tokenOf(1), items);
    expect(await each.seen()).toEqual(rowsOf(1, 1));
  });

  test('U48: a bucket that does not exist refuses to stage at once', async () => {
    const each = exam();
    const { sink, bucket } = each.faulty(() => ({ error: 'NoSuchBucket (10006)' }));
    await expect(each.stage('0000001-0', 'row', { by: sink })).rejects.toMatchObject({
      code: 'SINK_REFUSED',
    });
    expect(bucket.calls).toHaveLength(1);
  });
}
