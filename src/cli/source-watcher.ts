/** Tells, shortly after the last of a burst of changes, that something the Worker is made of has changed. */
import { existsSync, watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';

/** An editor or a checkout touches many files at once; one reload answers them all. */
const QUIET_MS = 150;

const WATCHED = ['src', 'durable-objects', 'migrations', 'wrangler.toml'];

export function watchSources(root: string, onChange: () => void): { close(): void } {
  let timer: NodeJS.Timeout | undefined;
  const changed = (): void => {
    clearTimeout(timer);
    timer = setTimeout(onChange, QUIET_MS);
  };
  const watchers: FSWatcher[] = WATCHED.map((name) => join(root, name))
    .filter((path) => existsSync(path))
    .map((path) => watch(path, { recursive: true }, changed));
  return {
    close() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}
