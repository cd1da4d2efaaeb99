/**
 * What a run of the benchmark must not leave behind, however it ends: its processes, and the answers, sockets and folders that it
 * made. A run that was killed outright cannot clean up: the next one does.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';

const children = new Set<ChildProcess>();
const paths = new Set<string>();
let watching = false;

function cleanUp(): void {
  for (const child of children) child.kill('SIGKILL');
  for (const path of paths) rmSync(path, { recursive: true, force: true });
}

function watch(): void {
  if (watching) return;
  watching = true;
  process.on('exit', cleanUp);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
}

/** Ended with this process. */
export function endWithUs(child: ChildProcess): void {
  watch();
  children.add(child);
  child.once('exit', () => children.delete(child));
}

/** Removed at the end of this process. */
export function removeWithUs(path: string): string {
  watch();
  paths.add(path);
  return path;
}

/** The folder of this process alone, for what is kept while it measures. */
export function ownFolder(work: string): string {
  const folder = removeWithUs(join(work, `run-${process.pid}`));
  mkdirSync(folder, { recursive: true });
  return folder;
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** `run-PID`, drafts of data `nexmark-V-N.PID`, and configurations of workerd `run-PID-NAME.capnp`. */
const OF_A_PROCESS = /^(?:run-(\d+)(?:-\w+\.capnp)?|nexmark-\d+-\d+\.(\d+))$/;

/** Removes what runs left that are over; the runs that are under way, ours not among them. */
export function sweep(directories: readonly string[]): number[] {
  const running = new Set<number>();
  for (const directory of directories) {
    let names: string[] = [];
    try {
      names = readdirSync(directory);
    } catch {
      continue;
    }
    for (const name of names) {
      const found = OF_A_PROCESS.exec(name);
      const pid = Number(found?.[1] ?? found?.[2] ?? process.pid);
      if (pid === process.pid) continue;
      if (alive(pid)) running.add(pid);
      else rmSync(join(directory, name), { recursive: true, force: true });
    }
  }
  return [...running];
}
