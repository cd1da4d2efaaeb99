/** Names as a query writes them: for hints, for suggestions that are put into its text, and for texts that are made. */
import { nearest } from '../base/nearest.ts';
import { isReserved } from '../sql/keywords.ts';

/** A name as it must be written: quoted when folding to lower case would change it. */
export function quoteName(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** Free as names, but the beginning of something else in a list of columns. */
const MISLEADING = new Set(['watermark', 'primary', 'foreign', 'constraint', 'unique', 'check']);

/** A name that reads back as it is, wherever it stands. */
export const nameText = (name: string): string =>
  isReserved(name) || MISLEADING.has(name) ? `"${name}"` : quoteName(name);

/**
 * The nearest of the names, so written that it can take the place of the wrong one. Behind a dot keywords are names, and
 * `quoteName` will do.
 */
export function nearestName(
  written: string,
  names: Iterable<string>,
  write: (name: string) => string = nameText,
): string | null {
  const name = nearest(written, names);
  return name === null ? null : write(name);
}
