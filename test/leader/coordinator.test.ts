import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  acceptReport,
  draftOf,
  openCollection,
  summaryOf,
} from '../../src/checkpoint/coordinator.ts';
import type { Checkpointed, Collection } from '../../src/checkpoint/coordinator.ts';
import { spreadItems } from '../../src/leader/commits.ts';
import type { SinkItem } from '../../src/lineage/types.ts';

function reportOf(host: number, epoch: number, attempt: number, items: SinkItem[]): Checkpointed {
  const file = {
    operator: 'o',
    table: 't',
    subtask: host,
    key: `k${host}`,
    size: 10 + host,
    hash: '0',
    rows: host,
    keyRange: { lower: 0, upper: 1 },
    layer: 0,
  };
  return {
    tag: 'checkpointed',
    epoch,
    attempt,
    files: [file],
    broadcast: [{ operator: 'o', table: 'offsets', subtask: host, value: host }],
    inputs: [],
    items,
    drained: false,
    alignMs: 1,
    snapshotMs: 1,
    uploadMs: 1,
  };
}

const itemArbitrary = (subtask: number): fc.Arbitrary<SinkItem[]> =>
  fc.uniqueArray(
    fc.record({
      sink: fc.constantFrom('a', 'b', 'c', 'd'),
      subtask: fc.constant(subtask),
      index: fc.nat(5),
      payload: fc.constant(null),
    }),
    {
      selector: (item) => `${item.sink}/${item.index}`,
      maxLength: 8,
    },
  );

test('the draft does not depend on the order of the reports, nor on stale and repeated ones', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }).chain((hosts) =>
        fc.tuple(
          fc.tuple(...Array.from({ length: hosts }, (_, host) => itemArbitrary(host))),
          fc.shuffledSubarray(
            Array.from({ length: hosts }, (_, host) => host),
            { minLength: hosts },
          ),
          fc.array(fc.tuple(fc.nat(hosts), fc.integer({ min: 6, max: 8 }), fc.nat(3))),
        ),
      ),
      ([items, order, noise]) => {
        const inOrder = collect(
          items,
          items.map((_, host) => host),
          [],
        );
        expect(draftOf(collect(items, order, noise), 'plan', 9)).toEqual(
          draftOf(inOrder, 'plan', 9),
        );
      },
    ),
  );
});

/** Feeds the reports in this order, each followed by what must not count. */
function collect(
  items: readonly SinkItem[][],
  order: readonly number[],
  noise: readonly [number, number, number][],
): Collection {
  let collection = openCollection(7, 2, 'scheduled', 0, items.length);
  for (const [turn, host] of order.entries()) {
    const accepted = acceptReport(collection, host, reportOf(host, 7, 2, items[host] ?? []), turn);
    if (accepted.tag === 'stale') throw new Error('a first report counts');
    expect(accepted.tag).toBe(turn === items.length - 1 ? 'complete' : 'waiting');
    collection = accepted.collection;
    for (const [index, epoch, attempt] of noise) {
      if (
        epoch === 7 &&
        attempt === 2 &&
        !order.slice(0, turn + 1).includes(index) &&
        index < items.length
      )
        continue;
      expect(acceptReport(collection, index, reportOf(index, epoch, attempt, []), turn).tag).toBe(
        'stale',
      );
    }
  }
  return collection;
}

test('a draft needs a commit exactly when it has items, and is finished exactly when it is final', () => {
  const item: SinkItem = { sink: 'a', subtask: 0, index: 0, payload: null };
  const waiting = openCollection(1, 1, 'final', 0, 1);
  const accepted = acceptReport(waiting, 0, reportOf(0, 1, 1, [item]), 5);
  if (accepted.tag !== 'complete') throw new Error('one host completes it');
  expect(draftOf(accepted.collection, 'plan', 9)).toMatchObject({
    needsCommit: true,
    finished: true,
    items: [item],
    parallelism: 1,
    createdAtMs: 9,
  });
  const empty = acceptReport(openCollection(1, 1, 'stopping', 0, 1), 0, reportOf(0, 1, 1, []), 5);
  if (empty.tag !== 'complete') throw new Error('one host completes it');
  expect(draftOf(empty.collection, 'plan', 9)).toMatchObject({
    needsCommit: false,
    finished: false,
  });
});

test('a summary counts bytes, rows and items, and is aligned only when all have reported', () => {
  const first = acceptReport(
    openCollection(3, 1, 'scheduled', 100, 2),
    1,
    reportOf(1, 3, 1, []),
    110,
  );
  if (first.tag !== 'waiting') throw new Error('one of two');
  expect(summaryOf(first.collection)).toMatchObject({
    epoch: 3,
    alignedMs: null,
    bytes: 11,
    rows: 1,
    items: 0,
  });
  const second = acceptReport(
    first.collection,
    0,
    reportOf(0, 3, 1, [{ sink: 'a', subtask: 0, index: 0, payload: null }]),
    120,
  );
  if (second.tag !== 'complete') throw new Error('two of two');
  expect(summaryOf(second.collection)).toMatchObject({
    alignedMs: 120,
    startedMs: 100,
    bytes: 21,
    rows: 1,
    items: 1,
  });
});

test('commits are spread so that each sink belongs to one host and its items come by subtask and index', () => {
  fc.assert(
    fc.property(
      fc.tuple(itemArbitrary(0), itemArbitrary(1), itemArbitrary(2)),
      fc.integer({ min: 1, max: 5 }),
      (lists, hosts) => {
        const items = lists.flat();
        const shares = spreadItems(items, hosts);
        const key = (item: SinkItem): string => `${item.sink}/${item.subtask}/${item.index}`;
        expect(
          shares
            .flatMap((share) => share.items)
            .map(key)
            .toSorted(),
        ).toEqual(items.map(key).toSorted());
        for (const sink of new Set(items.map((item) => item.sink))) {
          const owners = shares.filter((share) => share.items.some((item) => item.sink === sink));
          expect(owners.length).toBe(1);
          const own = (owners[0]?.items ?? [])
            .filter((item) => item.sink === sink)
            .map((item) => item.subtask * 100 + item.index);
          expect(own).toEqual(own.toSorted((left, right) => left - right));
        }
        expect(shares.every((share) => share.index < hosts && share.items.length > 0)).toBe(true);
      },
    ),
  );
});
