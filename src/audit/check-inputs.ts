/**
 * Hashes the input again, where it lies in the bucket, and compares each range with what was read.
 *
 * Only when asked for: an object may rightly change after it was read, and may be large. Failure: `unavailable` when
 * the store does not answer; an input that is not in the bucket is a note.
 */
import { unavailable } from '../lineage/context.ts';
import type { Unavailable } from '../lineage/context.ts';
import { positionOf } from '../lineage/inputs.ts';
import { get } from '../lineage/store.ts';
import type { Lineage } from '../lineage/store.ts';
import { StreamHash } from '../lineage/stream-hash.ts';
import type { InputRange } from '../lineage/types.ts';
import { type Line, planKey } from './evidence.ts';
import type { Finding } from './findings.ts';

type Read = { epoch: number; range: InputRange };

/** @returns what could not be checked, one line each */
export function* checkInputs(
  line: Line,
  broken: ReadonlySet<number>,
  findings: Finding[],
): Lineage<{ tag: 'checked'; notes: string[] } | Unavailable> {
  const notes: string[] = [];
  for (const [path, reads] of readsByPath(line, broken)) {
    const answer = yield* get(path);
    if (answer.tag === 'unanswered') return unavailable(answer.message);
    if (answer.tag === 'missing') {
      notes.push(`the input ${path} is not in the bucket, and was not compared`);
      continue;
    }
    for (const { epoch, range } of reads) {
      if (hashOf(answer.body, range) === range.hash) continue;
      const message = `the input that epoch ${epoch} read is not in ${path} any more: ${JSON.stringify(range.from)} to ${JSON.stringify(range.to)}`;
      findings.push({ code: 'INPUT_ALTERED', epoch, key: path, message });
    }
  }
  return { tag: 'checked', notes };
}

function readsByPath(line: Line, broken: ReadonlySet<number>): Map<string, Read[]> {
  const byPath = new Map<string, Read[]>();
  for (const { epoch, manifest } of line.evidence.values()) {
    if (manifest === null || broken.has(epoch)) continue;
    const plan = line.plans.get(planKey(manifest)) ?? [];
    for (const range of manifest.inputs ?? []) {
      const path = plan.find(({ operator }) => operator === range.operator)?.reads ?? null;
      if (path === null || range.hash === null) continue;
      byPath.set(path, [...(byPath.get(path) ?? []), { epoch, range }]);
    }
  }
  return byPath;
}

function hashOf(body: Uint8Array, { from, to, bytes }: InputRange): string {
  const end = positionOf(to) ?? 0;
  // Fewer bytes than the offsets say are those without a byte order mark at the very start.
  const start = Math.max(positionOf(from) ?? 0, end - bytes);
  const hash = new StreamHash();
  hash.update(body.subarray(start, end));
  return hash.digest();
}
