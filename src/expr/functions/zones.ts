/**
 * AT TIME ZONE: what the clocks of a zone showed at a moment, and the moment at which they showed a time.
 *
 * As in Postgres: of a time that clocks jumped over, the offset before the jump counts, so that it comes
 * out as much later as it lies in the gap; of a time that came twice, the offset of standard time counts,
 * which is the later of the two moments where clocks went back. A zone is a name (`Europe/Paris`) or an
 * offset from UTC, east of it positive (`+02:00`).
 */
import { segmentAt, timeZone } from '../../base/time-zone.ts';
import type { TimeZone } from '../../base/time-zone.ts';
import type { Int64Column, TextColumn } from '../../batch/column.ts';
import { TIMESTAMP, TIMESTAMPTZ } from '../../batch/types.ts';
import type { Evaluate, ScalarFunction } from '../function-types.ts';
import { textAt } from '../text-sink.ts';
import { Outcome, makeInt64, strideOf } from '../vector.ts';
import { int64AsNumber, isSafe, writeSafeInt64 } from '../wide.ts';
import { timeFunction } from './calendar.ts';

/** No zone was ever farther from UTC. */
const OFFSET_MAX = 26 * 3_600_000_000;

/** Microseconds to add to UTC at a moment, and at a local time. */
type Offsets = { at: (utc: number) => number; of: (local: number) => number };

const fixed = (offset: number): Offsets => ({ at: () => offset, of: () => offset });

function named(zone: TimeZone): Offsets {
  const offsetAt = (utc: number): number => {
    zone.cover(utc - OFFSET_MAX, utc + OFFSET_MAX);
    return zone.offsets[segmentAt(zone.starts, utc)] as number;
  };
  return {
    at: offsetAt,
    of: (local) => {
      const earlier = offsetAt(local - OFFSET_MAX / 2);
      const later = offsetAt(local + OFFSET_MAX / 2);
      if (earlier === later) return earlier;
      // Where the later offset leads to a moment that has it, it counts: also where the time came twice.
      return offsetAt(local - later) === later ? later : earlier;
    },
  };
}

const FIXED = /^(?:utc|gmt)?([+-])(\d{1,2})(?::?(\d{2}))?$/i;

function offsetsOf(name: string): Offsets | null {
  const written = FIXED.exec(name.trim());
  if (written !== null) {
    const minutes = Number(written[2]) * 60 + Number(written[3] ?? 0);
    return fixed((written[1] === '-' ? -minutes : minutes) * 60_000_000);
  }
  const zone = timeZone(name.trim());
  return zone === null ? null : named(zone);
}

/** The zone of each row, looked up once where it is a constant or the same as before. */
function zoneReader(column: TextColumn): (row: number) => Offsets | null {
  let recent = '';
  let offsets: Offsets | null = null;
  const read = (row: number): Offsets | null => {
    const name = textAt(column, row);
    if (name !== recent) {
      recent = name;
      offsets = offsetsOf(name);
    }
    return offsets;
  };
  if (strideOf(column) === 1) return read;
  const only = column.validity === null || (column.validity[0] as number) & 1 ? read(0) : null;
  return () => only;
}

const shifted =
  (toLocal: boolean): Evaluate =>
  (args, rows, errors, type) => {
    const [zones, input] = args as readonly [TextColumn, Int64Column];
    const outcome = new Outcome(args, rows, errors);
    const result = makeInt64(rows, type);
    const zoneAt = zoneReader(zones);
    const stride = strideOf(input);
    for (let row = 0; row < rows; row++) {
      if (!outcome.has(row)) continue;
      const zone = zoneAt(row);
      const time = int64AsNumber(input.words, row * stride);
      if (zone === null) {
        outcome.fail(
          row,
          'INVALID_CAST',
          () => `'${textAt(zones, row * strideOf(zones))}' is no time zone; write 'Europe/Paris'`,
        );
        continue;
      }
      const value = isSafe(time) ? time + (toLocal ? zone.at(time) : -zone.of(time)) : Infinity;
      if (isSafe(value)) writeSafeInt64(result.words, row, value);
      else
        outcome.fail(
          row,
          'NUMERIC_OUT_OF_RANGE',
          () => 'AT TIME ZONE knows the years 1684 to 2255 only',
        );
    }
    result.validity = outcome.validity;
    return result;
  };

export const ZONES: readonly ScalarFunction[] = [
  timeFunction(
    'timezone:timestamptz',
    'timezone',
    ['text', 'timestamptz'],
    TIMESTAMP,
    'what clocks of the zone showed at the moment; moment AT TIME ZONE zone means the same',
    { args: ['Europe/Paris', '0'], gives: '3600000000' },
    shifted(true),
  ),
  timeFunction(
    'timezone:timestamp',
    'timezone',
    ['text', 'timestamp'],
    TIMESTAMPTZ,
    'the moment at which clocks of the zone showed the time; time AT TIME ZONE zone means the same',
    { args: ['Europe/Paris', '3600000000'], gives: '0' },
    shifted(false),
  ),
];
