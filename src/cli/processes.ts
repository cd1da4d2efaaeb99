/**
 * The processes of the operating system, as far as a local runtime needs them: is one alive, and which
 * workerd works on a given state directory. workerd carries the directory in its environment, because it
 * outlives a Node that was killed and then has to be found without any memory of it.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

/** Name of the environment variable that says whose workerd it is. */
export const STATE_MARKER = 'THALWEG_STATE_DIR';

/** A zombie has ended, it only waits to be counted. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  if (process.platform !== 'linux') return true;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z';
  } catch {
    return false;
  }
}

/** Ids of the workerd processes that were started on this state directory; empty where the system cannot tell. */
export function workerdProcesses(stateDir: string): number[] {
  const marker = `${STATE_MARKER}=${stateDir}`;
  if (process.platform === 'linux') return linuxProcesses(marker);
  if (process.platform === 'darwin') return darwinProcesses(marker);
  return [];
}

function linuxProcesses(marker: string): number[] {
  const found: number[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    try {
      if (
        !readFileSync(`/proc/${name}/environ`, 'latin1')
          .split('\0')
          .includes(Buffer.from(marker).toString('latin1'))
      )
        continue;
      const program = readFileSync(`/proc/${name}/cmdline`, 'latin1').split('\0')[0] ?? '';
      if (program.includes('workerd') && isAlive(pid)) found.push(pid);
    } catch {
      // Another user's process, or one that ended while we looked: not ours either way.
    }
  }
  return found;
}

function darwinProcesses(marker: string): number[] {
  const lines = execFileSync('ps', ['-A', '-E', '-ww', '-o', 'pid=,command='], {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  }).split('\n');
  return lines
    .filter((line) => line.includes('workerd') && `${line} `.includes(`${marker} `))
    .map((line) => Number.parseInt(line, 10));
}

/** Ends processes at once and waits until they are gone, so that their files are free. */
export async function killAndWait(pids: readonly number[], waitMs = 2000): Promise<void> {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
  const deadline = Date.now() + waitMs;
  while (pids.some(isAlive) && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
