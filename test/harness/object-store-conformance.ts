/**
 * What the lineage protocol needs of any object store, as tests that each implementation runs.
 *
 * `makeDriver` gives an empty store; operations may be answered at once or later.
 */
import { describe, expect, test } from 'vitest';
import type { StoreAnswer, StoreOp } from '../../src/lineage/store.ts';

export type ObjectStoreDriver = { answer(op: StoreOp): StoreAnswer | Promise<StoreAnswer> };

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const absent = { tag: 'absent' } as const;

export function describeObjectStore(
  name: string,
  makeDriver: () => ObjectStoreDriver | Promise<ObjectStoreDriver>,
): void {
  const put = async (store: ObjectStoreDriver, key: string, body: string): Promise<StoreAnswer> =>
    await store.answer({ op: 'put', key, body: bytes(body), condition: absent });

  const etagOf = async (store: ObjectStoreDriver, key: string): Promise<string> => {
    const answer = await store.answer({ op: 'get', key });
    if (answer.tag !== 'found') throw new Error(`${key}: ${answer.tag}`);
    return answer.etag;
  };

  const textOf = async (store: ObjectStoreDriver, key: string): Promise<string | null> => {
    const answer = await store.answer({ op: 'get', key });
    return answer.tag === 'found' ? new TextDecoder().decode(answer.body) : null;
  };

  describe(name, () => {
    test('what was never written is missing', async () => {
      const store = await makeDriver();
      expect(await store.answer({ op: 'get', key: 'a/none' })).toEqual({ tag: 'missing' });
    });

    test('an object is read back with the etag its put was answered with', async () => {
      const store = await makeDriver();
      const stored = await put(store, 'a/one', 'first');
      expect(stored.tag).toBe('stored');
      expect(await textOf(store, 'a/one')).toBe('first');
      expect(stored).toEqual({ tag: 'stored', etag: await etagOf(store, 'a/one') });
    });

    test('an empty object is not a missing one', async () => {
      const store = await makeDriver();
      expect((await put(store, 'a/empty', '')).tag).toBe('stored');
      expect(await textOf(store, 'a/empty')).toBe('');
      expect((await put(store, 'a/empty', 'x')).tag).toBe('refused');
    });

    test('a second create of a name is refused and changes nothing', async () => {
      const store = await makeDriver();
      await put(store, 'a/one', 'first');
      expect(await put(store, 'a/one', 'second')).toEqual({ tag: 'refused' });
      expect(await textOf(store, 'a/one')).toBe('first');
    });

    test('of many creates at once exactly one is stored', async () => {
      const store = await makeDriver();
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => put(store, 'a/race', `writer ${index}`)),
      );
      expect(answers.filter((answer) => answer.tag === 'stored')).toHaveLength(1);
      expect(answers.filter((answer) => answer.tag === 'refused')).toHaveLength(19);
    });

    test('a conditional overwrite needs the present etag', async () => {
      const store = await makeDriver();
      await put(store, 'a/one', 'first');
      const etag = await etagOf(store, 'a/one');
      const swap = (key: string, body: string, expected: string): StoreOp => ({
        op: 'put',
        key,
        body: bytes(body),
        condition: { tag: 'matches', etag: expected },
      });
      expect((await store.answer(swap('a/one', 'second', etag))).tag).toBe('stored');
      expect(await store.answer(swap('a/one', 'third', etag))).toEqual({ tag: 'refused' });
      expect(await store.answer(swap('a/none', 'third', etag))).toEqual({ tag: 'refused' });
      expect(await textOf(store, 'a/one')).toBe('second');
      expect(await textOf(store, 'a/none')).toBe(null);
    });

    test('of many conditional overwrites at once exactly one is stored', async () => {
      const store = await makeDriver();
      await put(store, 'a/one', 'first');
      const etag = await etagOf(store, 'a/one');
      const answers = await Promise.all(
        Array.from(
          { length: 20 },
          async (_, index) =>
            await store.answer({
              op: 'put',
              key: 'a/one',
              body: bytes(`w${index}`),
              condition: { tag: 'matches', etag },
            }),
        ),
      );
      expect(answers.filter((answer) => answer.tag === 'stored')).toHaveLength(1);
    });

    test('a list gives the names with the prefix in order, after the given one', async () => {
      const store = await makeDriver();
      for (const key of ['b/2', 'a/10', 'a/2', 'a/1', 'a0']) await put(store, key, key);
      expect(await store.answer({ op: 'list', prefix: 'a/' })).toEqual({
        tag: 'keys',
        keys: ['a/1', 'a/10', 'a/2'],
        truncated: false,
      });
      expect(await store.answer({ op: 'list', prefix: 'a/', startAfter: 'a/1' })).toEqual({
        tag: 'keys',
        keys: ['a/10', 'a/2'],
        truncated: false,
      });
      expect(await store.answer({ op: 'list', prefix: 'c/' })).toEqual({
        tag: 'keys',
        keys: [],
        truncated: false,
      });
    });

    test('a list sees a name as soon as its put is answered, and no longer once its delete is', async () => {
      const store = await makeDriver();
      for (let round = 0; round < 5; round++) {
        await put(store, `a/${round}`, 'x');
        expect(await store.answer({ op: 'list', prefix: 'a/' })).toMatchObject({
          keys: [`a/${round}`],
        });
        await store.answer({ op: 'delete', keys: [`a/${round}`] });
      }
    });

    test('more names than a page holds come in pages that continue', async () => {
      const store = await makeDriver();
      const names = Array.from(
        { length: 1030 },
        (_, index) => `a/${String(index).padStart(5, '0')}`,
      );
      for (let at = 0; at < names.length; at += 103) {
        await Promise.all(names.slice(at, at + 103).map((key) => put(store, key, 'x')));
      }
      const seen: string[] = [];
      let pages = 0;
      for (let truncated = true; truncated; pages++) {
        const last = seen.at(-1);
        const answer = await store.answer(
          last === undefined
            ? { op: 'list', prefix: 'a/' }
            : { op: 'list', prefix: 'a/', startAfter: last },
        );
        if (answer.tag !== 'keys') throw new Error(answer.tag);
        seen.push(...answer.keys);
        truncated = answer.truncated;
      }
      expect(seen).toEqual(names);
      expect(pages).toBeGreaterThan(1);
    });

    test('a delete removes what is there and does not mind what is not', async () => {
      const store = await makeDriver();
      await put(store, 'a/1', 'x');
      await put(store, 'a/2', 'x');
      expect(await store.answer({ op: 'delete', keys: ['a/1', 'a/none'] })).toEqual({
        tag: 'done',
      });
      expect(await store.answer({ op: 'list', prefix: 'a/' })).toMatchObject({ keys: ['a/2'] });
      expect((await put(store, 'a/1', 'again')).tag).toBe('stored');
    });
  });
}
