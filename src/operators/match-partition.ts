/**
 * The rows of one partition that matches still need, and the candidates to match them.
 *
 * Place in the walk: stage 6, under MATCH_RECOGNIZE. Rows are numbered from 0 as they come in order; those kept are
 * neighbours. Failure: none.
 */
import { must } from '../base/assert.ts';
import type { MatchSkip } from '../expr/match.ts';
import {
  type Candidate,
  type Found,
  type Run,
  type Thread,
  resumeAfter,
  runsOf,
} from './match-threads.ts';

/** Gets each match of a partition: the candidate, what it found, its number from 1 and the time when it was certain. */
export type OnMatch = (
  partition: MatchPartition,
  candidate: Candidate,
  found: Found,
  number: number,
  time: number,
) => void;

export class MatchPartition {
  group: number;
  /** The number of the first row that is kept. */
  first = 0;
  /** Where the rows are in the store, and their event times. */
  slots: number[] = [];
  times: number[] = [];
  candidates: Candidate[] = [];
  /** How many have left. */
  matches = 0;

  constructor(group: number) {
    this.group = group;
  }

  /** The number of the next row. */
  get next(): number {
    return this.first + this.slots.length;
  }

  slotOf(row: number): number {
    return this.slots[row - this.first] as number;
  }

  timeOf(row: number): number {
    return this.times[row - this.first] as number;
  }

  add(slot: number, time: number): number {
    this.slots.push(slot);
    this.times.push(time);
    return this.next - 1;
  }

  /** Ends candidates whose time is over before `time`, and gives the matches that are certain by that. */
  expire(time: number, withinMicros: number, skip: MatchSkip, onMatch: OnMatch): void {
    for (let front = this.candidates[0]; front !== undefined; front = this.candidates[0]) {
      const until = front.startTime + withinMicros;
      if (until >= time) return;
      front.threads = [];
      this.settle(until, skip, onMatch);
    }
  }

  /** Gives the matches of candidates that are decided, up to the first that is not. */
  settle(time: number, skip: MatchSkip, onMatch: OnMatch): void {
    for (let front = this.candidates[0]; front !== undefined; front = this.candidates[0]) {
      if (front.threads.length > 0) return;
      this.candidates.shift();
      if (front.found === null) continue;
      this.matches++;
      onMatch(this, front, front.found, this.matches, time);
      const resume = resumeAfter(front, front.found, skip);
      this.candidates = this.candidates.filter(({ start }) => start >= resume);
    }
  }

  /** Drops candidates that came to nothing. */
  dropFailed(): void {
    if (this.candidates.some(isFailed))
      this.candidates = this.candidates.filter((candidate) => !isFailed(candidate));
  }

  threadCount(): number {
    let count = 0;
    for (const { threads } of this.candidates) count += threads.length;
    return count;
  }

  /** Forgets rows that no candidate needs; gives their slots. */
  trim(lookBack: number): number[] {
    const needed = (this.candidates[0]?.start ?? this.next) - lookBack;
    const count = Math.max(0, needed - this.first);
    if (count === 0) return [];
    this.first += count;
    this.times.splice(0, count);
    return this.slots.splice(0, count);
  }

  /** Candidates as JSON text. */
  candidatesText(): string {
    return JSON.stringify(
      this.candidates.map(({ start, startTime, threads, found }) => [
        start,
        startTime,
        threads.map(({ at, run }) => [at, ...flat(run)]),
        found === null ? null : [found.end, ...flat(found.run)],
      ]),
    );
  }

  restoreCandidates(text: string): void {
    const stored = JSON.parse(text) as [number, number, number[][], number[] | null][];
    this.candidates = stored.map(([start, startTime, threads, found]) => ({
      start,
      startTime,
      threads: threads.map(([at, ...runs]): Thread => ({ at: at as number, run: unflat(runs) })),
      found: found === null ? null : foundOf(found),
    }));
  }
}

const isFailed = ({ threads, found }: Candidate): boolean => threads.length === 0 && found === null;

const flat = (run: Run | null): number[] =>
  runsOf(run).flatMap(({ variable, from }) => [variable, from]);

function unflat(numbers: readonly number[]): Run | null {
  let run: Run | null = null;
  for (let at = 0; at < numbers.length; at += 2)
    run = { before: run, variable: numbers[at] as number, from: numbers[at + 1] as number };
  return run;
}

function foundOf([end, ...runs]: readonly number[]): Found {
  return { end: end as number, run: must(unflat(runs), 'the rows of a match') };
}
