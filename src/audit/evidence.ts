/**
 * Reads what the bucket says of one pipeline's line of epochs, for an audit to judge.
 *
 * Order: O1, then names under `generations/`, then records, then each record's manifest and marker, so that on a running
 * pipeline every marker that is seen has its record seen as well. Nothing is written.
 *
 * Failure: what is missing, damaged or contradictory becomes a finding and reading goes on; `unavailable` when the store
 * does not answer.
 */
import {
  checkpointManifestCodec,
  committedMarkerCodec,
  currentGenerationCodec,
  epochRecordCodec,
  generationManifestCodec,
} from '../lineage/codec.ts';
import { contentHash } from '../lineage/content-hash.ts';
import { read, unavailable } from '../lineage/context.ts';
import type { Unavailable } from '../lineage/context.ts';
import { agrees } from '../lineage/derive.ts';
import { listEpochs } from '../lineage/open.ts';
import type { LineageName, LineagePaths } from '../lineage/paths.ts';
import { get, listAll } from '../lineage/store.ts';
import type { Lineage } from '../lineage/store.ts';
import type {
  CheckpointManifest,
  CurrentGeneration,
  EpochRecord,
  PlannedOperator,
} from '../lineage/types.ts';
import type { Finding } from './findings.ts';

/** One epoch that has a readable record. `manifest`: null when it is not what the record names. */
export type Evidence = {
  epoch: number;
  record: EpochRecord;
  manifest: CheckpointManifest | null;
  marker: 'absent' | 'found' | 'broken';
};

export type Named<Tag> = { key: string; name: Extract<LineageName, { tag: Tag }> };

export type Line = {
  paths: LineagePaths;
  current: CurrentGeneration;
  /** Epochs from the floor to the newest record; `last` is `first` − 1 when there is none. */
  first: number;
  last: number;
  evidence: ReadonlyMap<number, Evidence>;
  manifests: readonly Named<'manifest'>[];
  markers: readonly Named<'marker'>[];
  /** Operators by `generation/nonce` of the leader that noted them. */
  plans: ReadonlyMap<string, readonly PlannedOperator[]>;
};

export const planKey = ({ generation, nonce }: { generation: number; nonce: string }): string =>
  `${generation}/${nonce}`;

/** The line, or null when there is none; what is wrong with it goes to `findings`. */
export function* readLine(
  paths: LineagePaths,
  findings: Finding[],
): Lineage<{ tag: 'line'; line: Line } | { tag: 'none' } | Unavailable> {
  const current = yield* read(paths.current, currentGenerationCodec);
  if (current.tag === 'unavailable') return current;
  const under = yield* listAll(paths.generations);
  if (under.tag === 'unanswered') return unavailable(under.message);
  if (current.tag !== 'found')
    return yield* withoutCurrent(paths, current.tag, under.keys, findings);
  const listed = yield* listEpochs(paths, current.value.floor);
  if (listed.tag === 'unavailable') return listed;
  const first = Math.max(current.value.floor, 1);
  const last = listed.epochs.at(-1) ?? first - 1;
  if (last < first && current.value.floor > 0)
    findings.push(missingEpoch(paths, first, `the floor is ${first}`));
  const evidence = new Map<number, Evidence>();
  for (let epoch = first; epoch <= last; epoch++) {
    const found = yield* readEpoch(paths, epoch, last, findings);
    if (found.tag === 'unavailable') return found;
    if (found.tag === 'evidence') evidence.set(epoch, found.evidence);
  }
  const manifests: Named<'manifest'>[] = [];
  const markers: Named<'marker'>[] = [];
  const plans = new Map<string, readonly PlannedOperator[]>();
  for (const key of under.keys) {
    const name = paths.parse(key);
    if (name?.tag === 'manifest') manifests.push({ key, name });
    if (name?.tag === 'marker') markers.push({ key, name });
    if (name?.tag !== 'generation') continue;
    const noted = yield* read(key, generationManifestCodec);
    if (noted.tag === 'unavailable') return noted;
    if (noted.tag === 'found' && noted.value.operators !== null)
      plans.set(planKey(name), noted.value.operators);
  }
  const line = { paths, current: current.value, first, last, evidence, manifests, markers, plans };
  return { tag: 'line', line };
}

function* withoutCurrent(
  paths: LineagePaths,
  why: 'missing' | 'broken',
  under: readonly string[],
  findings: Finding[],
): Lineage<{ tag: 'none' } | Unavailable> {
  const records = yield* listAll(paths.epochs);
  if (records.tag === 'unanswered') return unavailable(records.message);
  if (why === 'broken' || under.length > 0 || records.keys.length > 0) {
    const message =
      why === 'broken'
        ? `${paths.current} cannot be read`
        : `${paths.current} is missing, though other objects of the lineage exist`;
    findings.push({ code: 'CURRENT_BROKEN', epoch: null, key: paths.current, message });
  }
  return { tag: 'none' };
}

const missingEpoch = (paths: LineagePaths, epoch: number, why: string): Finding => ({
  code: 'EPOCH_MISSING',
  epoch,
  key: paths.record(epoch),
  message: `epoch ${epoch} has no record, though ${why}`,
});

/** Reads one epoch; `lost` when its record is missing or cannot be read. */
export function* readEpoch(
  paths: LineagePaths,
  epoch: number,
  last: number,
  findings: Finding[],
): Lineage<{ tag: 'evidence'; evidence: Evidence } | { tag: 'lost' } | Unavailable> {
  const key = paths.record(epoch);
  const record = yield* read(key, epochRecordCodec);
  if (record.tag === 'unavailable') return record;
  if (record.tag === 'missing') {
    findings.push(missingEpoch(paths, epoch, `epoch ${last} has one`));
    return { tag: 'lost' };
  }
  if (record.tag === 'broken' || record.value.epoch !== epoch) {
    const message =
      record.tag === 'broken'
        ? record.report.message
        : `the record of epoch ${epoch} is about epoch ${record.value.epoch}`;
    findings.push({ code: 'RECORD_BROKEN', epoch, key, message });
    return { tag: 'lost' };
  }
  const manifest = yield* readManifest(record.value, findings);
  if (manifest.tag === 'unavailable') return manifest;
  const marker = yield* readMarker(paths, record.value, findings);
  if (marker.tag === 'unavailable') return marker;
  const evidence = { epoch, record: record.value, manifest: manifest.value, marker: marker.value };
  return { tag: 'evidence', evidence };
}

function* readManifest(
  record: EpochRecord,
  findings: Finding[],
): Lineage<{ tag: 'manifest'; value: CheckpointManifest | null } | Unavailable> {
  const { ref, hash } = record.checkpoint;
  const { epoch } = record;
  const wrong = (code: Finding['code'], message: string): { tag: 'manifest'; value: null } => {
    findings.push({ code, epoch, key: ref, message });
    return { tag: 'manifest', value: null };
  };
  const answer = yield* get(ref);
  if (answer.tag === 'unanswered') return unavailable(answer.message);
  if (answer.tag === 'missing')
    return wrong('MANIFEST_MISSING', `the manifest that epoch ${epoch} names is missing`);
  const decoded = checkpointManifestCodec.decode(answer.body);
  const speaksOf = decoded.tag === 'decoded' ? decoded.value : null;
  if (speaksOf !== null && (speaksOf.epoch !== epoch || !agrees(record, speaksOf))) {
    const message = `the manifest that epoch ${epoch} names is of epoch ${speaksOf.epoch}, generation ${speaksOf.generation}, or of another parent`;
    return wrong('MANIFEST_SWAPPED', message);
  }
  if (contentHash(answer.body) !== hash)
    return wrong('MANIFEST_ALTERED', `the manifest of epoch ${epoch} is not what its record names`);
  if (decoded.tag === 'broken') return wrong('MANIFEST_INVALID', decoded.message);
  return { tag: 'manifest', value: decoded.value };
}

function* readMarker(
  paths: LineagePaths,
  record: EpochRecord,
  findings: Finding[],
): Lineage<{ tag: 'marker'; value: Evidence['marker'] } | Unavailable> {
  const { epoch, generation, nonce, checkpoint } = record;
  if (!/^[A-Za-z0-9_-]+$/.test(nonce)) return { tag: 'marker', value: 'absent' };
  const key = paths.marker(generation, nonce, epoch);
  const marker = yield* read(key, committedMarkerCodec);
  if (marker.tag === 'unavailable') return marker;
  if (marker.tag === 'missing') return { tag: 'marker', value: 'absent' };
  if (marker.tag === 'found' && marker.value.epoch === epoch && marker.value.ref === checkpoint.ref)
    return { tag: 'marker', value: 'found' };
  const message =
    marker.tag === 'broken'
      ? marker.report.message
      : `the marker of epoch ${epoch} is about another checkpoint`;
  findings.push({ code: 'MARKER_BROKEN', epoch, key, message });
  return { tag: 'marker', value: 'broken' };
}
