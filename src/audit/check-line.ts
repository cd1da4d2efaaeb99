/** Judges records, parents and markers: that the line is one, and that nothing beside it was committed. Pure. */
import { sameRef } from '../lineage/derive.ts';
import { fenceIsInert, filesDescend, itemsNeedCommit } from '../lineage/invariants.ts';
import type { CheckpointManifest } from '../lineage/types.ts';
import type { Evidence, Line } from './evidence.ts';
import type { Finding } from './findings.ts';

/** What is known of the checkpoint before: it, null for "there is none", undefined for "it cannot be known". */
export type Parent = CheckpointManifest | null | undefined;

/** Epochs of which the bucket does not say for certain which checkpoint they have, or what is in it. */
export function brokenEpochs(line: Line, findings: readonly Finding[]): Set<number> {
  const broken = new Set<number>();
  for (let epoch = line.first; epoch <= line.last; epoch++)
    if ((line.evidence.get(epoch)?.manifest ?? null) === null) broken.add(epoch);
  for (const { code, epoch } of findings)
    if (code === 'RECORD_FOREIGN' && epoch !== null) broken.add(epoch);
  return broken;
}

/** The manifest that the checkpoint of `epoch` continues, as far as the links to it hold. */
export function parentOf(line: Pick<Line, 'evidence'>, { epoch, record }: Evidence): Parent {
  if (epoch === 1) return record.parent === null ? null : undefined;
  const before = line.evidence.get(epoch - 1);
  if (before === undefined || !sameRef(record.parent, before.record.checkpoint)) return undefined;
  return before.manifest ?? undefined;
}

export function checkRecords(line: Line, findings: Finding[]): void {
  for (const evidence of line.evidence.values()) {
    checkRecord(line, evidence, findings);
    checkParent(line, evidence, findings);
    checkManifest(line, evidence, findings);
  }
}

function checkRecord({ paths, current, evidence }: Line, own: Evidence, findings: Finding[]): void {
  const { epoch, record } = own;
  const before = evidence.get(epoch - 1);
  const name = paths.parse(record.checkpoint.ref);
  const isOwn =
    name?.tag === 'manifest' &&
    name.epoch === epoch &&
    name.generation === record.generation &&
    name.nonce === record.nonce;
  let message: string | null = null;
  if (!isOwn) message = `it names ${record.checkpoint.ref}, which is no checkpoint of this epoch`;
  else if (record.generation > current.generation)
    message = `it is of generation ${record.generation}, but only ${current.generation} were allocated`;
  else if (before !== undefined && record.generation < before.record.generation)
    message = `it is of generation ${record.generation}, though epoch ${epoch - 1} is of generation ${before.record.generation}`;
  if (message !== null)
    findings.push({
      code: 'RECORD_FOREIGN',
      epoch,
      key: paths.record(epoch),
      message: `record of epoch ${epoch}: ${message}`,
    });
}

/** A child knows its parent better than a record that was put there later: two of one epoch mean that the record is foreign. */
function checkParent(line: Line, { epoch, record }: Evidence, findings: Finding[]): void {
  const { paths, evidence } = line;
  const before = evidence.get(epoch - 1);
  const expected = before?.record.checkpoint ?? null;
  if (before === undefined ? epoch > 1 || record.parent === null : sameRef(record.parent, expected))
    return;
  const named = record.parent === null ? null : paths.parse(record.parent.ref);
  if (before !== undefined && named?.tag === 'manifest' && named.epoch === epoch - 1) {
    if (findings.some((each) => each.code === 'RECORD_FOREIGN' && each.epoch === epoch - 1)) return;
    const message = `record of epoch ${epoch - 1}: it names ${expected?.ref}, but epoch ${epoch} continues ${record.parent?.ref}`;
    findings.push({
      code: 'RECORD_FOREIGN',
      epoch: epoch - 1,
      key: paths.record(epoch - 1),
      message,
    });
    return;
  }
  const parent = record.parent?.ref ?? 'nothing';
  const message = `epoch ${epoch} continues ${parent}, not ${expected?.ref ?? 'the beginning'}`;
  findings.push({ code: 'PARENT_MISMATCH', epoch, key: paths.record(epoch), message });
}

function checkManifest(line: Line, own: Evidence, findings: Finding[]): void {
  const { epoch, manifest, record } = own;
  if (manifest === null) return;
  const wrong = (message: string): void => {
    findings.push({ code: 'MANIFEST_INVALID', epoch, key: record.checkpoint.ref, message });
  };
  if (!fenceIsInert(manifest)) wrong(`the fence of epoch ${epoch} has something to commit`);
  if (!itemsNeedCommit(manifest)) wrong(`epoch ${epoch} has output that nobody would commit`);
  const parent = parentOf(line, own);
  if (parent !== undefined && !filesDescend(line.paths, parent, manifest))
    wrong(`epoch ${epoch} names state files that are neither its own nor its parent's`);
}

/** Every epoch below the tip that needs a commit has its marker, and no other checkpoint has one. */
export function checkMarkers(line: Line, broken: ReadonlySet<number>, findings: Finding[]): void {
  const { paths, evidence, markers, current, last } = line;
  for (const { epoch, manifest, marker, record } of evidence.values()) {
    if (manifest === null || broken.has(epoch) || marker === 'broken') continue;
    const key = paths.marker(record.generation, record.nonce, epoch);
    if (manifest.needsCommit && marker === 'absent' && epoch < last) {
      const message = `epoch ${epoch} was never marked as committed, though epoch ${epoch + 1} follows it`;
      findings.push({ code: 'MARKER_MISSING', epoch, key, message });
    }
    if (!manifest.needsCommit && marker === 'found') {
      const message = `epoch ${epoch} is marked as committed, but has nothing to commit`;
      findings.push({ code: 'MARKER_FOREIGN', epoch, key, message });
    }
  }
  for (const { key, name } of markers) {
    const { epoch, generation, nonce } = name;
    if (epoch < current.floor || broken.has(epoch)) continue;
    const record = evidence.get(epoch)?.record;
    if (record?.generation === generation && record.nonce === nonce) continue;
    const message = `a checkpoint of generation ${generation} is marked as committed, but epoch ${epoch} ${record === undefined ? 'has no record' : `went to generation ${record.generation}`}`;
    findings.push({ code: 'MARKER_FOREIGN', epoch, key, message });
  }
}
