/** Where things are: everything else in the command line asks here, so that tests can run another project folder. */
import { join, resolve } from 'node:path';

/** The folder that holds wrangler.toml, of the installation this file belongs to. */
export const PROJECT_ROOT = resolve(import.meta.dirname, '../..');

/** Wrangler, given `--persist-to X`, keeps its state in X/v3; the same place lets its commands see ours. */
export function resourceDir(stateDir: string): string {
  return join(stateDir, 'v3');
}

/** Local state and build results of a project; ignored by git. */
export function workDir(root: string): string {
  return join(root, '.thalweg');
}
