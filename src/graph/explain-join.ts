/** What a join keeps, and until when. */
import { signed } from '../plan/describe-join.ts';
import { formatInterval } from '../plan/interval.ts';
import type { JoinSpec } from './graph.ts';

export function describeJoinState(spec: JoinSpec): string {
  const { time } = spec;
  switch (time.tag) {
    case 'any':
      return time.ttlMicros === null
        ? 'the rows of both sides, never freed; SET updating_ttl bounds them'
        : `the rows of both sides, freed when the watermark passes their time by ${formatInterval(time.ttlMicros)}; rows further apart than that do not meet`;
    case 'interval': {
      const left = hold(time.highMicros, 1);
      const right = hold(time.lowMicros, -1);
      return left === right
        ? `the rows of both sides, ${left}`
        : `left rows, ${left}; right rows, ${right}`;
    }
    case 'window':
      return 'the rows of open windows, freed when the watermark passes their end';
    case 'lookup':
      return 'every row of the right side, never freed';
    case 'as-of':
      if (time.versions === true)
        return 'left rows until the watermark passes them; per key the version before the watermark, until it ends, and those after it';
      return 'left rows until the watermark passes them; per key the last right row before the watermark and those after it';
  }
}

/** Until when a side is kept whose partners come up to `sign * bound` later. */
function hold(bound: number | null, sign: 1 | -1): string {
  if (bound === null) return 'never freed';
  const micros = Math.max(0, sign * bound);
  return micros === 0
    ? 'freed when the watermark passes them'
    : `freed when the watermark passes their time by ${signed(micros)}`;
}
