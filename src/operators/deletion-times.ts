/**
 * Event times of deletions that tell nothing but a key: the latest time seen before them in their partition.
 *
 * Databases often log only the key of a deleted row, so the column that holds event time is missing.
 */
import { isValid, type Int64Column } from '../batch/column.ts';
import { timeAt } from './times.ts';

/** @param last  the latest time seen before the batch; the times as they are when there is none */
export function withDeletionTimes(
  times: Int64Column,
  retract: Uint8Array | null,
  last: number,
): Int64Column {
  if (retract === null || times.validity === null) return times;
  const words = times.words.slice();
  const validity = times.validity.slice();
  let latest = last;
  for (let row = 0; row < times.length; row++) {
    if (isValid(times, row)) latest = Math.max(latest, timeAt(words, row));
    else if (retract[row] === 1 && latest > -Infinity) {
      words[row * 2] = latest | 0;
      words[row * 2 + 1] = Math.floor(latest / 4294967296);
      validity[row >> 3] = (validity[row >> 3] as number) | (1 << (row & 7));
    }
  }
  const made = { ...times, words, validity };
  for (let row = 0; row < times.length; row++) if (!isValid(made, row)) return made;
  return { ...made, validity: null };
}
