/** Deletes what the generations of a pipeline at rest left behind. */
import { leaderName, logName } from '../base/ids.ts';
import { LineagePaths } from '../lineage/paths.ts';
import { outputPrefix, stagedPrefix } from '../connectors/two-phase-sink.ts';
import { type Env, leaders, logs } from './env.ts';
import { withRetry } from './retry.ts';

/**
 * Leaders first, so that none of them finds its lineage gone. What a lost call leaves behind costs storage and
 * nothing else: ids are never used again by chance. Committed files of `r2` and `single_file` sinks stay, also where
 * their path begins with the pipeline's id: only the folder of its job is the lineage's.
 */
export async function forget(
  env: Env,
  pipelineId: string,
  jobId: string,
  generations: number,
): Promise<void> {
  for (let generation = 1; generation <= generations; generation++) {
    const name = leaderName(pipelineId, generation);
    await withRetry(() => ended(() => leaders(env).getByName(name).destroy(), 'deleted'));
  }
  for (const prefix of [
    new LineagePaths(pipelineId, jobId).prefix,
    stagedPrefix(pipelineId),
    outputPrefix(pipelineId),
  ]) {
    for (;;) {
      const { objects } = await withRetry(() => env.BUCKET.list({ prefix }));
      if (objects.length === 0) break;
      await withRetry(() => env.BUCKET.delete(objects.map(({ key }) => key)));
    }
  }
}

/** The logs of an `http` table, with the rows that nobody has read. */
export async function forgetLogs(
  env: Env,
  pipelineId: string,
  table: string,
  partitions: number,
): Promise<void> {
  for (let partition = 0; partition < partitions; partition++) {
    const name = logName(pipelineId, table, partition);
    await withRetry(() => ended(() => logs(env).getByName(name).destroy(), 'deleted'));
  }
}

/** A call whose object resets itself is answered by that reset. */
export async function ended(call: () => Promise<void>, reason: string): Promise<void> {
  try {
    await call();
  } catch (thrown) {
    if (!(thrown instanceof Error) || !thrown.message.includes(reason)) throw thrown;
  }
}
