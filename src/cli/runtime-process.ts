/**
 * A runtime in a process group of its own, so that all of it (Node and workerd) can be killed with SIGKILL
 * at any moment and started again on the same state: what a power cut does, for `--chaos` and for tests.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { join, resolve } from 'node:path';
import { EngineError, type ErrorReport } from '../base/errors.ts';
import { serveLocalFiles } from './local-files-server.ts';
import type { RuntimeOptions } from './local-runtime.ts';
import { isAlive, killAndWait, workerdProcesses } from './processes.ts';
import { releaseLockOf } from './state-lock.ts';
import type { ChildOptions, FromChild, ToChild } from './runtime-child.ts';
import { note } from './terminal.ts';

export type RuntimeProcess = {
  /** Without a slash at the end. */
  url: string;
  /** The Node process; also the id of the group. */
  pid: number;
  workerdPid(): number | undefined;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  runScheduled(): Promise<void>;
  /** SIGKILL to the whole group; resolves when every process of it is gone. */
  kill(): Promise<void>;
  /** SIGKILL to workerd only; the Node beside it starts another one on the same address. */
  killWorkerd(): Promise<void>;
  /** An orderly end. */
  stop(): Promise<void>;
  /** Resolves when the Node process has ended, however it did. */
  exited: Promise<void>;
};

function raise(report: ErrorReport): EngineError {
  const { code, message, ...extras } = report;
  return new EngineError(code, message, extras);
}

function logToStderr(level: string, message: string): void {
  if (level === 'error' || level === 'warn') note(message);
}

/** Sends the options and waits for the answer: the address, or why there is none. */
async function ready(child: ChildProcess, options: ChildOptions): Promise<string> {
  return await new Promise((resolve, reject) => {
    child.on('message', (message: FromChild) => {
      if (message.tag === 'ready') resolve(message.url);
      if (message.tag === 'failed') reject(raise(message.failure));
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      reject(
        new EngineError(
          'RUNTIME_FAILED',
          `the runtime's process ended before it was ready (${signal ?? `exit code ${code}`})`,
        ),
      );
    });
    child.send({ tag: 'start', options } satisfies ToChild);
  });
}

/** Numbers the calls, so that an answer finds its question. */
function scheduledCaller(child: ChildProcess): () => Promise<void> {
  let calls = 0;
  return async () => {
    calls += 1;
    const call = calls;
    await new Promise<void>((resolve, reject) => {
      const finish = (failure?: EngineError): void => {
        child.off('message', onMessage);
        child.off('exit', onExit);
        if (failure === undefined) resolve();
        else reject(failure);
      };
      const onMessage = (message: FromChild): void => {
        if (message.tag === 'called' && message.call === call)
          finish(message.failure && raise(message.failure));
      };
      const onExit = (): void =>
        finish(new EngineError('RUNTIME_FAILED', "the runtime's process has ended"));
      child.on('message', onMessage);
      child.on('exit', onExit);
      child.send({ tag: 'scheduled', call } satisfies ToChild, (error) => {
        if (error !== null) onExit();
      });
    });
  };
}

/** When this process ends in a hurry, the group must not go on writing: what cleans up afterwards relies on it. */
function endWithThisProcess(child: ChildProcess, stateDir: string): void {
  const end = (): void => {
    const { pid } = child;
    if (pid === undefined) return;
    for (const id of [-pid, ...workerdProcesses(stateDir)]) {
      try {
        process.kill(id, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
    releaseLockOf(pid, stateDir);
  };
  // First of all listeners: others clean up where the group was writing.
  process.prependListener('exit', end);
  child.once('exit', () => process.off('exit', end));
}

/** startRuntime in another process. Takes the same options; local files stay reachable across a kill of the child. */
export async function spawnRuntime(options: RuntimeOptions): Promise<RuntimeProcess> {
  const stateDir = resolve(options.stateDir);
  const { localFiles, onLog, ...rest } = options;
  const files = localFiles && (await serveLocalFiles(localFiles));
  const passed: ChildOptions =
    files === undefined
      ? rest
      : { ...rest, localFilesAddress: { address: files.address, token: files.token } };
  // Its own group (detached), which kill() needs. It ends by itself when this process does: the IPC channel closes.
  const script = join(import.meta.dirname, 'runtime-child.ts');
  const child = fork(script, [], {
    detached: true,
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  endWithThisProcess(child, stateDir);
  void exited.then(() => files?.close());
  const report = onLog ?? logToStderr;
  child.on('message', (message: FromChild) => {
    if (message.tag === 'log') report(message.level, message.message);
  });
  const url = await ready(child, passed);
  const pid = child.pid as number;
  return {
    url,
    pid,
    workerdPid: () => workerdProcesses(stateDir)[0],
    fetch: (path, init) => fetch(new URL(path, `${url}/`), init),
    runScheduled: scheduledCaller(child),
    exited,
    async kill() {
      if (process.platform === 'win32') child.kill('SIGKILL');
      else if (isAlive(pid)) process.kill(-pid, 'SIGKILL');
      await exited;
      await killAndWait(workerdProcesses(stateDir));
    },
    async killWorkerd() {
      await killAndWait(workerdProcesses(stateDir));
    },
    async stop() {
      if (child.connected) child.send({ tag: 'stop' } satisfies ToChild);
      await exited;
    },
  };
}
