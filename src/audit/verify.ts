/**
 * Proves from the bucket alone that a pipeline's history is one line, or says where it is not and why.
 *
 * Nothing the pipeline says of itself is believed but the objects: records without a gap, each manifest the one its record
 * names, each parent the epoch before, input ranges without gap or overlap, rows that add up, state files and committed output
 * with the bytes that were hashed, a marker for each commit but the last, and no output that no committed epoch names.
 *
 * It only reads, and may run beside the pipeline: what comes later is left out, what is collected meanwhile is not
 * missed. Not proved: what lies below the floor, and that nobody forged objects together with their hashes, unless an earlier
 * `chain` is known. Failure: `unavailable` when the store does not answer; `none` when there is no lineage.
 */
import { currentGenerationCodec } from '../lineage/codec.ts';
import { read } from '../lineage/context.ts';
import type { Unavailable } from '../lineage/context.ts';
import type { LineagePaths } from '../lineage/paths.ts';
import type { Lineage } from '../lineage/store.ts';
import { checkInputs } from './check-inputs.ts';
import { brokenEpochs, checkMarkers, checkRecords, parentOf } from './check-line.ts';
import { checkFiles, checkOutputs } from './check-objects.ts';
import { checkRows } from './check-rows.ts';
import { auditEpochs, type ToldEpoch } from './entries.ts';
import { type Line, readLine } from './evidence.ts';
import type { AuditCounts, Finding, Verdict } from './findings.ts';

export type VerifyOutcome = { tag: 'verdict'; verdict: Verdict } | { tag: 'none' } | Unavailable;

/** `inputs`: hash again the objects that sources read, where they lie in the bucket. */
export type VerifyOptions = { inputs?: boolean };

/** The verdict on everything from the floor to the newest epoch. */
export function* verifyLineage(
  paths: LineagePaths,
  options: VerifyOptions = {},
): Lineage<VerifyOutcome> {
  const findings: Finding[] = [];
  const told = yield* readLine(paths, findings);
  if (told.tag === 'unavailable') return told;
  if (told.tag === 'none') {
    if (findings.length === 0) return { tag: 'none' };
    const verdict = {
      proved: false,
      from: null,
      to: null,
      chain: null,
      counts: noCounts(),
      findings,
      notes: [],
    };
    return { tag: 'verdict', verdict };
  }
  const { line } = told;
  checkRecords(line, findings);
  const broken = brokenEpochs(line, findings);
  checkMarkers(line, broken, findings);
  const counts = countLine(line, broken);
  const notes = checkRows(line, broken, findings);
  const failed = yield* checkFiles(line, broken, counts, findings);
  if (failed !== null) return failed;
  const outputs = yield* checkOutputs(line, broken, counts, findings);
  if (outputs.tag === 'unavailable') return outputs;
  notes.push(...outputs.notes);
  if (options.inputs === true) {
    const inputs = yield* checkInputs(line, broken, findings);
    if (inputs.tag === 'unavailable') return inputs;
    notes.push(...inputs.notes);
  }
  const floor = yield* floorNow(line);
  if (floor.tag === 'unavailable') return floor;
  return { tag: 'verdict', verdict: verdictOf(line, floor.floor, broken, counts, findings, notes) };
}

/** The floor may have moved while the audit read: what is gone below it is no loss. */
function* floorNow({
  paths,
  current,
}: Line): Lineage<{ tag: 'floor'; floor: number } | Unavailable> {
  const now = yield* read(paths.current, currentGenerationCodec);
  if (now.tag === 'unavailable') return now;
  return { tag: 'floor', floor: now.tag === 'found' ? now.value.floor : current.floor };
}

function verdictOf(
  line: Line,
  floor: number,
  broken: ReadonlySet<number>,
  counts: AuditCounts,
  all: readonly Finding[],
  notes: string[],
): Verdict {
  const findings = all.filter(({ epoch }) => epoch === null || epoch >= floor);
  const hasEpochs = line.last >= line.first;
  if (line.first > 1)
    notes.unshift(
      `epochs below ${line.first} were collected; the history before is named by the parent of epoch ${line.first}`,
    );
  return {
    proved: findings.length === 0,
    from: hasEpochs ? line.first : null,
    to: hasEpochs ? line.last : null,
    chain: broken.size > 0 ? null : (auditEpochs(toldEpochs(line)).at(-1)?.hash ?? null),
    counts,
    findings: findings.sort((left, right) => (left.epoch ?? 0) - (right.epoch ?? 0)),
    notes,
  };
}

function toldEpochs(line: Line): ToldEpoch[] {
  return [...line.evidence.values()].flatMap((evidence) => {
    const { record, manifest, marker } = evidence;
    if (manifest === null) return [];
    const committed = !manifest.needsCommit || marker === 'found';
    return [{ record, manifest, parent: parentOf(line, evidence), committed }];
  });
}

const noCounts = (): AuditCounts => ({
  epochs: 0,
  fences: 0,
  generations: 0,
  losers: 0,
  stateFiles: 0,
  stateBytes: 0,
  inputRows: 0,
  inputBytes: 0,
  outputs: 0,
  outputRows: 0,
  outputBytes: 0,
});

function countLine(line: Line, broken: ReadonlySet<number>): AuditCounts {
  const counts = noCounts();
  const generations = new Set<number>();
  for (const { epoch, manifest } of line.evidence.values()) {
    if (manifest === null || broken.has(epoch)) continue;
    counts.epochs++;
    if (manifest.kind === 'fence') counts.fences++;
    generations.add(manifest.generation);
    for (const { rows, bytes } of manifest.inputs ?? []) {
      counts.inputRows += rows;
      counts.inputBytes += bytes;
    }
  }
  counts.generations = generations.size;
  for (const { key, name } of line.manifests) {
    const record = line.evidence.get(name.epoch)?.record;
    if (record !== undefined && record.checkpoint.ref !== key) counts.losers++;
  }
  return counts;
}
