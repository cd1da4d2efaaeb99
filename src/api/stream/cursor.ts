/**
 * Where a reader of a pipeline's events stands: the id of every event, and what it comes back with.
 *
 * It holds which version of each topic the reader has (a hash), up to where the history and the error rows are sent, and the
 * next row of every subtask whose output is read. A cursor that nobody here has written reads as the beginning.
 */
import { hashBytes } from '../../base/hash.ts';

/** Topics that are sent whole whenever they change. */
export const VERSIONED = ['status', 'health', 'lineage'] as const;
export type VersionedTopic = (typeof VERSIONED)[number];

export type Cursor = {
  versions: Map<VersionedTopic, string>;
  /** The newest point that was sent, in microseconds; null: none. */
  historyMicros: number | null;
  /** By keeper of rows that went wrong: the number of the newest that was sent. */
  errors: Map<string, number>;
  /** By `generation/operator/subtask`: the number of the next row. */
  output: Map<string, number>;
};

export const newCursor = (): Cursor => ({
  versions: new Map(),
  historyMicros: null,
  errors: new Map(),
  output: new Map(),
});

/** Eight bytes of hash, for texts that are to be told apart. */
export function versionOf(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return [0, 1].map((seed) => hashBytes(bytes, 0, bytes.length, seed).toString(36)).join('.');
}

/** `status=…;health=…;lineage=…;history=…;errors=g3:17,source-1.0:4;output=3/sink-2/0:12`: numbers to the base 36. */
export function encodeCursor(cursor: Cursor): string {
  const parts = [...cursor.versions].map(([topic, version]) => `${topic}=${version}`);
  if (cursor.historyMicros !== null) parts.push(`history=${cursor.historyMicros.toString(36)}`);
  if (cursor.errors.size > 0) parts.push(`errors=${encodeNumbers(cursor.errors)}`);
  if (cursor.output.size > 0) parts.push(`output=${encodeNumbers(cursor.output)}`);
  return parts.join(';');
}

export function decodeCursor(text: string): Cursor {
  const cursor = newCursor();
  for (const part of text.split(';')) {
    const at = part.indexOf('=');
    const name = part.slice(0, Math.max(0, at));
    const value = part.slice(at + 1);
    const topic = VERSIONED.find((versioned) => versioned === name);
    if (topic !== undefined) cursor.versions.set(topic, value);
    else if (name === 'history') cursor.historyMicros = numberOf(value);
    else if (name === 'errors') cursor.errors = decodeNumbers(value);
    else if (name === 'output') cursor.output = decodeNumbers(value);
  }
  return cursor;
}

const encodeNumbers = (numbers: ReadonlyMap<string, number>): string =>
  [...numbers].map(([key, number]) => `${key}:${number.toString(36)}`).join(',');

function decodeNumbers(text: string): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const entry of text.split(',')) {
    const at = entry.lastIndexOf(':');
    const number = at <= 0 ? null : numberOf(entry.slice(at + 1));
    if (number !== null) numbers.set(entry.slice(0, at), number);
  }
  return numbers;
}

function numberOf(text: string): number | null {
  const number = /^[0-9a-z]{1,11}$/.test(text) ? Number.parseInt(text, 36) : NaN;
  return Number.isSafeInteger(number) ? number : null;
}
