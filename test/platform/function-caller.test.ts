import { afterEach, describe, expect, test, vi } from 'vitest';
import { INT32, TEXT } from '../../src/batch/types.ts';
import { columnFromValues, valueAt } from '../../src/batch/values.ts';
import type { UserFunction } from '../../src/expr/user-function.ts';
import { functionCode, userModule } from '../../src/platform/functions/function-code.ts';
import {
  FunctionCaller,
  type FunctionWorker,
  workerLoad,
} from '../../src/platform/functions/function-caller.ts';
import { type Reply, type Request, runFunction } from '../../src/sandbox/run-function.ts';

const FN: UserFunction = {
  name: 'f',
  kind: 'scalar',
  waits: false,
  parameters: [{ name: 'x', type: INT32 }],
  returns: INT32,
  language: 'javascript',
  body: 'return x * 2;',
  calledOnNull: false,
  volatile: false,
  timeoutMs: 20,
  retries: 0,
  concurrency: 4,
  network: 'none',
};

const request = (count: number, fn = FN): Request & { fn: UserFunction } => ({
  fn,
  rows: count,
  columns: [
    columnFromValues(
      INT32,
      Array.from({ length: count }, (_, row) => row),
    ),
  ],
});

/** A sandbox that `fails` for some rows as a whole. */
function sandbox(fails: (rows: readonly number[], attempt: number) => Error | 'hang' | null): {
  worker: FunctionWorker;
  calls: number[][];
} {
  const calls: number[][] = [];
  const call = async ({ rows, columns }: Request): Promise<Reply> => {
    const values = Array.from({ length: rows }, (_, row) => valueAt(columns[0]!, row) as number);
    calls.push(values);
    const failure = fails(values, calls.length);
    if (failure === 'hang') return await new Promise(() => undefined);
    if (failure !== null) throw failure;
    return await runFunction({ default: (x: number) => x * 2 }, FN, { rows, columns });
  };
  return { worker: { check: () => Promise.resolve(null), call }, calls };
}

const resultsOf = ({ columns }: Reply): unknown[] =>
  Array.from({ length: columns[0]!.length }, (_, row) => valueAt(columns[0]!, row));

afterEach(() => void vi.useRealTimers());

describe('a call that fails as a whole', () => {
  test('is made again for halves of its rows, down to the ones to blame', async () => {
    const { worker, calls } = sandbox((rows) =>
      rows.includes(5) || rows.includes(9) ? new Error('exceeded its memory') : null,
    );
    const reply = await new FunctionCaller(() => worker, 8).call(request(16));
    expect(reply.errors).toEqual([
      { row: 5, message: 'exceeded its memory' },
      { row: 9, message: 'exceeded its memory' },
    ]);
    const results = Array.from({ length: 16 }, (_, x) => (x === 5 || x === 9 ? null : x * 2));
    expect(resultsOf(reply)).toEqual(results);
    expect(calls.filter((rows) => rows.join() === '5')).toHaveLength(2);
    expect(calls.length).toBeLessThan(20);
  });

  test('is given up when it takes too long', async () => {
    const { worker } = sandbox((rows) => (rows.includes(1) ? 'hang' : null));
    vi.useFakeTimers();
    const called = new FunctionCaller(() => worker, 8).call(request(2));
    await vi.advanceTimersByTimeAsync(10_000);
    const reply = await called;
    expect(reply.errors).toEqual([{ row: 1, message: 'no answer within 1020 ms' }]);
    expect(resultsOf(reply)).toEqual([0, null]);
  });

  test('is no fault of the row when the second attempt works', async () => {
    const { worker } = sandbox((_, attempt) => (attempt === 1 ? new Error('reset') : null));
    const reply = await new FunctionCaller(() => worker, 8).call(request(1));
    expect(reply.errors).toEqual([]);
    expect(resultsOf(reply)).toEqual([0]);
  });

  test('is no fault of any row when the sandbox does not answer either', async () => {
    const { worker } = sandbox(() => new Error('lost'));
    const dead = { ...worker, check: () => Promise.reject(new Error('lost')) };
    await expect(new FunctionCaller(() => dead, 8).call(request(4))).rejects.toMatchObject({
      code: 'FUNCTION_FAILED',
    });
    const broken = { ...worker, check: () => Promise.resolve('no default export') };
    await expect(new FunctionCaller(() => broken, 8).call(request(4))).rejects.toMatchObject({
      code: 'INVALID_FUNCTION',
    });
  });
});

test('a large request goes in parts, and the answer is one', async () => {
  const { worker, calls } = sandbox(() => null);
  const reply = await new FunctionCaller(() => worker, 8).call(request(10_000));
  expect(calls.map((rows) => rows.length)).toEqual([4_096, 4_096, 1_808]);
  expect(resultsOf(reply)).toEqual(Array.from({ length: 10_000 }, (_, x) => x * 2));
});

test('no more different sandboxes are under way at once than may be', async () => {
  let busy = 0;
  let most = 0;
  const caller = new FunctionCaller(
    () => ({
      check: () => Promise.resolve(null),
      call: async ({ rows, columns }) => {
        most = Math.max(most, ++busy);
        await new Promise((resolve) => setTimeout(resolve, 1));
        busy--;
        return await runFunction({ default: (x: number) => x }, FN, { rows, columns });
      },
    }),
    8,
  );
  const functions = Array.from({ length: 30 }, (_, at) => ({ ...FN, body: `return ${at};` }));
  await Promise.all(functions.map((fn) => caller.call(request(1, fn))));
  expect(most).toBe(8);
});

test('without the binding it is said what to do', async () => {
  const caller = new FunctionCaller(
    workerLoad(undefined, () => null),
    8,
  );
  expect(await caller.check(FN)).toMatchObject({
    code: 'FUNCTIONS_UNAVAILABLE',
    hint: expect.stringContaining('[[worker_loaders]]') as string,
  });
});

describe('the code of a function', () => {
  test('is the inside of a function, or a module', () => {
    expect(userModule(FN)).toBe('export default function (x) {\nreturn x * 2;\n}\n');
    expect(userModule({ ...FN, waits: true, kind: 'table' })).toContain('async function* (x) {');
    const body = 'const k = 2;\nexport default (x) => x * k;';
    expect(userModule({ ...FN, body })).toBe(body);
  });

  test('has another name whenever it, its signature or its network is another', () => {
    const ids = [
      FN,
      { ...FN, body: 'return x;' },
      { ...FN, returns: TEXT },
      { ...FN, timeoutMs: 21 },
      { ...FN, network: ['example.com'] },
    ].map((fn) => functionCode(fn).id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(functionCode({ ...FN, name: 'g' }).id).toBe(ids[0]);
  });

  test('loses its types', () => {
    const body = 'const y = x as number;\nreturn y satisfies number;';
    const { modules } = functionCode({ ...FN, language: 'typescript', body });
    expect(modules['user.js']).not.toContain('number');
  });
});
