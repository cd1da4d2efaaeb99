/** Child processes that are measured: pinned to one core where the system can, with their peak memory. */
import { execFileSync, spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { endWithUs } from './leftovers.ts';

/** The core that every measured process runs on, the first one that we may use; the one that drives it may use the others. */
function firstCore(): string {
  try {
    const status = readFileSync('/proc/self/status', 'utf8');
    return /^Cpus_allowed_list:\s*(\d+)/m.exec(status)?.[1] ?? '0';
  } catch {
    return '0';
  }
}

const CORE = firstCore();

let pinning: boolean | null = null;

/** Whether this machine has `taskset`. */
export function canPin(): boolean {
  if (pinning === null) {
    try {
      execFileSync('taskset', ['-c', CORE, 'true'], { stdio: 'ignore' });
      pinning = true;
    } catch {
      pinning = false;
    }
  }
  return pinning;
}

export function spawnPinned(
  program: string,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  const child = canPin()
    ? spawn('taskset', ['-c', CORE, program, ...args], options)
    : spawn(program, args, options);
  endWithUs(child);
  return child;
}

/** The most memory the process has ever had resident. */
export function peakRssBytes(pid: number): number {
  try {
    const peak = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    if (peak !== null) return Number(peak[1]) * 1024;
  } catch {
    // No such file system here: what `ps` tells is the memory of this moment.
  }
  const now = execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  return Number(now.trim()) * 1024;
}

/** Processor time that the process's threads have used, in nanoseconds; NaN where the system does not tell. */
export function processorNanos(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.reduce((sum, thread) => {
      const [ran] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
      return sum + Number(ran);
    }, 0);
  } catch {
    return Number.NaN;
  }
}
