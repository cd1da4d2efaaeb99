/** A moment in UTC; the time where the reader is stands in its title. */
import { nowMicros } from '../lib/clock.ts';
import { ago, duration, localTime, utc } from '../lib/format.ts';

type Props = {
  /** Microseconds since 1970; null: there is none yet. */
  at: number | null;
  show?: 'all' | 'time' | 'millis' | 'ago' | 'for';
};

export function Time({ at, show = 'all' }: Props) {
  if (at === null) return <span>–</span>;
  const date = new Date(at / 1000).toISOString();
  const title = `${utc(at)} UTC\n${localTime(at)}`;
  const text = textOf(at, show);
  return (
    <time dateTime={date} title={title}>
      {text}
    </time>
  );
}

function textOf(at: number, show: NonNullable<Props['show']>): string {
  if (show === 'ago') return ago(at, nowMicros.value);
  if (show === 'for') return duration(Math.max(1_000_000, nowMicros.value - at));
  return utc(at, show);
}
