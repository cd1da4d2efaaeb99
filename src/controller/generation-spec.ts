/**
 * What a leader is told when it starts: the pipeline as it is wanted now, with the defaults of the runtime filled in.
 *
 * Invariant: the spec is made from the job row that names the generation, so that a reset is in it from the first
 * generation it was asked of. Failure: a graph that is not JSON throws; it was JSON when it was stored.
 */
import { LIMITS } from '../base/limits.ts';
import type { Job, Pipeline } from '../catalog/schema.ts';
import type { PhysicalGraph } from '../graph/graph.ts';
import type { GenerationSpec, RuntimeSettings } from '../protocol/messages.ts';

export const DEFAULT_SETTINGS: RuntimeSettings = {
  batchRows: LIMITS.batchRowsDefault,
  lingerMs: LIMITS.lingerMs,
  heartbeatIntervalMs: LIMITS.heartbeatIntervalMs,
  heartbeatTimeoutMs: LIMITS.heartbeatTimeoutMs,
  startTimeoutMs: LIMITS.startTimeoutMs,
  checkpointTimeoutMs: LIMITS.checkpointTimeoutMs,
  publishTimeoutMs: LIMITS.publishTimeoutMs,
  commitTimeoutMs: LIMITS.commitTimeoutMs,
  redoTimeoutMs: LIMITS.redoTimeoutMs,
  leaderAlarmMs: LIMITS.leaderAlarmMs,
  checkpointsKept: LIMITS.checkpointsKept,
  stateBytesMax: LIMITS.stateBytesMax,
};

export function generationSpec(pipeline: Pipeline, job: Job, codeVersion: string): GenerationSpec {
  return {
    protocol: 1,
    pipelineId: pipeline.id,
    jobId: job.id,
    name: pipeline.name,
    generation: job.generation,
    graph: JSON.parse(pipeline.graph) as PhysicalGraph,
    parallelism: pipeline.parallelism,
    checkpointIntervalMs: pipeline.checkpointIntervalMs,
    settings: { ...DEFAULT_SETTINGS, ...(pipeline.settings as Partial<RuntimeSettings>) },
    pipelineCreatedMs: pipeline.createdMs,
    reason: job.reason,
    reset: job.resetFrom !== null,
    ...(job.resetFrom === null ? {} : { resetFrom: job.resetFrom }),
    codeVersion,
  };
}
