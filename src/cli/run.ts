/**
 * `thalweg run FILE.sql`: runs a SQL file to its end in embedded workerd, on the very same Worker and
 * Durable Objects that are deployed, and prints the rows of its bare SELECTs.
 *
 * Rows are printed when they are committed, so a run that is killed and continued (`--state`) or that
 * suffers `--chaos` prints each row once. `single_file` paths are files of this machine: sources are read
 * through a service binding, sinks are written when their epoch is committed. The text is planned and the
 * files are looked at in this process first, so a mistake is answered at once.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { EngineError, type ErrorReport } from '../base/errors.ts';
import type { SqlPlan } from '../graph/plan-sql.ts';
import { formatReport } from '../sql/diagnostics.ts';
import { ApiClient, type JobView, type PipelineView } from './api-client.ts';
import { wreakHavoc } from './chaos.ts';
import { CommittedOutput, FinalRows, PrintedMark } from './committed-output.ts';
import { bucketSinks, checkFiles, checkSources, filesWritten, planForRun } from './preflight.ts';
import { parseRunArguments, RUN_USAGE, type RunOptions } from './run-options.ts';
import { spawnRuntime, type RuntimeProcess } from './runtime-process.ts';
import { INTERRUPTED, onInterrupt } from './signals.ts';
import { note, onOutputClosed, print } from './terminal.ts';
import { replaceFile, serveFile } from './user-files.ts';
import { WrittenFiles } from './written-files.ts';

const POLL_MS = 100;
const CRON_MS = 2_000;
const BAD_ROWS_SHOWN = 5;
const ENDED = new Set(['Finished', 'Stopped', 'Failed']);

/** Answers the exit code. */
export async function run(argv: readonly string[]): Promise<number> {
  if (argv.includes('--help') || argv.includes('-h')) {
    print(RUN_USAGE);
    return 0;
  }
  const options = parseRunArguments(argv);
  const query = await readQuery(options.file);
  const checked = await preflight(options, query);
  if (checked === null) return 1;
  if (options.check || checked.explained) {
    const texts = checked.explained ? [checked.logical, checked.physical] : [checked.logical];
    print(
      texts
        .filter((text) => text !== '')
        .join('\n')
        .trimEnd(),
    );
    return 0;
  }
  const stateDir = options.stateDir ?? temporaryDirectory();
  const session = new RunSession(options, query, stateDir);
  try {
    return await session.run();
  } finally {
    await session.close();
  }
}

/** Deleted when the process ends, however it does: only SIGKILL leaves it behind. */
function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'thalweg-run-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }));
  return directory;
}

/** The plan, after everything there is to say about it; null when it cannot run. */
async function preflight(options: RunOptions, query: string): Promise<SqlPlan | null> {
  const plan = planForRun(query, options.parallelism);
  const say = (kind: 'error' | 'warning', report: ErrorReport): void =>
    note(`${options.file}${placeOf(report)}: ${kind}: ${formatReport(query, report, 'excerpt')}`);
  for (const warning of plan.warnings) say('warning', warning);
  const errors = [...plan.errors];
  // With --force another text than this one may be what runs: its files are looked at when it is known.
  if (!options.check && !options.force) errors.push(...(await refusals(options, query, plan)));
  for (const error of errors) say('error', error);
  return errors.length === 0 ? plan : null;
}

/** What speaks against running the program on this machine, and a word about sources that never end and output that is not kept. */
async function refusals(
  { stateDir, overwrite }: RunOptions,
  query: string,
  plan: SqlPlan,
): Promise<ErrorReport[]> {
  const { errors, endless } = checkSources(query, plan);
  const written = stateDir === null ? null : new WrittenFiles(stateDir);
  const mine = (path: string): boolean => overwrite || written?.has(path) === true;
  errors.push(...(await checkFiles(query, plan, mine)));
  if (errors.length === 0 && endless.length > 0)
    note(
      `thalweg: ${endless.join(', ')} never ${endless.length === 1 ? 'ends' : 'end'}: stop with Ctrl-C`,
    );
  const lost = stateDir === null ? bucketSinks(plan) : [];
  if (errors.length === 0 && lost.length > 0)
    note(
      `thalweg: what ${lost.join(', ')} writes is in the bucket of this run, which is deleted at its end: keep it with --state DIR and see it with thalweg dev --state DIR, or write to a single_file`,
    );
  return errors;
}

const placeOf = ({ span }: ErrorReport): string =>
  span === undefined ? '' : `:${span.start.line}:${span.start.column}`;

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
  #following = false;
  /** Rows were left out, and --strict asks for a failure then. */
  #unclean = false;
  readonly #written: WrittenFiles;

  constructor(options: RunOptions, query: string, stateDir: string) {
    this.#options = options;
    this.#query = query;
    this.#stateDir = stateDir;
    this.#written = new WrittenFiles(stateDir);
    this.#api = new ApiClient((path, init) => this.#fetch(path, init));
  }

  async run(): Promise<number> {
    onInterrupt(() => {
      // Nothing is committed before a pipeline runs: there is nothing to wait for.
      if (!this.#following) process.exit(INTERRUPTED);
      this.#interrupted = true;
      note('thalweg: stopping with a checkpoint; interrupt again to end at once');
    });
    onOutputClosed(() => (this.#interrupted = true));
    await this.#start();
    const pipeline = await this.#pipeline();
    this.#following = true;
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
      if ((await havoc) === 0 && this.#options.chaos !== null)
        note(`chaos ${this.#options.chaos}: the run ended before its first fault`);
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

  /** The pipeline of the state directory, started again, or a new one. */
  async #pipeline(): Promise<PipelineView> {
    const existing = (await this.#api.list()).find((pipeline) => pipeline.name === 'run');
    await this.#prepare(existing?.query ?? this.#query);
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
    return await this.#api.patch(existing.id, {
      stop: 'none',
      parallelism: this.#options.parallelism,
      checkpoint_interval_micros: this.#options.checkpointIntervalMs * 1000,
    });
  }

  /** @param query  what runs: that of the state if there is one */
  async #prepare(query: string): Promise<void> {
    const { file, force, parallelism } = this.#options;
    const differs = query !== this.#query;
    if (differs && !force) {
      throw new EngineError('CONFLICT', `the state in ${this.#stateDir} is of another query`, {
        hint: 'Choose another directory, or pass --force to go on with the query the state is of.',
      });
    }
    if (differs)
      note(
        `thalweg: ${file} is ignored: the query that the state in ${this.#stateDir} is of goes on`,
      );
    const plan = planForRun(query, parallelism);
    const [refused] = force ? await refusals(this.#options, query, plan) : [];
    if (refused !== undefined) {
      const { code, message, ...extras } = refused;
      throw new EngineError(code, message, extras);
    }
    this.#written.add(filesWritten(plan));
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
        if (job.state === 'Finished') await this.#patiently(() => this.#writeFiles(pipeline, true));
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

  /**
   * Copies the committed objects of `single_file` sinks to the files they stand for.
   *
   * @param atEnd  a sink that got no rows has no object: its file is made empty, so that an older result is not taken for this one's
   */
  async #writeFiles(pipeline: PipelineView, atEnd = false): Promise<void> {
    for (const sink of pipeline.sinks) {
      if (sink.connector !== 'single_file' || sink.path === null) continue;
      const bytes = await this.#api.object(sink.path);
      if (atEnd ? bytes === null : bytes !== null)
        await replaceFile(resolve(sink.path), bytes ?? new Uint8Array(0));
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
    const ofRows = messages.filter((message) => message.operator_id !== null).toReversed();
    const unknown = Math.max(0, errors - ofRows.length);
    if (unknown > 0 && ofRows.length > 0) note(`  … ${unknown} before these`);
    for (const { code, message, details } of ofRows.slice(0, BAD_ROWS_SHOWN))
      note(`  ${code}: ${message}${details === '' ? '' : `  ${details}`}`);
    const more = ofRows.length - BAD_ROWS_SHOWN;
    if (more > 0) note(`  … and ${more} more`);
    if (!this.#options.strict) return;
    this.#unclean = true;
    note('thalweg: --strict: rows that were left out make the run fail');
  }

  #conclude(job: JobView): number {
    if (job.state !== 'Failed') return this.#interrupted ? INTERRUPTED : this.#unclean ? 1 : 0;
    const failure = job.failure_reason;
    note(
      `thalweg: the pipeline failed: ${failure === null ? 'no reason is known' : `${failure.code}: ${failure.message}`}`,
    );
    for (const more of [failure?.detail, failure?.hint]) if (more !== undefined) note(`  ${more}`);
    return 1;
  }
}
