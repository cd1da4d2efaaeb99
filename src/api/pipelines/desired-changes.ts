/** What a PATCH asks for as changes of what is wanted, if the state of the job allows them. */
import type { z } from '@hono/zod-openapi';
import { EngineError } from '../../base/errors.ts';
import type { DesiredChange } from '../../catalog/pipelines.ts';
import type { PipelineAndJob, StopMode } from '../../catalog/schema.ts';
import type { PipelinePatchSchema } from './pipeline-shapes.ts';

type Patch = z.infer<typeof PipelinePatchSchema>;

/** Each stops sooner than the one before. */
const BY_HASTE: readonly StopMode[] = ['checkpoint', 'graceful', 'immediate'];

/**
 * The changes in the order to write them: what takes effect by a restart comes before the start or stop.
 * Throws CONFLICT when the pipeline cannot be stopped that way now, INVALID_REQUEST when nothing is asked for.
 */
export function changesOf(
  found: PipelineAndJob,
  patch: Patch,
  nonce: () => string,
): DesiredChange[] {
  const { pipeline } = found;
  const changes: DesiredChange[] = [];
  const { name, tags, parallelism, checkpoint_interval_micros: interval, stop } = patch;
  if (name !== undefined || tags !== undefined) {
    changes.push({
      tag: 'describe',
      ...(name === undefined ? {} : { name }),
      ...(tags === undefined ? {} : { tags }),
    });
  }
  const intervalMs = interval === undefined ? undefined : Math.round(interval / 1000);
  const rescaled = parallelism !== undefined && parallelism !== pipeline.parallelism;
  const retimed = intervalMs !== undefined && intervalMs !== pipeline.checkpointIntervalMs;
  if (rescaled || retimed) {
    changes.push({
      tag: 'configure',
      ...(rescaled ? { parallelism } : {}),
      ...(retimed ? { checkpointIntervalMs: intervalMs } : {}),
      nonce: nonce(),
    });
  }
  if (stop === 'none') changes.push({ tag: 'run', nonce: nonce() });
  else if (stop !== undefined)
    changes.push(...stopChanges(found, stop === 'force' ? 'immediate' : stop, nonce));
  if ([name, tags, parallelism, interval, stop].every((value) => value === undefined)) {
    throw new EngineError('INVALID_REQUEST', 'the request changes nothing', {
      hint: 'It may hold stop, parallelism, checkpoint_interval_micros, name and tags.',
    });
  }
  return changes;
}

function stopChanges(
  { pipeline, job }: PipelineAndJob,
  mode: StopMode,
  nonce: () => string,
): DesiredChange[] {
  const { state } = job;
  const restarting = pipeline.restartNonce !== null && pipeline.restartNonce !== job.restartDone;
  if (state === 'Stopped' && pipeline.desiredState === 'stopped') return [];
  if ((state === 'Finished' || state === 'Failed') && !restarting) {
    throw conflict(
      `pipeline ${pipeline.id} is ${state}: there is nothing to stop`,
      'start (stop: "none"), restart, delete',
    );
  }
  if (pipeline.desiredState === 'running' || pipeline.stopMode === null)
    return [{ tag: 'stop', mode, nonce: nonce() }];
  // A repeated request changes nothing; a stop under way may only become faster.
  if (mode === pipeline.stopMode) return [];
  if (BY_HASTE.indexOf(mode) < BY_HASTE.indexOf(pipeline.stopMode)) {
    const faster = BY_HASTE.slice(BY_HASTE.indexOf(pipeline.stopMode)).map(
      (word) => `stop: "${word}"`,
    );
    throw conflict(
      `pipeline ${pipeline.id} is ${state}, stopping with "${pipeline.stopMode}"`,
      `${faster.join(', ')}, start (stop: "none")`,
    );
  }
  return [{ tag: 'stop', mode, nonce: nonce() }];
}

const conflict = (message: string, allowed: string): EngineError =>
  new EngineError('CONFLICT', message, { hint: `Allowed now: ${allowed}.` });
