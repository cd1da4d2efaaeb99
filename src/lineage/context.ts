/**
 * What the workflows share: who acts, how a step may end, and the reads that several steps make.
 *
 * Place in the walk: stages 8-10. *Learn, then verify, then act*: whoever learns "record E holds R", by creating, listing
 * or losing to it, reads O1 afterwards (`verifyOwner`) and acts only if it is still named there.
 *
 * Invariants: something missing, damaged or contradictory is reported as `broken` only by the owner; anybody else
 * finds that it is `fenced`, because its successor may have collected what it looks for.
 * Failure: `unavailable` means nothing was learnt; the same workflow may be run again.
 */
import { ERROR_CODES } from '../base/errors.ts';
import type { ErrorReport } from '../base/errors.ts';
import {
  checkpointManifestCodec,
  committedMarkerCodec,
  currentGenerationCodec,
  epochRecordCodec,
} from './codec.ts';
import type { Codec } from './codec.ts';
import { contentHash } from './content-hash.ts';
import { agrees, deriveCheckpointState, isMine } from './derive.ts';
import type { LineagePaths } from './paths.ts';
import { get } from './store.ts';
import type { Lineage } from './store.ts';
import type {
  CheckpointManifest,
  CurrentGeneration,
  EpochRecord,
  Incarnation,
  Tip,
} from './types.ts';

/**
 * One start of a leader, acting now.
 *
 * `nowMs` is informational and decides nothing. `nextWriteId` must not give the same text twice, in no object.
 */
export type LineageContext = {
  paths: LineagePaths;
  generation: number;
  me: Incarnation;
  nowMs: number;
  nextWriteId(): string;
};

/** Another generation or start owns the lineage: stop at once, commit nothing, do not acquire again. */
export type Fenced = { tag: 'fenced'; by: CurrentGeneration };
/** What lies in the bucket contradicts the protocol: a human has to look. */
export type Broken = { tag: 'broken'; report: ErrorReport };
/** The store did not answer often enough. */
export type Unavailable = { tag: 'unavailable'; report: ErrorReport };
export type Stopped = Fenced | Broken | Unavailable;

export function broken(message: string): Broken {
  const hint =
    'nothing was changed; restore the object from a copy, or start a new job without state';
  return {
    tag: 'broken',
    report: { code: 'LINEAGE_BROKEN', ...ERROR_CODES.LINEAGE_BROKEN, message, hint },
  };
}

export function unavailable(message: string): Unavailable {
  return {
    tag: 'unavailable',
    report: { code: 'STORE_FAILED', ...ERROR_CODES.STORE_FAILED, message },
  };
}

/** An object as a record; what is there but cannot be decoded is `broken`. `body` are its bytes. */
export function* read<T>(
  key: string,
  codec: Codec<T>,
): Lineage<
  | { tag: 'found'; value: T; body: Uint8Array; etag: string }
  | { tag: 'missing' }
  | Broken
  | Unavailable
> {
  const answer = yield* get(key);
  if (answer.tag === 'missing') return answer;
  if (answer.tag === 'unanswered') return unavailable(answer.message);
  const decoded = codec.decode(answer.body);
  if (decoded.tag === 'broken') return broken(`${key}: ${decoded.message}`);
  return { tag: 'found', value: decoded.value, body: answer.body, etag: answer.etag };
}

export type CurrentRead = { tag: 'found'; value: CurrentGeneration; etag: string };

/** O1; it is never deleted, so for a leader a missing one is as bad as a damaged one. */
export function* readCurrent(paths: LineagePaths): Lineage<CurrentRead | Broken | Unavailable> {
  const current = yield* read(paths.current, currentGenerationCodec);
  return current.tag === 'missing' ? broken(`${paths.current} is missing`) : current;
}

/** Steps 5, 8 and 9: is the lineage still mine, after what was just learnt? */
export function* verifyOwner(
  ctx: LineageContext,
): Lineage<{ tag: 'mine'; current: CurrentGeneration } | Stopped> {
  const current = yield* readCurrent(ctx.paths);
  if (current.tag !== 'found') return current;
  if (isMine(current.value, ctx.generation, ctx.me)) return { tag: 'mine', current: current.value };
  return { tag: 'fenced', by: current.value };
}

/** A hole, a missing or an unreadable object: to a leader that was replaced it is no wonder, to the owner an alarm. */
export function* suspect(ctx: LineageContext, found: Broken): Lineage<Stopped> {
  const owner = yield* verifyOwner(ctx);
  return owner.tag === 'mine' ? found : owner;
}

/** The checkpoint that a record names, as a tip; every contradiction between record, manifest and marker is `broken`. */
export function* readCheckpoint(
  paths: LineagePaths,
  record: EpochRecord,
): Lineage<{ tag: 'tip'; tip: Tip; manifest: CheckpointManifest } | Broken | Unavailable> {
  const { ref, hash } = record.checkpoint;
  const manifest = yield* read(ref, checkpointManifestCodec);
  if (manifest.tag === 'missing')
    return broken(`${ref} is missing, though epoch ${record.epoch} names it`);
  if (manifest.tag !== 'found') return manifest;
  if (contentHash(manifest.body) !== hash)
    return broken(`${ref} has not the content that epoch ${record.epoch} names`);
  if (!agrees(record, manifest.value))
    return broken(`${ref} contradicts the record of epoch ${record.epoch}`);
  const marked = yield* readMarker(paths, manifest.value, ref);
  if (marked.tag !== 'marked') return marked;
  const committed = deriveCheckpointState(manifest.value, marked.value) === 'ready';
  const tip: Tip = {
    epoch: record.epoch,
    ref: record.checkpoint,
    manifest: manifest.value,
    committed,
  };
  return { tag: 'tip', tip, manifest: manifest.value };
}

function* readMarker(
  paths: LineagePaths,
  manifest: CheckpointManifest,
  ref: string,
): Lineage<{ tag: 'marked'; value: boolean } | Broken | Unavailable> {
  if (!manifest.needsCommit) return { tag: 'marked', value: false };
  const key = paths.marker(manifest.generation, manifest.nonce, manifest.epoch);
  const marker = yield* read(key, committedMarkerCodec);
  if (marker.tag === 'missing') return { tag: 'marked', value: false };
  if (marker.tag !== 'found') return marker;
  if (marker.value.epoch !== manifest.epoch || marker.value.ref !== ref)
    return broken(`${key} marks another checkpoint`);
  return { tag: 'marked', value: true };
}

/** The record of an epoch, checked against its own name. */
export function* readRecord(
  paths: LineagePaths,
  epoch: number,
): Lineage<{ tag: 'found'; value: EpochRecord } | { tag: 'missing' } | Broken | Unavailable> {
  const record = yield* read(paths.record(epoch), epochRecordCodec);
  if (record.tag !== 'found') return record;
  if (record.value.epoch !== epoch)
    return broken(`${paths.record(epoch)} is about epoch ${record.value.epoch}`);
  return { tag: 'found', value: record.value };
}
