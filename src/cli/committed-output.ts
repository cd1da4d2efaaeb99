/**
 * What a run prints: the committed objects of its `stdout` sinks, in the order of epochs.
 *
 * Only epochs whose commit is complete are read, so what was printed is never taken back and never
 * printed twice, whatever was killed in between. A run that goes on from a state directory learns there how
 * far the one before it had printed: a file's name has the epoch its rows were staged for, and once an epoch
 * is committed, nothing staged for it or an earlier one is still to come.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stdoutPrefix } from '../connectors/stdout/sink.ts';
import type { ApiClient, PipelineView } from './api-client.ts';

/** Epoch in the name of an output object: `…/part-{epoch}-{subtask}-{index}-{writer}.ndjson`. */
const EPOCH_IN_NAME = /\/part-(\d+)-[^/]*$/;

export class CommittedOutput {
  readonly #api: ApiClient;
  readonly #pipeline: PipelineView;
  readonly #printed = new Set<string>();

  constructor(api: ApiClient, pipeline: PipelineView) {
    this.#api = api;
    this.#pipeline = pipeline;
  }

  /** Lines of epochs up to `epoch` that have not been given yet, with the sink's table and their epoch. */
  async take(epoch: number): Promise<{ table: string; epoch: number; lines: string[] }[]> {
    const tables = this.#pipeline.sinks
      .filter((sink) => sink.connector === 'stdout')
      .map((sink) => sink.table);
    const found: { key: string; epoch: number; table: string }[] = [];
    for (const table of tables) {
      for (const { key } of await this.#api.objects(stdoutPrefix(this.#pipeline.id, table))) {
        const number = Number(EPOCH_IN_NAME.exec(key)?.[1] ?? Number.NaN);
        if (number <= epoch && !this.#printed.has(key)) found.push({ key, epoch: number, table });
      }
    }
    found.sort((left, right) => left.epoch - right.epoch || (left.key < right.key ? -1 : 1));
    const output: { table: string; epoch: number; lines: string[] }[] = [];
    for (const { key, epoch: staged, table } of found) {
      const bytes = await this.#api.object(key);
      if (bytes === null) continue;
      this.#printed.add(key);
      const lines = new TextDecoder().decode(bytes).split('\n');
      if (lines.at(-1) === '') lines.pop();
      output.push({ table, epoch: staged, lines });
    }
    return output;
  }
}

/** How far a state directory's pipeline has been printed: kept beside its state, written after the rows. */
export class PrintedMark {
  readonly #path: string;
  readonly #pipelineId: string;

  constructor(stateDir: string, pipelineId: string) {
    this.#path = join(stateDir, 'printed.json');
    this.#pipelineId = pipelineId;
  }

  /** The last epoch that was printed whole; -1 when none was. */
  async read(): Promise<number> {
    try {
      const mark = JSON.parse(await readFile(this.#path, 'utf8')) as {
        pipeline?: unknown;
        epoch?: unknown;
      };
      return mark.pipeline === this.#pipelineId && typeof mark.epoch === 'number' ? mark.epoch : -1;
    } catch {
      // None, or not ours: better to print rows again than never.
      return -1;
    }
  }

  async write(epoch: number): Promise<void> {
    await writeFile(
      `${this.#path}.partial`,
      `${JSON.stringify({ pipeline: this.#pipelineId, epoch })}\n`,
    );
    await rename(`${this.#path}.partial`, this.#path);
  }
}

/**
 * Folds a changelog of `{"before":…,"after":…,"op":…}` lines into the rows that remain.
 * Rows are compared and kept as text, so no digit is lost.
 */
export class FinalRows {
  readonly #counts = new Map<string, number>();

  add(line: string): void {
    const { before, after } = splitChange(line);
    if (before !== 'null') this.#change(before, -1);
    if (after !== 'null') this.#change(after, 1);
  }

  /** In the order in which each row's text last appeared first. */
  rows(): string[] {
    return [...this.#counts].flatMap(([row, count]) => Array.from({ length: count }, () => row));
  }

  #change(row: string, by: number): void {
    const count = (this.#counts.get(row) ?? 0) + by;
    if (count === 0) this.#counts.delete(row);
    else this.#counts.set(row, count);
  }
}

const BEFORE = '{"before":';
const AFTER = ',"after":';

/** The JSON texts of both images of a change line. */
export function splitChange(line: string): { before: string; after: string } {
  const beforeEnd = jsonEnd(line, BEFORE.length);
  const afterStart = beforeEnd + AFTER.length;
  return {
    before: line.slice(BEFORE.length, beforeEnd),
    after: line.slice(afterStart, jsonEnd(line, afterStart)),
  };
}

/** Index behind the JSON value that begins at `start`: an object, or null. */
function jsonEnd(line: string, start: number): number {
  if (line.startsWith('null', start)) return start + 4;
  let depth = 0;
  let quoted = false;
  for (let at = start; at < line.length; at++) {
    const char = line[at];
    if (quoted) {
      if (char === '\\') at++;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === '{') depth++;
    else if (char === '}' && --depth === 0) return at + 1;
  }
  return line.length;
}
