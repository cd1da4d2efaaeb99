/** Copies of short texts: four bytes at a time, since a view of each would cost more than its bytes. */

/** Longer stretches are copied by the runtime. */
const SHORT = 64;
/** Bytes behind a target that a copy may write before the next one puts its own there. */
export const SLACK = 3;

/**
 * Copies bytes `[start, start + size)` of `source` to `at`; up to `SLACK` bytes behind them become anything.
 *
 * @param view  the bytes of the source
 * @param to    the bytes of the target, which has room for the slack
 */
export function copyText(
  source: Uint8Array,
  view: DataView,
  start: number,
  size: number,
  target: Uint8Array,
  to: DataView,
  at: number,
): void {
  if (size > SHORT) {
    target.set(source.subarray(start, start + size), at);
    return;
  }
  if (start + size + SLACK > view.byteLength) {
    for (let byte = 0; byte < size; byte++) target[at + byte] = source[start + byte] as number;
    return;
  }
  for (let byte = 0; byte < size; byte += 4)
    to.setInt32(at + byte, view.getInt32(start + byte, true), true);
}
