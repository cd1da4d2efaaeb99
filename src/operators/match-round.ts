/**
 * Takes the rows that are due through the pattern, the n-th row of every partition at once.
 *
 * Place in the walk: stage 6, under MATCH_RECOGNIZE. Partitions do not depend on each other, so that one evaluation
 * answers for the open threads of all of them. Per round: candidates whose time is over end, the row begins a candidate of
 * its own, conditions are asked for every thread, the candidates advance, and decided ones leave.
 * Failure: a row that a condition cannot be computed for is reported once for each variable that asked for it; candidates
 * beyond the bound on open ways are given up, the oldest first, and reported with their first row.
 */
import { LIMITS } from '../base/limits.ts';
import type { RowError } from '../expr/row-errors.ts';
import type { MatchShape } from '../expr/match.ts';
import type { RowStore } from '../state/row-store.ts';
import { MatchConditions, NO, verdictsOf, YES, type Verdicts } from './match-conditions.ts';
import type { MatchPartition, OnMatch } from './match-partition.ts';
import { MatchProgram, type Candidate, type Thread } from './match-threads.ts';
import { MatchCases } from './match-values.ts';

/** One partition's new rows, by number. */
export type Arrivals = { partition: MatchPartition; from: number; to: number };

export type MatchEvents = {
  /** A match that is certain. */
  match: OnMatch;
  /** A row of a partition that could not be used. */
  fail: (partition: MatchPartition, row: number, error: Omit<RowError, 'row'>) => void;
};

/** Asked of a thread; the verdicts of a round stand in one list, in the order of partitions, candidates and threads. */
type Asked = { cases: MatchCases; places: number[] };

export class MatchRounds {
  readonly #shape: MatchShape;
  readonly #conditions: MatchConditions;
  readonly #program: MatchProgram;
  readonly #store: RowStore;

  constructor(shape: MatchShape, store: RowStore, timeColumn: number) {
    this.#shape = shape;
    this.#conditions = new MatchConditions(shape, timeColumn);
    this.#program = new MatchProgram(
      shape.program,
      shape.variables.length,
      this.#conditions.remembered,
    );
    this.#store = store;
  }

  run(arrivals: readonly Arrivals[], events: MatchEvents): void {
    const nearby = this.#askNearby(arrivals);
    let open = arrivals.map((each, at) => ({ ...each, at }));
    for (let round = 0; open.length > 0; round++) {
      this.#round(open, round, nearby, events);
      open = open.filter(({ from, to }) => from + round + 1 < to);
    }
  }

  /** What every new row is by itself, by variable; row n of arrivals k is at `starts[k] + n`. */
  #askNearby(arrivals: readonly Arrivals[]): Nearby {
    const cases = new MatchCases();
    const starts: number[] = [];
    for (const { partition, from, to } of arrivals) {
      starts.push(cases.count);
      for (let row = from; row < to; row++) cases.add(partition, null, row, row, 0);
    }
    const byVariable = this.#conditions.nearby.map((values) =>
      values === null ? null : verdictsOf(values, cases, this.#store),
    );
    return { starts, byVariable };
  }

  #round(
    open: readonly (Arrivals & { at: number })[],
    round: number,
    nearby: Nearby,
    events: MatchEvents,
  ): void {
    const { skip, withinMicros, variables } = this.#shape;
    const asked = variables.map((): Asked => ({ cases: new MatchCases(), places: [] }));
    const verdicts: number[] = [];
    for (const { partition, from, at } of open) {
      const row = from + round;
      const time = partition.timeOf(row);
      if (withinMicros !== null) partition.expire(time, withinMicros, skip, events.match);
      const place = (nearby.starts[at] as number) + round;
      if (this.#mayBegin(place, nearby)) partition.candidates.push(this.#program.begin(row, time));
      for (const candidate of partition.candidates)
        this.#ask({ partition, candidate, row }, place, nearby, asked, verdicts);
    }
    const why = this.#answer(asked, verdicts);
    this.#advance(open, round, { verdicts, why, nearby }, events);
  }

  /** Whether the row may be of a variable that the pattern can begin with, as far as that is known. */
  #mayBegin(place: number, { byVariable }: Nearby): boolean {
    for (const at of this.#program.initial) {
      const known = byVariable[this.#program.variableAt(at)] ?? null;
      if (known === null || known.verdicts[place] !== NO) return true;
    }
    return false;
  }

  #advance(
    open: readonly (Arrivals & { at: number })[],
    round: number,
    { verdicts, why, nearby }: Answers,
    events: MatchEvents,
  ): void {
    const { skip } = this.#shape;
    let place = 0;
    const failures = new Map<number, Omit<RowError, 'row'>>();
    const failed = (thread: Thread, verdict: number): void => {
      const variable = this.#program.variableAt(thread.at);
      const error = why.get(verdict) ?? nearby.byVariable[variable]?.why.get(place);
      if (error !== undefined && !failures.has(variable)) failures.set(variable, error);
    };
    let next = 0;
    for (const { partition, from, at } of open) {
      if (partition.candidates.length === 0) continue;
      const row = from + round;
      place = (nearby.starts[at] as number) + round;
      for (const candidate of partition.candidates) {
        const first = next;
        next += candidate.threads.length;
        this.#program.advance(candidate, row, verdicts, first, failed);
      }
      for (const error of failures.values()) events.fail(partition, row, error);
      failures.clear();
      partition.dropFailed();
      this.#bound(partition, events);
      partition.settle(partition.timeOf(row), skip, events.match);
    }
  }

  /** Notes for each thread what is known of the row, or that it must be asked. */
  #ask(
    { partition, candidate, row }: { partition: MatchPartition; candidate: Candidate; row: number },
    place: number,
    nearby: Nearby,
    asked: readonly Asked[],
    verdicts: number[],
  ): void {
    for (const thread of candidate.threads) {
      const variable = this.#program.variableAt(thread.at);
      const known = nearby.byVariable[variable]?.verdicts[place] ?? YES;
      if (known === YES && this.#conditions.matched[variable] !== null) {
        const { cases, places } = asked[variable] as Asked;
        cases.add(partition, this.#program.extended(thread, row), candidate.start, row, 0);
        places.push(verdicts.length);
      }
      verdicts.push(known);
    }
  }

  /** Fills in the verdicts that were asked for; gives the errors by their places. */
  #answer(asked: readonly Asked[], verdicts: number[]): Map<number, RowError> {
    const why = new Map<number, RowError>();
    asked.forEach(({ cases, places }, variable) => {
      const values = this.#conditions.matched[variable] ?? null;
      if (values === null || cases.count === 0) return;
      const answer = verdictsOf(values, cases, this.#store);
      places.forEach((place, at) => {
        verdicts[place] = answer.verdicts[at] ?? NO;
        const error = answer.why.get(at);
        if (error !== undefined) why.set(place, error);
      });
    });
    return why;
  }

  #bound(partition: MatchPartition, events: MatchEvents): void {
    let count = partition.threadCount();
    while (count > LIMITS.matchThreadsMax) {
      const candidate = partition.candidates.shift();
      if (candidate === undefined) return;
      count -= candidate.threads.length;
      events.fail(partition, candidate.start, {
        code: 'MATCH_TOO_LARGE',
        column: '',
        message:
          `more than ${LIMITS.matchThreadsMax} ways to match rows are open in one partition; what begins with this row ` +
          'is given up: shorten WITHIN, or make the conditions of repeated variables exclude each other',
      });
    }
  }
}

type Answers = {
  verdicts: readonly number[];
  why: ReadonlyMap<number, RowError>;
  nearby: Nearby;
};

type Nearby = { starts: readonly number[]; byVariable: readonly (Verdicts | null)[] };
