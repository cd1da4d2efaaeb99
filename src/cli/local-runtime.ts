/**
 * Thalweg on this machine: the deployed Worker and Durable Objects in workerd, driven by Miniflare, with
 * D1, R2 and object storage kept in one directory.
 *
 * The Worker's bindings come from wrangler.toml (worker-options.ts), its code from bundle.ts; only what must
 * differ locally is added here. State survives a stop, a crash and a SIGKILL of any of the processes; a
 * state directory belongs to one runtime at a time (state-lock.ts).
 */
import { mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  convertV4MiniflareOptions,
  Miniflare,
  type V4MiniflareOptions,
  type V4WorkerOptions,
} from 'miniflare';
import { EngineError } from '../base/errors.ts';
import { bundleWorker, type Bundle } from './bundle.ts';
import { buildConsole } from './console.ts';
import {
  serveLocalFiles,
  TOKEN_HEADER,
  type LocalFilesAddress,
  type LocalFilesHandler,
} from './local-files-server.ts';
import { applyMigrations } from './migrate.ts';
import { STATE_MARKER, workerdProcesses } from './processes.ts';
import { usablePort } from './ports.ts';
import { PROJECT_ROOT, resourceDir } from './project.ts';
import { RevivalLog, revive } from './revival.ts';
import { explainStartupFailure } from './startup-failure.ts';
import { lockState } from './state-lock.ts';
import { isRuntimeChatter, note } from './terminal.ts';
import { workerdVersion } from './workerd-program.ts';
import { readWorkerDescription, type WorkerDescription } from './worker-options.ts';

export type RuntimeOptions = {
  /** Where D1, R2 and the objects live; made if absent. */
  stateDir: string;
  /** Listens there or fails. Default: `preferredPort` if that is free, else any that is. */
  port?: number;
  preferredPort?: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** Text bindings in addition to wrangler.toml's, and over them. */
  vars?: Record<string, string>;
  /** Sets THALWEG_TESTING to "1": routes that inject faults exist. */
  testing?: boolean;
  /** What answers the service binding LOCAL_FILES; without it the binding does not exist. */
  localFiles?: LocalFilesHandler;
  /** The same in another process; see serveLocalFiles. */
  localFilesAddress?: LocalFilesAddress;
  /** Folder with wrangler.toml and the sources; default: this installation. */
  root?: string;
  /** The caller handles SIGINT and SIGTERM. Otherwise either ends this process and workerd, as Miniflare does it. */
  handlesSignals?: boolean;
  /** Whether the caller is about to end it: workerd may then end as well, and nothing is said about that. */
  isEnding?: () => boolean;
  /** Builds the console when its sources have changed. Otherwise what was built last is served, if anything was. */
  console?: boolean;
  /** What the Worker logs. Default: warnings and errors go to stderr. */
  onLog?: (level: string, message: string) => void;
};

export type LocalRuntime = {
  /** Without a slash at the end. */
  url: string;
  stateDir: string;
  miniflare: Miniflare;
  /** Path relative to `url`. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  r2(): Promise<R2Bucket>;
  /** Calls the Worker's scheduled handler; throws what it threw. */
  runScheduled(): Promise<void>;
  /** Takes changed sources in; state, address and this object stay. False when nothing changed. */
  reload(): Promise<boolean>;
  workerdPid(): number | undefined;
  /** Ends workerd. Safe to call twice. */
  dispose(): Promise<void>;
};

type Setting = {
  root: string;
  host: string;
  port: number;
  stateDir: string;
  files: LocalFilesAddress | undefined;
  log: RevivalLog;
};

function logToStderr(level: string, message: string): void {
  if (level === 'error' || level === 'warn') note(message);
}

async function modulesOf(bundle: Bundle): Promise<NonNullable<V4WorkerOptions['modules']>> {
  return await Promise.all(
    bundle.modules.map(async ({ type, path }) =>
      type === 'ESModule'
        ? { type, path, contents: await readFile(path, 'utf8') }
        : { type, path, contents: new Uint8Array(await readFile(path)) },
    ),
  );
}

async function miniflareOptions(
  options: RuntimeOptions,
  setting: Setting,
  description: WorkerDescription,
  bundle: Bundle,
): Promise<V4MiniflareOptions> {
  const { host, port, stateDir, files } = setting;
  const onLog = options.onLog ?? logToStderr;
  const worker = description.options;
  const external = files && {
    LOCAL_FILES: {
      external: {
        address: files.address,
        http: { injectRequestHeaders: [{ name: TOKEN_HEADER, value: files.token }] },
      },
    },
  };
  return {
    ...worker,
    name: description.name,
    modules: await modulesOf(bundle),
    modulesRoot: bundle.directory,
    bindings: {
      ...worker.bindings,
      THALWEG_LOCAL: '1',
      THALWEG_CODE_VERSION: bundle.version,
      ...(options.testing === true ? { THALWEG_TESTING: '1' } : {}),
      ...options.vars,
    },
    serviceBindings: { ...worker.serviceBindings, ...external },
    host,
    port,
    resourcePersistencePath: resourceDir(stateDir),
    unsafeRuntimeEnv: { [STATE_MARKER]: stateDir },
    // Nothing is asked or told over the network: no lookup of a sample `cf` object, no telemetry.
    cf: false,
    telemetry: { enabled: false },
    log: setting.log,
    handleStructuredLogs: ({ level, message }) => {
      if (!isRuntimeChatter(message)) onLog(level, message);
    },
  } as V4MiniflareOptions;
}

/** Miniflare ends the process at a signal, in the middle of an orderly end; whoever handles signals must be alone in it. */
function withoutSignalHandlers<T>(make: () => T): T {
  const signals = ['SIGINT', 'SIGTERM'] as const;
  const before = signals.map((signal) => new Set(process.listeners(signal)));
  const made = make();
  signals.forEach((signal, index) => {
    for (const listener of process.listeners(signal)) {
      if (before[index]?.has(listener) === false) process.off(signal, listener);
    }
  });
  return made;
}

async function start(options: RuntimeOptions, setting: Setting): Promise<LocalRuntime> {
  const [description] = await Promise.all([readWorkerDescription(setting.root), workerdVersion()]);
  const [bundle] = await Promise.all([
    bundleWorker({ root: setting.root, entry: description.entry }),
    provideConsole(options, setting.root, description),
  ]);
  const configured = convertV4MiniflareOptions(
    await miniflareOptions(options, setting, description, bundle),
  );
  const miniflare =
    options.handlesSignals === true
      ? withoutSignalHandlers(() => new Miniflare(configured))
      : new Miniflare(configured);
  try {
    const url = (await miniflare.ready).href.replace(/\/$/, '');
    await migrate(miniflare, setting.root, description);
    const listening = { ...setting, port: Number(new URL(url).port) };
    let ended = false;
    setting.log.onRestartFailed = () => {
      void revive(
        () => reload(miniflare, options, listening),
        () => ended,
      ).catch((error: unknown) => note(`workerd cannot be started again: ${String(error)}`));
    };
    return {
      url,
      stateDir: setting.stateDir,
      miniflare,
      fetch: (path, init) => fetch(new URL(path, `${url}/`), init),
      r2: async () => (await miniflare.getR2Bucket('BUCKET')) as unknown as R2Bucket,
      runScheduled: () => runScheduled(miniflare, description.crons[0]),
      reload: () => reload(miniflare, options, listening),
      workerdPid: () => workerdProcesses(setting.stateDir)[0],
      dispose: () => {
        ended = true;
        return miniflare.dispose();
      },
    };
  } catch (error) {
    await miniflare.dispose().catch(() => undefined);
    throw error;
  }
}

async function migrate(
  miniflare: Miniflare,
  root: string,
  description: WorkerDescription,
): Promise<void> {
  for (const [binding, folder] of Object.entries(description.migrations)) {
    const database = (await miniflare.getD1Database(binding)) as unknown as D1Database;
    await applyMigrations(database, join(root, folder));
  }
}

async function reload(
  miniflare: Miniflare,
  options: RuntimeOptions,
  setting: Setting,
): Promise<boolean> {
  const description = await readWorkerDescription(setting.root);
  const [bundle, rebuilt] = await Promise.all([
    bundleWorker({ root: setting.root, entry: description.entry }),
    provideConsole(options, setting.root, description),
  ]);
  await miniflare.setOptions(
    convertV4MiniflareOptions(await miniflareOptions(options, setting, description, bundle)),
  );
  await migrate(miniflare, setting.root, description);
  return bundle.fresh || rebuilt;
}

/** Sees to it that the folder of the static assets is there, as Miniflare demands; true when it was built anew. */
async function provideConsole(
  options: RuntimeOptions,
  root: string,
  { options: { assets } }: WorkerDescription,
): Promise<boolean> {
  if (assets?.directory === undefined) return false;
  if (options.console === true) return await buildConsole(root, assets.directory);
  await mkdir(assets.directory, { recursive: true });
  return false;
}

async function runScheduled(miniflare: Miniflare, cron: string | undefined): Promise<void> {
  const worker = await miniflare.getWorker();
  const { outcome } = await worker.scheduled({
    scheduledTime: new Date(),
    ...(cron === undefined ? {} : { cron }),
  });
  if (outcome !== 'ok')
    throw new EngineError('INTERNAL', `the scheduled handler ended with "${outcome}"`);
}

/** Starts the runtime; resolves when it answers requests. Throws RUNTIME_FAILED, BUILD_FAILED or STATE_IN_USE. */
export async function startRuntime(options: RuntimeOptions): Promise<LocalRuntime> {
  const stateDir = resolve(options.stateDir);
  const root = resolve(options.root ?? PROJECT_ROOT);
  const host = options.host ?? '127.0.0.1';
  const unlock = await lockState(stateDir);
  const server =
    options.localFiles === undefined ? undefined : await serveLocalFiles(options.localFiles);
  const files = server ?? options.localFilesAddress;
  // Only now, because taking the lock may have ended a left-over workerd that held the port.
  const port =
    options.port ??
    (options.preferredPort === undefined ? 0 : await usablePort(host, options.preferredPort));
  const release = async (): Promise<void> => {
    await server?.close();
    unlock();
  };
  try {
    const runtime = await start(options, {
      root,
      host,
      port,
      stateDir,
      files,
      log: new RevivalLog(options.isEnding),
    });
    let ended: Promise<void> | undefined;
    const end = async (): Promise<void> => {
      await runtime.dispose();
      await release();
    };
    return { ...runtime, dispose: () => (ended ??= end()) };
  } catch (error) {
    await release();
    throw explainStartupFailure(error, host, port);
  }
}
