/**
 * A Parquet file that grows: whole files end to end, and behind them one footer that names the row groups of all.
 *
 * A reader begins at the end of a file and goes where the footer says, so the footers of the pieces, which stay where they
 * are, are bytes that nobody looks at. What was added once keeps its place; only the last footer is written anew.
 * Invariants: the result depends on the pieces alone, not on how they were dealt to calls; all have one schema.
 * Failure: BROKEN_PARQUET for bytes that end in no footer, or in that of another schema.
 */
import { ByteWriter } from '../byte-writer.ts';
import { joined, MAGIC, sealed } from './parquet-writer.ts';
import {
  brokenParquet,
  fieldOf,
  i64,
  list,
  numberOf,
  putStruct,
  type ThriftStruct,
  ThriftReader,
  type ThriftValue,
  structsOf,
  withField,
} from './thrift.ts';

/** Bytes behind the footer: its length, and the magic word. */
const TAIL = 8;

const FILE = { schema: 2, rows: 3, groups: 4 } as const;
const GROUP = { columns: 1, rows: 3, offset: 5, number: 7 } as const;
const CHUNK = { offset: 2, metadata: 3 } as const;
const METADATA = { data: 9, dictionary: 11 } as const;

const OTHER_COLUMNS = 'a piece has other columns';

export type Footer = { fields: ThriftStruct; /** Where it begins. */ start: number };

/** @throws BROKEN_PARQUET when the file does not end in a footer */
export function footerOfFile(bytes: Uint8Array): Footer {
  const { length } = bytes;
  const end = length - TAIL;
  if (end < MAGIC.length || !MAGIC.every((byte, at) => bytes[length - 4 + at] === byte))
    throw brokenParquet('it does not end in PAR1');
  const size = new DataView(bytes.buffer, bytes.byteOffset + end).getUint32(0, true);
  const start = end - size;
  if (start < MAGIC.length) throw brokenParquet('its footer is longer than the file');
  return { fields: new ThriftReader(bytes.subarray(0, end), start).struct(), start };
}

/** The file `before`, null for none, and the pieces behind it. */
export function joinFiles(before: Uint8Array | null, pieces: readonly Uint8Array[]): Uint8Array {
  const old = before === null ? null : footerOfFile(before);
  if (before === null || old === null) return joined([...pieces, sealed(extended([], 0, pieces))]);
  const [first] = pieces;
  if (first !== undefined && !sameSchema(old.fields, footerOfFile(first).fields))
    throw brokenParquet(OTHER_COLUMNS);
  const footer = extended(structsOf(old.fields, FILE.groups), old.start, pieces);
  return joined([before.subarray(0, old.start), ...pieces, sealed(footer)]);
}

/**
 * Whether `file` ends in the pieces and in the footer that belongs behind them. With `whole` it is nothing else; without,
 * the footer may name row groups that stand before the pieces.
 */
export function endsInPieces(
  file: Uint8Array,
  pieces: readonly Uint8Array[],
  whole: boolean,
): boolean {
  const found = footerOfFile(file);
  const start = found.start - pieces.reduce((sum, piece) => sum + piece.length, 0);
  const groups = structsOf(found.fields, FILE.groups);
  const before = groups.filter((group) => numberOf(group, GROUP.offset) < start);
  if (whole && (start !== 0 || before.length > 0)) return false;
  const wanted = sealed(extended(before, start, pieces));
  return (
    wanted.length === file.length - found.start &&
    wanted.every((byte, at) => byte === file[found.start + at])
  );
}

/**
 * The footer for the row groups `before` and the pieces, the first of which begins at `start`. But for the row groups it is
 * that of the last piece.
 */
function extended(
  before: readonly ThriftStruct[],
  start: number,
  pieces: readonly Uint8Array[],
): ThriftStruct {
  const groups = [...before];
  let fields: ThriftStruct | null = null;
  let at = start;
  for (const piece of pieces) {
    const own = footerOfFile(piece).fields;
    if (fields !== null && !sameSchema(fields, own)) throw brokenParquet(OTHER_COLUMNS);
    for (const group of structsOf(own, FILE.groups)) groups.push(movedGroup(group, at));
    fields = own;
    at += piece.length;
  }
  if (fields === null) throw brokenParquet('there are no pieces');
  const rows = groups.reduce((sum, group) => sum + numberOf(group, GROUP.rows), 0);
  const named = groups.map((group): ThriftValue => ({ tag: 'struct', fields: group }));
  return withField(withField(fields, FILE.rows, i64(rows)), FILE.groups, list('struct', named));
}

function moved(fields: ThriftStruct, id: number, by: number): ThriftStruct {
  return fieldOf(fields, id) === null
    ? fields
    : withField(fields, id, i64(numberOf(fields, id) + by));
}

function movedGroup(group: ThriftStruct, by: number): ThriftStruct {
  const columns = structsOf(group, GROUP.columns).map((chunk): ThriftValue => {
    const metadata = fieldOf(chunk, CHUNK.metadata);
    if (metadata?.tag !== 'struct') throw brokenParquet('a column chunk has no metadata');
    const own = moved(moved(metadata.fields, METADATA.data, by), METADATA.dictionary, by);
    const fields = withField(moved(chunk, CHUNK.offset, by), CHUNK.metadata, {
      tag: 'struct',
      fields: own,
    });
    return { tag: 'struct', fields };
  });
  // Numbers of row groups are optional, and those of pieces would come twice.
  const rest = group.filter(({ id }) => id !== GROUP.number);
  return withField(moved(rest, GROUP.offset, by), GROUP.columns, list('struct', columns));
}

function sameSchema(left: ThriftStruct, right: ThriftStruct): boolean {
  const bytesOf = (fields: ThriftStruct): Uint8Array => {
    const writer = new ByteWriter(256);
    putStruct(
      writer,
      fields.filter(({ id }) => id === FILE.schema),
    );
    return writer.finish();
  };
  const one = bytesOf(left);
  const other = bytesOf(right);
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}
