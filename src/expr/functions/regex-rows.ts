/** What the functions on regular expressions share: the pattern of each row, and matches one after the other. */
import type { Column, Int64Column, TextColumn } from '../../batch/column.ts';
import type { Problem, Regex } from '../regex/regex.ts';
import { compileRegex } from '../regex/regex.ts';
import { sequenceBytes, skipCodePoints, textAt } from '../text-sink.ts';
import type { Outcome } from '../vector.ts';
import { strideOf } from '../vector.ts';
import { int64AsNumber } from '../wide.ts';

/** The regular expression of each row, compiled once where pattern and flags are constant. */
export class Patterns {
  readonly #pattern: TextColumn;
  readonly #flags: TextColumn | null;
  readonly #always: string;
  #constant: Regex | Problem | null = null;

  /** @param always  flags that apply besides those of the column */
  constructor(pattern: Column, flags: Column | undefined, always = '') {
    this.#pattern = pattern as TextColumn;
    this.#flags = (flags as TextColumn | undefined) ?? null;
    this.#always = always;
    const isConstant = strideOf(pattern) === 0 && (flags === undefined || strideOf(flags) === 0);
    if (isConstant && pattern.validity === null) this.#constant = this.#compile(0);
  }

  #compile(row: number): Regex | Problem {
    return compileRegex(this.#text(this.#pattern, row), this.#always + this.flags(row));
  }

  #text(column: TextColumn, row: number): string {
    return textAt(column, row * strideOf(column));
  }

  /** The one of all rows, when there is one. */
  get constant(): Regex | null {
    return this.#constant === null || 'problem' in this.#constant ? null : this.#constant;
  }

  flags(row: number): string {
    return this.#flags === null ? '' : this.#text(this.#flags, row);
  }

  /** Null, and the row failed, when its pattern is none. */
  at(row: number, outcome: Outcome): Regex | null {
    const found = this.#constant ?? this.#compile(row);
    if (!('problem' in found)) return found;
    outcome.fail(row, 'PARSE_ERROR', () => found.problem);
    return null;
  }
}

/** Calls `each` with every match in turn until it gives false; empty matches advance by one character. */
export function eachMatch(
  regex: Regex,
  bytes: Uint8Array,
  from: number,
  to: number,
  start: number,
  each: (groups: Int32Array) => boolean,
): void {
  for (let at = start; at <= to;) {
    const groups = regex.exec(bytes, from, to, at);
    if (groups === null) return;
    const [first, end] = groups as unknown as [number, number];
    if (!each(groups)) return;
    at = end > first ? end : end + (end < to ? sequenceBytes(bytes[end] as number) : 1);
  }
}

/** A whole number argument of a row, or what it is when the argument is left out. */
export const optionalNumber = (
  column: Column | undefined,
  row: number,
  otherwise: number,
): number =>
  column === undefined
    ? otherwise
    : int64AsNumber((column as Int64Column).words, row * strideOf(column));

/** The byte of the character at position `start`, counted from 1. */
export const byteOfPosition = (
  bytes: Uint8Array,
  from: number,
  to: number,
  start: number,
): number => skipCodePoints(bytes, from, to, start - 1);
