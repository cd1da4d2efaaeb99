/**
 * What the kernels do on one core of this machine, without the rest of a pipeline: `npx node bench/kernels.ts [name…]`.
 * Kernel and twin run in turns over the same rows in memory; the best round and the median are printed, in million rows a
 * second of the processor's time, which other programs on the machine disturb less than the clock's.
 */
import { Prng } from '../src/base/prng.ts';
import { INT64, TEXT, TIMESTAMP } from '../src/batch/types.ts';
import type { SqlType } from '../src/batch/types.ts';
import { readKernels } from '../src/cli/kernels.ts';
import { JSON_FORMAT } from '../src/formats/format.ts';
import { JsonDecoder } from '../src/formats/json-decoder.ts';
import { JsonEncoder } from '../src/formats/json-encoder.ts';
import { useKernels } from '../src/kernels/kernels.ts';

const ROWS = 200_000;
const ROUNDS = 21;
const BATCH_ROWS = 2048;

const TYPES: Record<string, SqlType> = {
  auction: INT64,
  bidder: INT64,
  price: INT64,
  channel: TEXT,
  url: TEXT,
  dateTime: TIMESTAMP,
  extra: TEXT,
};

const CHANNELS = ['Google', 'Facebook', 'Baidu', 'Apple'];

const letters = (prng: Prng, count: number): string =>
  Array.from({ length: count }, () => String.fromCharCode(97 + prng.below(26))).join('');

/** Bids as Nexmark has them, of 257 bytes on average. */
function bids(): Uint8Array {
  const prng = new Prng('bids');
  const lines: string[] = [];
  for (let index = 0; index < ROWS; index++) {
    const millis = Date.UTC(2026, 0, 1) + Math.floor(index / 10);
    const row = {
      auction: 1000 + prng.below(20_000),
      bidder: 1000 + prng.below(10_000),
      price: Math.round(10 ** (prng.below(6000) / 1000) * 100),
      channel: prng.pick(CHANNELS),
      url: `https://www.nexmark.com/${letters(prng, 5)}/${letters(prng, 5)}/${letters(prng, 4)}/item.htm?query=1`,
      dateTime: new Date(millis).toISOString().slice(0, 23),
      extra: '',
    };
    const size = JSON.stringify(row).length + 1;
    lines.push(JSON.stringify({ ...row, extra: letters(prng, 257 - size + prng.below(21) - 10) }));
  }
  return new TextEncoder().encode(`${lines.join('\n')}\n`);
}

type Job = { name: string; run: () => number };

function decodeJob(bytes: Uint8Array, names: readonly string[]): Job {
  const columns = names.map((name) => ({
    name,
    type: TYPES[name] as SqlType,
    nullable: true,
    default: null,
  }));
  const decoders = new Map<boolean, JsonDecoder>();
  return {
    name: `decode ${names.length} columns`,
    run: () => {
      const decoder = decoders.get(usesKernels) ?? new JsonDecoder(columns, JSON_FORMAT);
      decoders.set(usesKernels, decoder);
      let rows = 0;
      for (let at = 0; at < bytes.length;) {
        const result = decoder.decode(bytes, at, bytes.length, BATCH_ROWS);
        rows += result.batch.rows;
        at = result.consumed;
      }
      return rows;
    },
  };
}

/** Rows like those of q1: four whole numbers or times, then the texts. */
function encodeJob(bytes: Uint8Array): Job {
  const names = Object.keys(TYPES).filter((name) => name !== 'extra');
  const schema = names.map((name) => ({ name, type: TYPES[name] as SqlType, nullable: true }));
  const columns = schema.map((field) => ({ ...field, default: null }));
  const decoder = new JsonDecoder(columns, JSON_FORMAT);
  const { batch } = decoder.decode(bytes, 0, bytes.length, BATCH_ROWS);
  const encoder = new JsonEncoder(schema, JSON_FORMAT);
  return {
    name: 'encode 6 columns',
    run: () => {
      let rows = 0;
      for (; rows < ROWS; rows += batch.rows) encoder.encode(batch);
      return rows;
    },
  };
}

let usesKernels = false;

function measure(job: Job): void {
  const found: Record<string, number[]> = { kernel: [], twin: [] };
  const modules = readKernels();
  for (let round = 0; round < ROUNDS; round++) {
    for (const side of ['kernel', 'twin']) {
      usesKernels = side === 'kernel';
      useKernels(usesKernels ? modules : null);
      const begun = process.cpuUsage();
      const rows = job.run();
      const { user, system } = process.cpuUsage(begun);
      const micros = user + system;
      found[side]?.push(rows / micros);
    }
  }
  const text = Object.entries(found).map(([side, rates]) => {
    const sorted = rates.toSorted((a, b) => b - a);
    return `${side} ${sorted[0]?.toFixed(2)} (${sorted[ROUNDS >> 1]?.toFixed(2)})`;
  });
  process.stdout.write(`${job.name.padEnd(24)} ${text.join('  ')}\n`);
}

const bytes = bids();
process.stdout.write(`${ROWS} rows of ${(bytes.length / ROWS).toFixed(0)} bytes\n`);
const wanted = process.argv.slice(2);
for (const job of [
  decodeJob(bytes, ['auction', 'price', 'dateTime']),
  decodeJob(bytes, Object.keys(TYPES)),
  encodeJob(bytes),
]) {
  if (wanted.length === 0 || wanted.some((part) => job.name.includes(part))) measure(job);
}
