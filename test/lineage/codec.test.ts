import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  checkpointManifestCodec,
  committedMarkerCodec,
  currentGenerationCodec,
  epochRecordCodec,
  generationManifestCodec,
} from '../../src/lineage/codec.ts';
import type { Codec } from '../../src/lineage/codec.ts';
import type { JsonValue } from '../../src/lineage/types.ts';

const count = fc.nat();
const hash = fc.stringMatching(/^[0-9a-f]{32}$/);
const version = fc.constant(1 as const);
const text = fc.string({ unit: 'grapheme' });
const incarnation = fc.record({ objectId: text, startNo: count, nonce: text });
const manifestRef = fc.record({ ref: text, hash });
// JSON has one zero.
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);

const records: [string, Codec<object>, fc.Arbitrary<object>][] = [
  [
    'current generation',
    currentGenerationCodec as Codec<object>,
    fc.record({
      version,
      generation: count,
      incarnation: fc.option(incarnation),
      floor: count,
      writeId: text,
      updatedAtMs: count,
    }),
  ],
  [
    'generation manifest',
    generationManifestCodec as Codec<object>,
    fc.record({
      version,
      generation: count,
      incarnation,
      baseEpoch: count,
      baseRef: fc.option(text),
      planHash: text,
      codeVersion: text,
      parallelism: count,
      reason: text,
      operators: fc.option(
        fc.array(
          fc.record({
            operator: text,
            kind: text,
            inputs: fc.array(text),
            linePerRow: fc.boolean(),
            reads: fc.option(text),
          }),
        ),
      ),
      createdAtMs: count,
    }),
  ],
  [
    'checkpoint manifest',
    checkpointManifestCodec as Codec<object>,
    fc.record({
      version,
      kind: fc.constantFrom('data', 'fence'),
      epoch: count,
      generation: count,
      nonce: text,
      attempt: count,
      data: fc.option(fc.record({ generation: count, epoch: count, attempt: count })),
      parent: fc.option(manifestRef),
      planHash: text,
      parallelism: count,
      files: fc.array(
        fc.record({
          operator: text,
          table: text,
          subtask: count,
          key: text,
          size: count,
          hash,
          rows: count,
          keyRange: fc.record({ lower: count, upper: count }),
          layer: fc.option(count),
        }),
      ),
      broadcast: fc.array(fc.record({ operator: text, table: text, subtask: count, value: json })),
      inputs: fc.option(
        fc.array(
          fc.record({
            operator: text,
            partition: count,
            from: json,
            to: json,
            rows: count,
            bytes: count,
            hash: fc.option(hash),
          }),
        ),
      ),
      needsCommit: fc.boolean(),
      items: fc.array(fc.record({ sink: text, subtask: count, index: count, payload: json })),
      finished: fc.boolean(),
      createdAtMs: count,
    }),
  ],
  [
    'epoch record',
    epochRecordCodec as Codec<object>,
    fc.record({
      version,
      epoch: count,
      checkpoint: manifestRef,
      parent: fc.option(manifestRef),
      generation: count,
      nonce: text,
    }),
  ],
  [
    'committed marker',
    committedMarkerCodec as Codec<object>,
    fc.record({ version, epoch: count, ref: text, writer: incarnation }),
  ],
];

/** Members that older versions did not write. */
const ADDED_LATER = ['inputs', 'operators'];

test('every record is read back as it was written', () => {
  for (const [name, codec, arbitrary] of records) {
    fc.assert(
      fc.property(arbitrary, (value) => {
        expect(codec.decode(codec.encode(value)), name).toEqual({ tag: 'decoded', value });
      }),
      { numRuns: 50 },
    );
  }
});

test('equal records have equal bytes, whatever the order their members were set in', () => {
  for (const [name, codec, arbitrary] of records) {
    const [value] = fc.sample(arbitrary, { numRuns: 1, seed: 7 });
    const reversed = Object.fromEntries(Object.entries(value!).reverse());
    expect(codec.encode(reversed), name).toEqual(codec.encode(value!));
  }
});

test('no truncated record is read, and none with a member missing or of another kind', () => {
  for (const [name, codec, arbitrary] of records) {
    const [value] = fc.sample(arbitrary, { numRuns: 1, seed: 11 });
    const bytes = codec.encode(value!);
    for (let length = 0; length < bytes.length; length++) {
      expect(codec.decode(bytes.subarray(0, length)).tag, `${name} cut at ${length}`).toBe(
        'broken',
      );
    }
    for (const member of Object.keys(value!)) {
      const without = { ...value, [member]: undefined };
      const wrong = { ...value, [member]: { wrong: -1 } };
      for (const damaged of [without, wrong]) {
        const decoded = codec.decode(new TextEncoder().encode(JSON.stringify(damaged)));
        if (damaged === without && ADDED_LATER.includes(member)) {
          expect(decoded).toEqual({ tag: 'decoded', value: { ...value, [member]: null } });
          continue;
        }
        expect(decoded.tag, `${name}.${member}`).toBe('broken');
        if (decoded.tag === 'broken') expect(decoded.message).toContain(member);
      }
    }
    expect(codec.decode(new Uint8Array([0xff, 0xfe])).tag, name).toBe('broken');
  }
});

test('a record that could not be read back is not written', () => {
  const marker = {
    version: 1,
    epoch: -1,
    ref: 'r',
    writer: { objectId: 'o', startNo: 1, nonce: 'n' },
  } as const;
  expect(() => committedMarkerCodec.encode(marker)).toThrow('epoch');
  expect(() => committedMarkerCodec.encode({ ...marker, epoch: Number.NaN })).toThrow('epoch');
});

test('a member that a newer writer added is ignored', () => {
  const marker = {
    version: 1,
    epoch: 1,
    ref: 'r',
    writer: { objectId: 'o', startNo: 1, nonce: 'n' },
  } as const;
  const bytes = new TextEncoder().encode(JSON.stringify({ ...marker, more: [1] }));
  expect(committedMarkerCodec.decode(bytes)).toEqual({ tag: 'decoded', value: marker });
});
