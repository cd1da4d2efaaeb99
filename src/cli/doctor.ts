/** `thalweg doctor`: is this machine fit to run Thalweg? One line for each thing that could be wrong. */
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { reportOf } from '../base/errors.ts';
import { probePort, USUAL_PORT } from './ports.ts';
import { PROJECT_ROOT, workDir } from './project.ts';
import { note, print } from './terminal.ts';
import { workerdVersion } from './workerd-program.ts';

type Finding = { state: 'ok' | 'warn' | 'fail'; name: string; text: string; help?: string };

const DISK_BYTES_MIN = 500 * 1024 * 1024;

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const fit = major > 22 || (major === 22 && minor >= 18);
  return {
    state: fit ? 'ok' : 'fail',
    name: 'Node',
    text: `${process.versions.node}${fit ? '' : ', needs 22.18 or newer: run npm install'}`,
  };
}

async function checkWorkerd(): Promise<Finding> {
  try {
    return { state: 'ok', name: 'workerd', text: await workerdVersion() };
  } catch (error) {
    const { detail = '', hint } = reportOf(error);
    const text = `does not start: ${detail.split('\n')[0]}`;
    return { state: 'fail', name: 'workerd', text, ...(hint === undefined ? {} : { help: hint }) };
  }
}

async function checkPort(): Promise<Finding> {
  const free = (await probePort('127.0.0.1', USUAL_PORT)) !== undefined;
  return free
    ? { state: 'ok', name: 'port', text: `${USUAL_PORT} is free` }
    : { state: 'warn', name: 'port', text: `${USUAL_PORT} is taken, dev will choose another` };
}

function checkDisk(root: string): Finding {
  const directory = workDir(root);
  try {
    mkdirSync(directory, { recursive: true });
    const probe = join(directory, `doctor-${process.pid}`);
    writeFileSync(probe, 'x');
    rmSync(probe);
  } catch (error) {
    return {
      state: 'fail',
      name: 'disk',
      text: `${directory} is not writable: ${(error as Error).message}`,
    };
  }
  const { bavail, bsize } = statfsSync(directory);
  const freeBytes = bavail * bsize;
  const text = `${(freeBytes / 1024 ** 3).toFixed(1)} GiB free, writable`;
  return { state: freeBytes >= DISK_BYTES_MIN ? 'ok' : 'warn', name: 'disk', text };
}

/** Prints the findings; the exit code is 1 when something will keep Thalweg from starting. */
export async function doctor(): Promise<number> {
  const findings = [checkNode(), await checkWorkerd(), await checkPort(), checkDisk(PROJECT_ROOT)];
  for (const { state, name, text } of findings)
    print(`${state.padEnd(4)}  ${name.padEnd(7)}  ${text}`);
  for (const { help } of findings) if (help !== undefined) note(help);
  return findings.some(({ state }) => state === 'fail') ? 1 : 0;
}
