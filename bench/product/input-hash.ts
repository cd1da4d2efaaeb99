/**
 * What the hash over input costs, against decoding the same rows: `node bench/product/input-hash.ts`. Both run in turns over the same
 * buffers, in pieces of the size a source reads.
 */
import { must } from '../../src/base/assert.ts';
import { INT32, INT64, TEXT, TIMESTAMP } from '../../src/batch/types.ts';
import { JSON_FORMAT } from '../../src/formats/format.ts';
import { JsonDecoder } from '../../src/formats/json-decoder.ts';
import { StreamHash } from '../../src/lineage/stream-hash.ts';

const ROWS = 60_000;
const ROUNDS = 60;
const BATCH_ROWS = 2_048;

const rows = Array.from({ length: ROWS }, (_, index) =>
  JSON.stringify({
    ts: `2026-01-01T00:00:${String(index % 60).padStart(2, '0')}`,
    origin: `SF${index % 100}`,
    delay: index % 300,
    carrier: 'WN',
    flight: index,
  }),
);
const bytes = new TextEncoder().encode(`${rows.join('\n')}\n`);
const columns = [
  { name: 'ts', type: TIMESTAMP },
  { name: 'origin', type: TEXT },
  { name: 'delay', type: INT32 },
  { name: 'flight', type: INT64 },
].map((column) => ({ ...column, nullable: true, default: null }));
const decoder = new JsonDecoder(columns, JSON_FORMAT);

/** Of the fastest round: others may have been disturbed. */
const best = { decodeMicros: Infinity, hashMicros: Infinity };
for (let round = 0; round < ROUNDS; round++) {
  let decodeMicros = 0;
  let hashMicros = 0;
  const hash = new StreamHash();
  for (let at = 0; at < bytes.length;) {
    const begunAt = process.hrtime.bigint();
    const { consumed } = decoder.decode(bytes, at, bytes.length, BATCH_ROWS, true);
    const decodedAt = process.hrtime.bigint();
    hash.update(bytes.subarray(at, consumed));
    const hashedAt = process.hrtime.bigint();
    at = consumed;
    decodeMicros += Number(decodedAt - begunAt) / 1_000;
    hashMicros += Number(hashedAt - decodedAt) / 1_000;
  }
  must(hash.digest(), 'hash');
  best.decodeMicros = Math.min(best.decodeMicros, decodeMicros);
  best.hashMicros = Math.min(best.hashMicros, hashMicros);
}
const { decodeMicros, hashMicros } = best;
const rate = (micros: number): string => `${(bytes.length / micros).toFixed(0)} MB/s`;
const share = ((hashMicros / decodeMicros) * 100).toFixed(1);
process.stdout.write(
  `decode ${rate(decodeMicros)}, hash ${rate(hashMicros)}: ${share} % of decoding\n`,
);
