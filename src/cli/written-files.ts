/**
 * Which files of this machine a state directory's runs have written: those a later run of the same state may
 * replace. A file is noted before it is written for the first time, so a run that is killed knows its own again.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export class WrittenFiles {
  readonly #list: string;
  readonly #paths: Set<string>;

  constructor(stateDir: string) {
    this.#list = join(stateDir, 'written.json');
    this.#paths = new Set(readList(this.#list));
  }

  has(path: string): boolean {
    return this.#paths.has(path);
  }

  add(paths: readonly string[]): void {
    if (paths.every((path) => this.#paths.has(path))) return;
    for (const path of paths) this.#paths.add(path);
    writeFileSync(`${this.#list}.partial`, `${JSON.stringify([...this.#paths])}\n`);
    renameSync(`${this.#list}.partial`, this.#list);
  }
}

function readList(path: string): string[] {
  try {
    const list = JSON.parse(readFileSync(path, 'utf8')) as unknown;
    return Array.isArray(list) ? list.filter((entry) => typeof entry === 'string') : [];
  } catch {
    // None, or not ours: better to ask before a file is replaced.
    return [];
  }
}
