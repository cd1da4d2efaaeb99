/**
 * `npm run dev`: the local runtime with everything that Cloudflare does around it: the cron clock, and a
 * reload when the sources change. State stays in `.thalweg/state` until `--reset`.
 */
import { rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { EngineError } from '../base/errors.ts';
import { startCronTicker } from './cron-ticker.ts';
import { startRuntime, type LocalRuntime } from './local-runtime.ts';
import { USUAL_PORT } from './ports.ts';
import { PROJECT_ROOT, workDir } from './project.ts';
import { INTERRUPTED, onInterrupt } from './signals.ts';
import { lockState } from './state-lock.ts';
import { watchSources } from './source-watcher.ts';
import { note, print, printFailure } from './terminal.ts';

export const DEV_USAGE = `thalweg dev [--port N] [--state DIR] [--reset] [--host ADDRESS]
  --port N        listen there, or fail (default: ${USUAL_PORT}, or a free one if it is taken)
  --state DIR     where state is kept across restarts (default: .thalweg/state)
  --reset         begin with empty state
  --host ADDRESS  default 127.0.0.1: this machine only`;

type DevOptions = {
  port: number | undefined;
  stateDir: string;
  reset: boolean;
  host: string;
  root: string;
};

function parsePort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw new EngineError('INVALID_OPTION', `--port ${text} is not a port`, {
    hint: 'A port is a number from 1 to 65535.',
  });
}

export function parseDevArguments(argv: readonly string[]): DevOptions {
  let values;
  try {
    ({ values } = parseArgs({
      args: [...argv],
      options: {
        port: { type: 'string' },
        state: { type: 'string' },
        reset: { type: 'boolean' },
        host: { type: 'string' },
        root: { type: 'string' },
      },
    }));
  } catch (error) {
    throw new EngineError('INVALID_OPTION', (error as Error).message, { hint: DEV_USAGE });
  }
  const root = resolve(values.root ?? PROJECT_ROOT);
  return {
    port: values.port === undefined ? undefined : parsePort(values.port),
    stateDir: resolve(values.state ?? join(workDir(root), 'state')),
    reset: values.reset ?? false,
    host: values.host ?? '127.0.0.1',
    root,
  };
}

/** Deletes the state, but only when nobody runs on it, and nothing but what the runtime itself makes there. */
async function resetState(stateDir: string): Promise<void> {
  const unlock = await lockState(stateDir);
  rmSync(join(stateDir, 'v3'), { recursive: true, force: true });
  unlock();
}

function announce(runtime: LocalRuntime, anyPort: boolean): void {
  const shown = relative(process.cwd(), runtime.stateDir);
  if (anyPort && new URL(runtime.url).port !== String(USUAL_PORT))
    note(`port ${USUAL_PORT} is taken: another is used`);
  print(`API      ${runtime.url}/api/v1`);
  print(`Console  ${runtime.url}/`);
  print(`State    ${shown.startsWith('..') || shown === '' ? runtime.stateDir : shown}`);
}

/** Takes changes in one after another; a build that fails leaves the running code as it is. */
function reloader(runtime: LocalRuntime): () => void {
  let turn = Promise.resolve();
  return () => {
    turn = turn.then(async () => {
      try {
        if (await runtime.reload()) note(`reloaded ${new Date().toLocaleTimeString()}`);
      } catch (error) {
        printFailure(error);
      }
    });
  };
}

/** A signal may reach workerd before it reaches us: what fails is judged when ours has surely come. */
const SIGNAL_LATE_MS = 300;

/** Runs until a signal; answers the exit code. */
export async function dev(argv: readonly string[]): Promise<number> {
  const options = parseDevArguments(argv);
  const { root, host, stateDir } = options;
  // Listening before anything else starts: Ctrl-C during the start ends cleanly too.
  let interrupted = false;
  const signalled = new Promise<void>((done) =>
    onInterrupt(() => {
      interrupted = true;
      done();
    }),
  );
  if (options.reset) await resetState(stateDir);
  const address =
    options.port === undefined ? { preferredPort: USUAL_PORT } : { port: options.port };
  const starting = startRuntime({
    stateDir,
    host,
    root,
    handlesSignals: true,
    console: true,
    isEnding: () => interrupted,
    ...address,
  });
  const runtime = await starting.catch(async (error: unknown) => {
    // Ctrl-C in a terminal also ends the workerd that is starting; that it did not start is then no failure.
    await pause(SIGNAL_LATE_MS);
    if (interrupted) return null;
    throw error;
  });
  if (runtime === null || interrupted) {
    await runtime?.dispose();
    return INTERRUPTED;
  }
  announce(runtime, options.port === undefined);
  const ticker = startCronTicker(
    () => runtime.runScheduled(),
    async (error) => {
      // Ctrl-C in a terminal ends workerd as well: a tick that is under way then fails, and that is no news.
      await pause(SIGNAL_LATE_MS);
      if (!interrupted) printFailure(error);
    },
  );
  const watcher = watchSources(root, reloader(runtime));
  await signalled;
  watcher.close();
  ticker.close();
  await runtime.dispose();
  return 0;
}
