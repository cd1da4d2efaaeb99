/**
 * `thalweg run FILE.sql`: runs a SQL file to its end in embedded workerd, on the very same Worker and
 * Durable Objects that are deployed, and prints the rows of its bare SELECTs.
 *
 * Rows are printed when they are committed, so a run that is killed and continued (`--state`) or that
 * suffers `--chaos` prints each row once. `single_file` paths are files of this machine: sources are read
 * through a service binding, sinks are written when their epoch is committed.
 */
import { mkdir, mkdtemp, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { EngineError, type ErrorReport } from '../base/errors.ts';
import { formatReport } from '../sql/diagnostics.ts';
import { ApiClient, type JobView, type PipelineView } from './api-client.ts';
import { wreakHavoc } from './chaos.ts';
import { CommittedOutput, FinalRows, PrintedMark } from './committed-output.ts';
import { spawnRuntime, type RuntimeProcess } from './runtime-process.ts';
import { note, print } from './terminal.ts';

export const RUN_USAGE = `thalweg run FILE.sql | -   (- reads the SQL from stdin)
  --parallelism N            subtasks of every operator (default 1)
  --checkpoint-interval T    as 10s, 500ms, 2m (default 10s)
  --batch-size N             rows per batch (default 2048)
  --final                    print the final rows of updating results instead of their changes
  --state DIR                keep state there, and go on from it (default: none is kept)
  --chaos SEED               reset hosts, leader and process at moments drawn from SEED
  --force                    with --state: the SQL may differ from the one the state is of`;

type RunOptions = {
  file: string;
  parallelism: number;
  checkpointIntervalMs: number;
  batchRows: number | null;
  final: boolean;
  stateDir: string | null;
  chaos: string | null;
  force: boolean;
};

const POLL_MS = 100;
const CRON_MS = 2_000;
const BAD_ROWS_SHOWN = 5;
const ENDED = new Set(['Finished', 'Stopped', 'Failed']);

export function parseRunArguments(argv: readonly string[]): RunOptions {
  let parsed;
  try {
    parsed = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        parallelism: { type: 'string', short: 'p', default: '1' },
        'checkpoint-interval': { type: 'string', default: '10s' },
        'batch-size': { type: 'string' },
        final: { type: 'boolean', default: false },
        state: { type: 'string', short: 's' },
        chaos: { type: 'string' },
        force: { type: 'boolean', short: 'f', default: false },
      },
    });
  } catch (error) {
    throw new EngineError('INVALID_OPTION', (error as Error).message, { hint: RUN_USAGE });
  }
  const { values, positionals } = parsed;
  const [file, extra] = positionals;
  if (file === undefined || extra !== undefined) {
    throw new EngineError('INVALID_OPTION', 'run takes one SQL file', { hint: RUN_USAGE });
  }
  return {
    file,
    parallelism: wholeNumber('--parallelism', values.parallelism, 1),
    checkpointIntervalMs: duration(values['checkpoint-interval']),
    batchRows:
      values['batch-size'] === undefined
        ? null
        : wholeNumber('--batch-size', values['batch-size'], 1),
    final: values.final,
    stateDir: values.state === undefined ? null : resolve(values.state),
    chaos: values.chaos ?? null,
    force: values.force,
  };
}

function wholeNumber(name: string, given: string, least: number): number {
  const value = Number(given);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new EngineError(
    'INVALID_OPTION',
    `${name} ${given} is not a whole number of at least ${least}`,
  );
}

const UNITS_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

function duration(given: string): number {
  const match = /^(\d+)(ms|s|m|h)$/.exec(given);
  if (match === null) {
    throw new EngineError('INVALID_OPTION', `${given} is not a duration`, {
      hint: 'Write it as 500ms, 10s, 2m or 1h.',
    });
  }
  return Number(match[1]) * (UNITS_MS[match[2] as string] as number);
}

/** Answers the exit code. */
export async function run(argv: readonly string[]): Promise<number> {
  if (argv.includes('--help') || argv.includes('-h')) {
    print(RUN_USAGE);
    return 0;
  }
  const options = parseRunArguments(argv);
  const query = await readQuery(options.file);
  const stateDir = options.stateDir ?? (await mkdtemp(join(tmpdir(), 'thalweg-run-')));
  const session = new RunSession(options, query, stateDir);
  try {
    return await session.run();
  } finally {
    await session.close();
    if (options.stateDir === null) await rm(stateDir, { recursive: true, force: true });
  }
}

async function readQuery(file: string): Promise<string> {
  if (file === '-') return await text(process.stdin);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new EngineError('NOT_FOUND', `cannot read ${file}`, { detail: (error as Error).message });
  }
}

class RunSession {
  readonly #options: RunOptions;
  readonly #query: string;
  readonly #stateDir: string;
  #runtime: RuntimeProcess | null = null;
  #api: ApiClient;
  #port = 0;
  /** Settles when a restart of the process that is under way has ended. */
  #restarting: Promise<void> = Promise.resolve();
  #interrupted = false;

  constructor(options: RunOptions, query: string, stateDir: string) {
    this.#options = options;
    this.#query = query;
    this.#stateDir = stateDir;
    this.#api = new ApiClient((path, init) => this.#fetch(path, init));
  }

  async run(): Promise<number> {
    await this.#start();
    if (!(await this.#isValid())) return 1;
    const pipeline = await this.#pipeline();
    const onSignal = (): void => {
      if (this.#interrupted) process.exit(130);
      this.#interrupted = true;
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
    const cron = setInterval(
      () => void this.#runtime?.runScheduled().catch(() => undefined),
      CRON_MS,
    );
    let ended = false;
    const havoc =
      this.#options.chaos === null
        ? Promise.resolve(0)
        : wreakHavoc(this.#options.chaos, this.#havocOn(pipeline), () => ended);
    try {
      const job = await this.#follow(pipeline);
      ended = true;
      await havoc;
      await this.#tellOfBadRows(pipeline, job);
      return this.#conclude(job);
    } finally {
      ended = true;
      clearInterval(cron);
    }
  }

  async close(): Promise<void> {
    await this.#restarting.catch(() => undefined);
    await this.#runtime?.stop();
  }

  async #start(): Promise<void> {
    this.#runtime = await spawnRuntime({
      stateDir: this.#stateDir,
      ...(this.#port === 0 ? {} : { port: this.#port }),
      localFiles: serveFile,
      onLog: (level, message) => {
        if (level === 'error' && this.#options.chaos === null) note(message);
      },
    });
    this.#port = Number(new URL(this.#runtime.url).port);
  }

  async #fetch(path: string, init?: RequestInit): Promise<Response> {
    await this.#restarting;
    if (this.#runtime === null)
      throw new EngineError('RUNTIME_FAILED', 'the runtime is not running');
    return await this.#runtime.fetch(path, init);
  }

  async #isValid(): Promise<boolean> {
    const { errors, warnings } = await this.#api.validate(this.#query);
    for (const warning of warnings) this.#printReport('warning', warning);
    for (const error of errors) this.#printReport('error', error);
    return errors.length === 0;
  }

  #printReport(kind: 'error' | 'warning', report: ErrorReport): void {
    const place =
      report.span === undefined ? '' : `:${report.span.start.line}:${report.span.start.column}`;
    note(`${this.#options.file}${place}: ${kind}: ${formatReport(this.#query, report)}`);
  }

  /** The pipeline of the state directory, started again, or a new one. */
  async #pipeline(): Promise<PipelineView> {
    const existing = (await this.#api.list()).find((pipeline) => pipeline.name === 'run');
    if (existing === undefined) {
      const { parallelism, checkpointIntervalMs, batchRows } = this.#options;
      return await this.#api.create({
        name: 'run',
        query: this.#query,
        parallelism,
        checkpoint_interval_micros: checkpointIntervalMs * 1000,
        default_sink: 'stdout',
        ...(batchRows === null ? {} : { batch_rows: batchRows }),
      });
    }
    if (existing.query !== this.#query && !this.#options.force) {
      throw new EngineError('CONFLICT', `the state in ${this.#stateDir} is of another query`, {
        hint: 'Choose another directory, or pass --force to go on with the query the state is of.',
      });
    }
    return await this.#api.patch(existing.id, {
      stop: 'none',
      parallelism: this.#options.parallelism,
    });
  }

  /** Prints what is committed until the job has ended. */
  async #follow(pipeline: PipelineView): Promise<JobView> {
    const output = new CommittedOutput(this.#api, pipeline);
    const mark = new PrintedMark(this.#stateDir, pipeline.id);
    const printedBefore = await mark.read();
    const finals = new Map<string, FinalRows>();
    let shown = -1;
    let stopping = false;
    for (;;) {
      const job = await this.#patiently(() => this.#api.job(pipeline.id));
      if (this.#interrupted && !stopping) {
        stopping = true;
        await this.#patiently(() => this.#api.patch(pipeline.id, { stop: 'checkpoint' }));
      }
      // Rows that came between two attempts of one checkpoint are named after the epoch behind it; at the end none comes.
      const last = job.state === 'Finished' ? job.committed_epoch + 1 : job.committed_epoch;
      if (last > shown) {
        await this.#patiently(async () => {
          for (const { table, epoch, lines } of await output.take(last))
            this.#printLines(pipeline, table, lines, epoch <= printedBefore, finals);
          await this.#writeFiles(pipeline);
        });
        await mark.write(Math.max(last, printedBefore));
        shown = last;
        if (process.stderr.isTTY)
          note(`epoch ${job.epoch} committed, generation ${job.run_id}, ${job.state}`);
      }
      if (ENDED.has(job.state)) {
        for (const rows of finals.values()) for (const row of rows.rows()) print(row);
        return job;
      }
      await new Promise((resolveAfter) => setTimeout(resolveAfter, POLL_MS));
    }
  }

  #printLines(
    pipeline: PipelineView,
    table: string,
    lines: readonly string[],
    printed: boolean,
    finals: Map<string, FinalRows>,
  ): void {
    const updating = pipeline.sinks.find((sink) => sink.table === table)?.updating ?? false;
    if (!updating || !this.#options.final) {
      for (const line of printed ? [] : lines) print(line);
      return;
    }
    // Final rows are those of all changes, also of what an earlier run has seen.
    let rows = finals.get(table);
    if (rows === undefined) {
      rows = new FinalRows();
      finals.set(table, rows);
    }
    for (const line of lines) rows.add(line);
  }

  /** Copies the committed objects of `single_file` sinks to the files they stand for. */
  async #writeFiles(pipeline: PipelineView): Promise<void> {
    for (const sink of pipeline.sinks) {
      if (sink.connector !== 'single_file' || sink.path === null) continue;
      const bytes = await this.#api.object(sink.path);
      if (bytes === null) continue;
      const path = resolve(sink.path);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(`${path}.thalweg-partial`, bytes);
      await rename(`${path}.thalweg-partial`, path);
    }
  }

  /** Under chaos the runtime is down now and then: a call that fails is made again. */
  async #patiently<T>(call: () => Promise<T>): Promise<T> {
    const patience = this.#options.chaos === null ? 3 : 300;
    for (let attempt = 1; ; attempt++) {
      try {
        return await call();
      } catch (thrown) {
        if (attempt === patience) throw thrown;
        await new Promise((resolveAfter) => setTimeout(resolveAfter, POLL_MS));
      }
    }
  }

  #havocOn(pipeline: PipelineView): Parameters<typeof wreakHavoc>[1] {
    return {
      api: () => this.#api,
      pipelineId: pipeline.id,
      parallelism: this.#options.parallelism,
      restartProcess: async () => {
        this.#restarting = (async () => {
          await this.#runtime?.kill();
          await this.#start();
        })();
        await this.#restarting;
      },
      killWorkerd: async () => await this.#runtime?.killWorkerd(),
      note,
    };
  }

  /** Rows that were left out are no failure of the run, but nobody should have to look for them. */
  async #tellOfBadRows(pipeline: PipelineView, job: JobView): Promise<void> {
    const { errors, late } = job.rows ?? { errors: 0, late: 0 };
    if (errors + late === 0) return;
    const parts = [errors > 0 ? `${errors} bad` : '', late > 0 ? `${late} late` : ''].filter(
      (part) => part !== '',
    );
    note(`thalweg: ${parts.join(' and ')} of ${job.rows?.in} rows were left out`);
    const messages = await this.#patiently(() => this.#api.errors(pipeline.id, job.id));
    for (const { code, message, details } of messages.slice(0, BAD_ROWS_SHOWN))
      note(`  ${code}: ${message}${details === '' ? '' : `  ${details}`}`);
  }

  #conclude(job: JobView): number {
    if (job.state !== 'Failed') return this.#interrupted ? 130 : 0;
    const failure = job.failure_reason;
    note(
      `thalweg: the pipeline failed: ${failure === null ? 'no reason is known' : `${failure.code}: ${failure.message}`}`,
    );
    for (const more of [failure?.detail, failure?.hint]) if (more !== undefined) note(`  ${more}`);
    return 1;
  }
}

/** Answers a source's range read of a file of this machine. */
async function serveFile(request: Request): Promise<Response> {
  const { searchParams } = new URL(request.url);
  const path = searchParams.get('path') ?? '';
  const offset = Number(searchParams.get('offset') ?? 0);
  const length = Number(searchParams.get('length') ?? 0);
  let file;
  try {
    file = await open(resolve(path), 'r');
  } catch (error) {
    return new Response((error as Error).message, { status: 404 });
  }
  try {
    const { size } = await file.stat();
    const bytes = new Uint8Array(Math.max(0, Math.min(length, size - offset)));
    const { bytesRead } = await file.read(bytes, 0, bytes.byteLength, offset);
    return new Response(bytes.subarray(0, bytesRead), { headers: { 'x-file-size': String(size) } });
  } finally {
    await file.close();
  }
}
