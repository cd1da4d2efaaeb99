/**
 * One object of a pipeline's lineage, for people.
 *
 * Only names that the lineage itself builds are read, and never state: this is no way to any other object of the bucket.
 */
import { EngineError } from '../../base/errors.ts';
import { piecesOf } from '../../audit/totals.ts';
import type { PipelineAndJob } from '../../catalog/schema.ts';
import { checkpointManifestCodec } from '../../lineage/codec.ts';
import { type LineageName, LineagePaths } from '../../lineage/paths.ts';
import type { CheckpointManifest } from '../../lineage/types.ts';
import { checkpointView } from '../observe/status.ts';
import type { ApiServices } from '../services.ts';
import type { LineageManifest } from './detail-shapes.ts';

const KINDS: Partial<Record<LineageName['tag'], LineageManifest['kind']>> = {
  manifest: 'checkpoint',
  generation: 'generation',
  record: 'record',
  marker: 'commit',
};

/** Throws NOT_FOUND for whatever is not an object of this pipeline's lineage, and for what is not there (any more). */
export async function lineageManifest(
  services: ApiServices,
  { job }: PipelineAndJob,
  ref: string,
): Promise<LineageManifest> {
  const paths = new LineagePaths(job.pipelineId, job.id);
  const name = paths.parse(ref);
  const kind = name === null ? undefined : KINDS[name.tag];
  const bytes = kind === undefined ? null : await services.readObject(ref);
  if (name === null || kind === undefined || bytes === null)
    throw new EngineError('NOT_FOUND', `the lineage of ${job.pipelineId} has no object ${ref}`, {
      hint: 'GET …/lineage names those there are; old ones are collected.',
    });
  const manifest = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
  const base = { ref, kind, bytes: bytes.length, manifest };
  if (name.tag !== 'manifest') return { ...base, files: [], outputs: [], phases: null };
  const decoded = checkpointManifestCodec.decode(bytes);
  if (decoded.tag === 'broken') throw new EngineError('LINEAGE_BROKEN', decoded.message);
  const checkpoint = decoded.value;
  const { generation, nonce, epoch } = name;
  const [committed, phases] = await Promise.all([
    checkpoint.needsCommit
      ? services.readObject(paths.marker(generation, nonce, epoch)).then((found) => found !== null)
      : true,
    phasesOf(services, job.pipelineId, checkpoint),
  ]);
  return {
    ...base,
    files: checkpoint.files.map(({ key, operator, table, size, rows }) => ({
      key,
      operator,
      table,
      bytes: size,
      rows,
    })),
    outputs: piecesOf(checkpoint.items).map(({ key, target, rows, size }) => ({
      key,
      target,
      rows,
      bytes: size,
      committed,
    })),
    phases,
  };
}

/** Null when the leader that cut it is gone, or has forgotten. */
async function phasesOf(
  services: ApiServices,
  pipelineId: string,
  { generation, epoch, attempt }: CheckpointManifest,
): Promise<LineageManifest['phases']> {
  const status = await services.leaderStatus(pipelineId, generation);
  if (status?.generation !== generation) return null;
  const all = [...status.recent, ...(status.checkpoint === null ? [] : [status.checkpoint])];
  const summary = all.find((each) => each.epoch === epoch && each.attempt === attempt);
  if (summary === undefined) return null;
  const { kind, started_at, aligned_at, published_at, committed_at, hosts } =
    checkpointView(summary);
  return { kind, attempt, started_at, aligned_at, published_at, committed_at, hosts };
}
