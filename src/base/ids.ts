/** Names of the things that outlive one call. All are plain strings so that they cross RPC. */

export type PipelineId = string;
export type JobId = string;

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** `prefix_` and ten letters or digits, from ten or more random bytes that the caller drew. */
export function makeId(
  prefix: 'pl' | 'job' | 'jlm' | 'udf' | 'cp' | 'ct',
  randomBytes: Uint8Array,
): string {
  let id = `${prefix}_`;
  for (let index = 0; index < 10; index++)
    id += ALPHABET[(randomBytes[index] ?? 0) % ALPHABET.length];
  return id;
}

/** Name of the leader object of one generation. */
export const leaderName = (pipeline: PipelineId, generation: number): string =>
  `${pipeline}/${generation}`;

/** Name of host `index` (0-based) of one generation. */
export const hostName = (pipeline: PipelineId, generation: number, index: number): string =>
  `${pipeline}/${generation}/${index}`;

/** Name of the log object of one partition (0-based) of an `http` table. */
export const logName = (pipeline: PipelineId, table: string, partition: number): string =>
  `${pipeline}/${table}/${partition}`;
