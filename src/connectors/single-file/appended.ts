/** What the object of a `single_file` sink is after a commit: its bytes before, and the pieces of the epoch. */
import { joinFiles } from '../../formats/parquet/joined-file.ts';
import { joined } from '../../formats/parquet/parquet-writer.ts';

export const isParquet = (key: string): boolean => key.endsWith('.parquet');

/** @param key  the name of a piece, which tells the format of all */
export function appended(
  before: Uint8Array | null,
  pieces: readonly Uint8Array[],
  key: string,
): Uint8Array {
  if (isParquet(key)) return joinFiles(before, pieces);
  return joined(before === null ? pieces : [before, ...pieces]);
}
