/**
 * Plain Node: `node` reads in chunks and parses the lines of a chunk with one JSON.parse; `node-lines` is what one writes
 * first, readline and JSON.parse of each line.
 */
import { closeSync, createReadStream, openSync, readSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Job } from '../job.ts';
import type { Peer } from './engine.ts';
import { type Emit, ROW_PROGRAMS, type Row } from './row-programs.ts';

const CHUNK_BYTES = 256 * 1024;
const LINE_FEED = 10;
const COMMA = 44;
const OPEN = 91;
const CLOSE = 93;

export type ReadRows = (path: string, onRow: (row: Row) => void) => Promise<void>;

export const readLines: ReadRows = async (path, onRow) => {
  for await (const line of createInterface({ input: createReadStream(path) }))
    onRow(JSON.parse(line));
};

/** Whole lines of each chunk as one array, `[line,line]`. The data has a line feed behind every line and ASCII only. */
export const readChunks: ReadRows = async (path, onRow) => {
  const file = openSync(path, 'r');
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES * 2 + 1);
  buffer[0] = OPEN;
  let held = 0;
  try {
    for (;;) {
      const read = readSync(file, buffer, 1 + held, CHUNK_BYTES, null);
      if (read === 0) return;
      const end = 1 + held + read;
      const last = buffer.lastIndexOf(LINE_FEED, end - 1);
      const rest = Buffer.from(buffer.subarray(last + 1, end));
      for (let at = buffer.indexOf(LINE_FEED, 1); at < last; at = buffer.indexOf(LINE_FEED, at + 1))
        buffer[at] = COMMA;
      buffer[last] = CLOSE;
      for (const row of JSON.parse(buffer.toString('latin1', 0, last + 1)) as Row[]) onRow(row);
      rest.copy(buffer, 1);
      held = rest.length;
    }
  } finally {
    closeSync(file);
  }
};

async function evaluate(job: Job, directory: string, read: ReadRows, emit: Emit): Promise<void> {
  const make = ROW_PROGRAMS[job.name];
  if (make === undefined) throw new Error(`${job.name} has no program for Node`);
  const program = make(emit);
  for (const input of job.inputs.toReversed()) {
    const onRow = program.rows[input];
    if (onRow !== undefined) await read(`${directory}/${input}.ndjson`, onRow);
  }
  program.end();
}

export function node(read: ReadRows): Peer {
  let directory = '';
  return {
    prepare: async (_job, of) => {
      directory = of;
    },
    run: async (job) => {
      let rows = 0;
      await evaluate(job, directory, read, () => void rows++);
      return rows;
    },
    keep: async (job, path) => {
      const file = openSync(path, 'w');
      let lines = '';
      await evaluate(job, directory, read, (row) => {
        lines += `${JSON.stringify(row)}\n`;
        if (lines.length > CHUNK_BYTES) {
          writeSync(file, lines);
          lines = '';
        }
      });
      writeSync(file, lines);
      closeSync(file);
    },
  };
}
