import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StreamHash } from '../../src/lineage/stream-hash.ts';
import { SourceInputs } from '../../src/subtask/source-inputs.ts';

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

function hashOf(value: string): string {
  const hash = new StreamHash();
  hash.update(text(value));
  return hash.digest();
}

test('a range has the rows and the hash of its bytes, whatever the batches', () => {
  const inputs = new SourceInputs('source-1');
  inputs.startAt({ '0': 5, '2': 0 });
  inputs.add(0, 1, text('a\n'));
  inputs.add(0, 2, text('b\nc\n'));
  const range = { operator: 'source-1', partition: 0, from: 5, to: 8, rows: 3, bytes: 6 };
  expect(inputs.cut({ epoch: 2, attempt: 1 }, { '0': 8, '2': 0 })).toEqual([
    { ...range, hash: hashOf('a\nb\nc\n') },
  ]);
});

test('a range of which a source has asked for the hash, and passed nothing, is none', () => {
  const inputs = new SourceInputs('source-1');
  inputs.startAt({ '0': 5 });
  inputs.hashOf(0);
  expect(inputs.cut({ epoch: 2, attempt: 1 }, { '0': 5 })).toEqual([]);
  inputs.hashOf(0).update(text('a\n'));
  inputs.add(0, 1, null);
  expect(inputs.cut({ epoch: 3, attempt: 1 }, { '0': 6 })).toMatchObject([
    { from: 5, to: 6, rows: 1, bytes: 2, hash: hashOf('a\n') },
  ]);
});

test('ranges stay open until their very attempt is settled, and then are not told again', () => {
  const action = fc.oneof(
    fc.record({ tag: fc.constant('rows' as const), rows: fc.integer({ min: 1, max: 5 }) }),
    fc.record({ tag: fc.constant('retry' as const) }),
    fc.record({ tag: fc.constant('canonical' as const) }),
  );
  fc.assert(
    fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
      const inputs = new SourceInputs('s');
      inputs.startAt({ '0': 0 });
      let offset = 0;
      let epoch = 1;
      let attempt = 1;
      let told = 0;
      for (const step of actions) {
        if (step.tag === 'rows') {
          inputs.add(0, step.rows, text('x\n'.repeat(step.rows)));
          offset += step.rows;
          continue;
        }
        let end = told;
        for (const range of inputs.cut({ epoch, attempt }, { '0': offset })) {
          expect(range.from).toBe(end);
          end = range.to as number;
          expect(range.rows).toBe(end - (range.from as number));
          expect(range.hash).toBe(hashOf('x\n'.repeat(range.rows)));
        }
        expect(end).toBe(offset);
        if (step.tag === 'retry') {
          attempt++;
          continue;
        }
        inputs.settle({ epoch, attempt });
        told = end;
        epoch++;
        attempt = 1;
      }
    }),
    { numRuns: 300 },
  );
});
