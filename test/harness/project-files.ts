/** The project's own text files, for the tests that read the project itself. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');

export type ProjectFile = { path: string; text: string };

const NOT_OURS = new Set(['node_modules', '.git', '.thalweg', '.wrangler', 'dist', 'coverage']);

const TEXT = /\.(tsx?|mjs|js|json|jsonc|toml|md|sql|html|css|yml|yaml|txt|slt)$/;

function walk(directory: string, into: string[]): string[] {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (NOT_OURS.has(entry.name)) continue;
    const path = join(directory, entry.name);
    if (entry.isDirectory()) walk(path, into);
    else if (entry.isFile()) into.push(path);
  }
  return into;
}

/** Files under these folders or files (relative to the root, `/` between names), sorted; absent ones are passed over. */
export function projectFiles(places: readonly string[], pattern: RegExp = TEXT): ProjectFile[] {
  const paths = places
    .map((place) => join(ROOT, place))
    .filter((path) => existsSync(path))
    .flatMap((path) => (statSync(path).isDirectory() ? walk(path, []) : [path]));
  return paths
    .map((path) => relative(ROOT, path).split(sep).join('/'))
    .filter((path) => pattern.test(path))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

/** Every text file of the project. */
export function allFiles(): ProjectFile[] {
  return projectFiles(['.'], TEXT);
}
