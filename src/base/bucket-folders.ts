/**
 * Where Thalweg keeps objects of its own in the bucket that users' tables lie in as well:
 *
 *     thalweg-staged/{pipeline}/…   rows of `single_file` sinks that wait for their commit
 *     thalweg-output/{pipeline}/…   committed rows of `stdout` sinks
 *     {pipeline}/{job}/…            the lineage with its state files, as `lineage/paths.ts` names them
 *
 * What is there is deleted when it has served, and read as what Thalweg wrote: no table may lie there.
 * Ids that were made are known by their looks; a pipeline may also have an id of its user's, which only the catalogue tells from
 * a folder that is called so by chance.
 */
export const STAGED_FOLDER = 'thalweg-staged';
export const OUTPUT_FOLDER = 'thalweg-output';

const MADE_PIPELINE = /^pl_[0-9A-Za-z]{10}$/;
const MADE_JOB = /^job_[0-9A-Za-z]{10}$/;

/** The first folders of a path, without slashes before them. */
function foldersOf(path: string): [first: string, second: string] {
  const [first = '', second = ''] = path.replace(/^\/+/, '').split('/');
  return [first, second];
}

/** What lies where the path leads, when that is Thalweg's for certain; else null. */
export function ownedBy(path: string): string | null {
  const [first, second] = foldersOf(path);
  if (first === STAGED_FOLDER) return 'rows that wait for their commit';
  if (first === OUTPUT_FOLDER) return 'the committed rows of stdout sinks';
  return MADE_PIPELINE.test(first) && MADE_JOB.test(second) ? stateOf(first) : null;
}

export const stateOf = (pipeline: string): string =>
  `the checkpoints and the lineage of pipeline ${pipeline}`;

/** The pipeline and job whose lineage is at the path if they exist. */
export function lineageAt(path: string): { pipeline: string; job: string } | null {
  const [pipeline, job] = foldersOf(path);
  return MADE_JOB.test(job) ? { pipeline, job } : null;
}
