/**
 * Ways to match the rows of one partition: the pattern's program run over them, all ways at once.
 *
 * Place in the walk: stage 6, under MATCH_RECOGNIZE; knows row numbers and times, nothing of columns. A *candidate* is
 * what may come of one first row. Its *threads* are the ways that are still open, the preferred first: a place in the
 * program, and which variable each row since the start was matched to, as runs of rows of one variable. Runs are shared
 * between threads and never change.
 *
 * Invariants: INV-86 a candidate's match is the one that trying the ways in their order of preference finds first;
 * candidates stand in the order of their first rows, and only the front one's match leaves. Nothing here depends on
 * when a row comes, only on the rows and their times.
 * Failure: none.
 */
import { assert, must } from '../base/assert.ts';
import type { MatchInstruction, MatchSkip } from '../expr/match.ts';

/** Rows from number `from` on are of the variable, up to the next run or the end. */
export type Run = { before: Run | null; variable: number; from: number };

/** @param at  a `match` instruction */
export type Thread = { at: number; run: Run | null };

export type Found = { run: Run; end: number };

export type Candidate = {
  start: number;
  startTime: number;
  threads: Thread[];
  /** The match so far: only threads that are preferred to it are left. */
  found: Found | null;
};

/** Stands for `accept` among the places that follow. */
const ACCEPT = -1;

export class MatchProgram {
  readonly #program: readonly MatchInstruction[];
  readonly #following: Int32Array[];
  readonly initial: Int32Array;
  /** 1: what may come depends on which rows were of the variable. */
  readonly #remembered: Uint8Array;
  readonly #remembers: boolean;
  readonly #stamps: Float64Array;
  #stamp = 0;

  /** @param remembered  variables whose rows conditions look back at */
  constructor(
    program: readonly MatchInstruction[],
    variables: number,
    remembered: Iterable<number>,
  ) {
    this.#program = program;
    this.initial = this.#closure(0);
    assert(!this.initial.includes(ACCEPT), 'a match has a row');
    this.#following = program.map((each, at) =>
      each.tag === 'match' ? this.#closure(at + 1) : new Int32Array(0),
    );
    this.#remembered = new Uint8Array(variables);
    for (const variable of remembered) this.#remembered[variable] = 1;
    this.#remembers = this.#remembered.includes(1);
    this.#stamps = new Float64Array(program.length);
  }

  variableAt(at: number): number {
    const instruction = this.#program[at];
    assert(instruction?.tag === 'match', 'a thread waits for a row');
    return instruction.variable;
  }

  /** Where a thread is without another row: the preferred first, up to the end of the pattern. */
  #closure(from: number): Int32Array {
    const places: number[] = [];
    const seen = new Set<number>();
    const visit = (at: number): void => {
      if (seen.has(at) || places.at(-1) === ACCEPT) return;
      seen.add(at);
      const instruction = must(this.#program[at], 'an instruction');
      if (instruction.tag === 'split') instruction.targets.forEach(visit);
      else places.push(instruction.tag === 'match' ? at : ACCEPT);
    };
    visit(from);
    return Int32Array.from(places);
  }

  begin(start: number, startTime: number): Candidate {
    const threads: Thread[] = [];
    for (const at of this.initial) threads.push({ at, run: null });
    return { start, startTime, threads, found: null };
  }

  /** The thread's runs with one more row. */
  extended(thread: Thread, row: number): Run {
    const variable = this.variableAt(thread.at);
    const { run } = thread;
    return run?.variable === variable ? run : { before: run, variable, from: row };
  }

  /**
   * Takes row `row` in.
   *
   * @param verdicts  of thread t at `first + t`: 1 when the row is of its variable, 2 when that cannot be told
   * @param failed  gets the place of each verdict 2, up to the first thread that is at the end of the pattern
   */
  advance(
    candidate: Candidate,
    row: number,
    verdicts: readonly number[],
    first: number,
    failed: (thread: Thread, place: number) => void,
  ): void {
    const { threads } = candidate;
    const next: Thread[] = [];
    const known = this.#remembers ? new Map<number, Thread[]>() : null;
    this.#stamp++;
    for (let index = 0; index < threads.length; index++) {
      const verdict = verdicts[first + index];
      if (verdict === 0) continue;
      const thread = threads[index] as Thread;
      if (verdict === 2) {
        failed(thread, first + index);
        continue;
      }
      const run = this.extended(thread, row);
      for (const at of this.#following[thread.at] as Int32Array) {
        if (at === ACCEPT) {
          candidate.found = { run, end: row };
          candidate.threads = next;
          return;
        }
        if (!this.#isKnown(at, run, candidate.start, row, known)) next.push({ at, run });
      }
    }
    candidate.threads = next;
  }

  /** Whether a preferred thread stands there too, with the same rows for all that conditions look at. */
  #isKnown(
    at: number,
    run: Run,
    start: number,
    row: number,
    known: Map<number, Thread[]> | null,
  ): boolean {
    if (known === null) {
      if (this.#stamps[at] === this.#stamp) return true;
      this.#stamps[at] = this.#stamp;
      return false;
    }
    const latest = this.#latest(run);
    const key = (latest === null ? 0 : latest.from - start + 1) * this.#program.length + at;
    const alike = known.get(key) ?? [];
    if (alike.some((thread) => this.#sameMemory(thread.run, run, row + 1))) return true;
    alike.push({ at, run });
    known.set(key, alike);
    return false;
  }

  #latest(run: Run | null): Run | null {
    let at = run;
    while (at !== null && this.#remembered[at.variable] === 0) at = at.before;
    return at;
  }

  #sameMemory(one: Run | null, other: Run | null, end: number): boolean {
    let [left, right] = [one, other];
    let [leftEnd, rightEnd] = [end, end];
    for (;;) {
      while (left !== null && this.#remembered[left.variable] === 0) {
        leftEnd = left.from;
        left = left.before;
      }
      while (right !== null && this.#remembered[right.variable] === 0) {
        rightEnd = right.from;
        right = right.before;
      }
      if (left === null || right === null) return left === right;
      if (leftEnd !== rightEnd) return false;
      if (left === right) return true;
      if (left.variable !== right.variable || left.from !== right.from) return false;
      leftEnd = left.from;
      rightEnd = right.from;
      left = left.before;
      right = right.before;
    }
  }
}

/** Where the next match may begin; always behind the first row of this one, so that matching goes on. */
export function resumeAfter({ start }: Candidate, { run, end }: Found, skip: MatchSkip): number {
  if (skip.tag === 'past_last') return end + 1;
  if (!('variable' in skip)) return start + 1;
  const { variable } = skip;
  const row =
    skip.tag === 'to_last' ? nthLast(run, end, variable, 0) : nthFirst(run, end, variable, 0);
  return Math.max(row, start + 1);
}

/** The row `offset` rows of the variable before its last one; -1: there is none. */
export function nthLast(run: Run | null, end: number, variable: number, offset: number): number {
  let left = offset;
  let last = end;
  for (let at = run; at !== null; at = at.before) {
    if (at.variable === variable) {
      const count = last - at.from + 1;
      if (left < count) return last - left;
      left -= count;
    }
    last = at.from - 1;
  }
  return -1;
}

/** The row `offset` rows of the variable behind its first one; -1: there is none. */
export function nthFirst(run: Run | null, end: number, variable: number, offset: number): number {
  let left = offset;
  const runs = runsOf(run);
  for (const [index, { variable: own, from }] of runs.entries()) {
    if (own !== variable) continue;
    const last = index + 1 < runs.length ? (runs[index + 1] as Run).from - 1 : end;
    if (from + left <= last) return from + left;
    left -= last - from + 1;
  }
  return -1;
}

/** The runs from the first row on. */
export function runsOf(run: Run | null): Run[] {
  const runs: Run[] = [];
  for (let at = run; at !== null; at = at.before) runs.push(at);
  return runs.reverse();
}
