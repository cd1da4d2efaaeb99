/**
 * Runs a function of the user's own for the rows of one request, within its sandbox.
 *
 * Place: the other end of the effect `call-function`. `npm run sandbox` bundles this file into a text
 * (`platform/functions/sandbox-source.ts`) that is loaded beside the user's code; the simulated cluster calls it directly.
 * Invariants: a row never sees another; the reply has a value, or rows, for each row that did not fail.
 * Failure: what the code throws for a row, or gives and the type does not hold, is an error of that row.
 */
import type { Column } from '../batch/column.ts';
import { type ColumnBuilder, makeBuilder } from '../batch/column-builder.ts';
import type { SqlType } from '../batch/types.ts';
import { type Value, appendValue } from '../batch/values.ts';
import { accepted, acceptedStruct, given } from './values.ts';

/** What the code needs to know of itself: a part of `UserFunction`. */
export type Signature = {
  kind: 'scalar' | 'aggregate' | 'table';
  waits: boolean;
  parameters: readonly { name: string; type: SqlType }[];
  returns: SqlType;
  calledOnNull: boolean;
  timeoutMs: number;
  retries: number;
  concurrency: number;
};

export type Request = { rows: number; columns: readonly Column[] };

export type Reply = {
  columns: readonly Column[];
  counts: Int32Array | null;
  errors: { row: number; message: string }[];
};

/** The exports of the user's module. */
export type UserModule = Readonly<Record<string, unknown>>;

type Call = (...args: unknown[]) => unknown;

/** Rows that a table function may give for one. */
const ROWS_MAX = 100_000;
/** Characters and bytes of all results of one call. */
const RESULT_BYTES_MAX = 16 * 1024 * 1024;

/** What is wrong with a module, or null. */
export function checkModule(module: UserModule, { kind }: Signature): string | null {
  if (typeof module['default'] === 'function') return null;
  if (kind !== 'aggregate') return 'the module has no function as its default export';
  const missing = ['init', 'accumulate', 'finish'].filter(
    (name) => typeof module[name] !== 'function',
  );
  return missing.length === 0
    ? null
    : `the module exports neither a default function nor ${missing.join(', ')}`;
}

/** @returns  a promise only for functions that wait */
export function runFunction(
  module: UserModule,
  signature: Signature,
  request: Request,
): Reply | Promise<Reply> {
  const call = callOf(module, signature);
  const results = new Results(signature, request.rows);
  const argsOf = (row: number): unknown[] => request.columns.map((column) => given(column, row));
  if (signature.waits) return runWaiting(call, signature, request.rows, argsOf, results);
  for (let row = 0; row < request.rows; row++) {
    try {
      results.set(row, call(...argsOf(row)));
    } catch (thrown) {
      results.fail(row, thrown);
    }
  }
  return results.finish();
}

function callOf(module: UserModule, signature: Signature): Call {
  const main = module['default'] as Call | undefined;
  if (signature.kind !== 'aggregate') return main as Call;
  return (list) => {
    const rows = rowsOfGroup(list, signature);
    if (main !== undefined)
      return main(...signature.parameters.map((_, at) => rows.map((row) => row[at])));
    const { init, accumulate, finish } = module as Record<string, Call>;
    let state = (init as Call)();
    for (const row of rows) {
      // A state that is changed in place need not be given back.
      const next = (accumulate as Call)(state, ...row);
      if (next !== undefined) state = next;
    }
    return (finish as Call)(state);
  };
}

/** The arguments of each row of a group; rows with a NULL are left out unless the function wants them. */
function rowsOfGroup(list: unknown, { parameters, calledOnNull }: Signature): unknown[][] {
  const values = (list ?? []) as unknown[];
  const rows =
    parameters.length === 1
      ? values.map((value) => [value])
      : values.map((value) =>
          parameters.map(({ name }) => (value as Record<string, unknown> | null)?.[name] ?? null),
        );
  return calledOnNull ? rows : rows.filter((row) => !row.includes(null));
}

async function runWaiting(
  call: Call,
  signature: Signature,
  rows: number,
  argsOf: (row: number) => unknown[],
  results: Results,
): Promise<Reply> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < rows) {
      const row = next++;
      for (let attempt = 0; ; attempt++) {
        try {
          results.set(row, await within(signature.timeoutMs, () => settled(call(...argsOf(row)))));
          break;
        } catch (thrown) {
          if (attempt < signature.retries) continue;
          results.fail(row, thrown);
          break;
        }
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(rows, signature.concurrency) }, worker));
  return results.finish();
}

/** The result, with the rows of an asynchronous generator read to their end. */
async function settled(result: unknown): Promise<unknown> {
  const value: unknown = await result;
  if (typeof value !== 'object' || value === null || !(Symbol.asyncIterator in value)) return value;
  const rows: unknown[] = [];
  const iterator = (value as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  for (;;) {
    const step = await iterator.next();
    if (step.done === true) return Array.isArray(step.value) ? [...rows, ...step.value] : rows;
    rows.push(step.value);
    if (rows.length > ROWS_MAX) return rows;
  }
}

function within<T>(timeoutMs: number, run: () => Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`no answer within ${timeoutMs} ms`)),
      timeoutMs,
    );
    run().then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (thrown: unknown) => {
        clearTimeout(timer);
        reject(thrown instanceof Error ? thrown : new Error(String(thrown)));
      },
    );
  });
}

function messageOf(thrown: unknown): string {
  let message: string;
  try {
    message = thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    message = '';
  }
  return message === '' ? 'it failed without a message' : message.slice(0, 500);
}

/** Results by row, in whatever order they come. */
class Results {
  readonly #signature: Signature;
  /** Of a scalar function a value, of a table function its rows. */
  readonly #values: (Value | Value[])[];
  readonly #errors: { row: number; message: string }[] = [];
  #bytes = 0;

  constructor(signature: Signature, rows: number) {
    this.#signature = signature;
    this.#values = Array.from({ length: rows }, () => null);
  }

  set(row: number, result: unknown): void {
    const { kind, returns } = this.#signature;
    const value =
      kind === 'table' && returns.tag === 'struct'
        ? rowsGiven(result).map((each) => acceptedRow(returns, each))
        : accepted(returns, result);
    const weight = weightOf(value);
    if (this.#bytes + weight > RESULT_BYTES_MAX)
      throw new Error(`the results of one call have more than ${RESULT_BYTES_MAX} bytes`);
    this.#bytes += weight;
    this.#values[row] = value;
  }

  fail(row: number, thrown: unknown): void {
    this.#errors.push({ row, message: messageOf(thrown) });
  }

  finish(): Reply {
    const { kind, returns } = this.#signature;
    const errors = this.#errors.sort((left, right) => left.row - right.row);
    if (kind !== 'table' || returns.tag !== 'struct') {
      const builder = makeBuilder(returns, this.#values.length);
      for (const value of this.#values) appendValue(builder, value as Value);
      return { columns: [exactColumn(builder.finish())], counts: null, errors };
    }
    const builders = returns.fields.map(({ type }) => makeBuilder(type));
    const counts = new Int32Array(this.#values.length);
    this.#values.forEach((rows, at) => {
      for (const row of (rows ?? []) as readonly Record<string, Value>[]) {
        counts[at] = (counts[at] as number) + 1;
        returns.fields.forEach(({ name }, field) =>
          appendValue(builders[field] as ColumnBuilder, row[name]),
        );
      }
    });
    return { columns: builders.map((builder) => exactColumn(builder.finish())), counts, errors };
  }
}

/** The rows of a table function: an array, or what a generator yields and at last returns. */
function rowsGiven(result: unknown): unknown[] {
  if (result === null || result === undefined) return [];
  if (typeof result !== 'object' || !(Symbol.iterator in result))
    throw new Error('a table function yields rows or returns an array of them');
  if (Array.isArray(result)) return limited(result);
  const rows: unknown[] = [];
  const iterator = (result as Iterable<unknown>)[Symbol.iterator]();
  for (;;) {
    const step = iterator.next() as IteratorResult<unknown, unknown>;
    if (step.done === true)
      return limited(Array.isArray(step.value) ? [...rows, ...(step.value as unknown[])] : rows);
    rows.push(step.value);
    limited(rows);
  }
}

function limited(rows: unknown[]): unknown[] {
  if (rows.length > ROWS_MAX) throw new Error(`it gave more than ${ROWS_MAX} rows for one`);
  return rows;
}

/** An object by column name; of one column also the value alone; an array of all columns in order. */
function acceptedRow(returns: SqlType & { tag: 'struct' }, row: unknown): Value {
  const { fields } = returns;
  const [only] = fields;
  const isRow =
    typeof row === 'object' && row !== null && Object.getPrototypeOf(row) === Object.prototype;
  if (fields.length === 1 && only !== undefined && !(isRow && only.name in row))
    return { [only.name]: accepted(only.type, row) };
  if (Array.isArray(row) && row.length === fields.length)
    return Object.fromEntries(fields.map(({ name, type }, at) => [name, accepted(type, row[at])]));
  return acceptedStruct(returns, row);
}

function weightOf(value: Value | Value[]): number {
  if (typeof value === 'string') return value.length + 8;
  if (typeof value !== 'object' || value === null) return 8;
  return Object.values(value as Record<string, Value>).reduce<number>(
    (sum, part) => sum + weightOf(part),
    8,
  );
}

type Buffer = Uint8Array | Int32Array | Float64Array;

/** The column with buffers of their own length: a buffer crosses to another isolate as a whole. */
export function exactColumn(column: Column): Column {
  const exact = <T extends Buffer>(buffer: T): T =>
    buffer.byteLength === buffer.buffer.byteLength ? buffer : (buffer.slice() as T);
  const validity = column.validity === null ? null : exact(column.validity);
  switch (column.tag) {
    case 'boolean':
      return { ...column, validity, bits: exact(column.bits) };
    case 'int32':
      return { ...column, validity, values: exact(column.values) };
    case 'float64':
      return { ...column, validity, values: exact(column.values) };
    case 'int64':
    case 'timestamp':
      return { ...column, validity, words: exact(column.words) };
    case 'decimal':
      return { ...column, validity, words: exact(column.words) };
    case 'interval':
      return { ...column, validity, words: exact(column.words) };
    case 'text':
      return { ...column, validity, offsets: exact(column.offsets), bytes: exact(column.bytes) };
    case 'list':
      return {
        ...column,
        validity,
        offsets: exact(column.offsets),
        child: exactColumn(column.child),
      };
    case 'struct':
      return { ...column, validity, children: column.children.map(exactColumn) };
  }
}
