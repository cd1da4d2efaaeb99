/**
 * One runtime per state directory: two would both believe to own the SQLite files under it.
 *
 * The lock is a file with the owner's process id. An owner that is gone left the file behind and perhaps a
 * workerd that still writes; the next owner ends that one first.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EngineError } from '../base/errors.ts';
import { isAlive, killAndWait, workerdProcesses } from './processes.ts';

/** Directories owned by this very process: its id in a lock file alone could be a reused one. */
const owned = new Set<string>();

function lockPath(stateDir: string): string {
  return join(stateDir, 'lock');
}

process.on('exit', () => {
  for (const stateDir of owned) rmSync(lockPath(stateDir), { force: true });
});

/** Takes the directory or throws STATE_IN_USE; the answer gives it back. */
export async function lockState(stateDir: string): Promise<() => void> {
  try {
    mkdirSync(stateDir, { recursive: true });
  } catch (error) {
    throw new EngineError('INVALID_OPTION', `cannot keep state in ${stateDir}`, {
      detail: (error as Error).message,
    });
  }
  const path = lockPath(stateDir);
  for (let attempt = 0; ; attempt += 1) {
    try {
      writeFileSync(path, `${process.pid}\n`, { flag: 'wx' });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt > 5) throw error;
      removeIfStale(path, stateDir);
    }
  }
  owned.add(stateDir);
  await killAndWait(workerdProcesses(stateDir));
  return () => {
    if (owned.delete(stateDir)) rmSync(path, { force: true });
  };
}

/** Removes the lock that a process left which its parent has just killed. */
export function releaseLockOf(owner: number, stateDir: string): void {
  const path = lockPath(stateDir);
  try {
    if (Number.parseInt(readFileSync(path, 'utf8'), 10) === owner) rmSync(path, { force: true });
  } catch {
    // There is none: it had released the lock, or never taken it.
  }
}

function removeIfStale(path: string, stateDir: string): void {
  let owner: number;
  try {
    owner = Number.parseInt(readFileSync(path, 'utf8'), 10);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const held =
    owner === process.pid ? owned.has(stateDir) : Number.isInteger(owner) && isAlive(owner);
  if (held) {
    throw new EngineError('STATE_IN_USE', `process ${owner} already runs on ${stateDir}`, {
      hint: `Stop that process, or choose another directory with --state. If no Thalweg runs there, delete ${path}.`,
    });
  }
  rmSync(path, { force: true });
}
