/** lower, upper and initcap: ASCII in place on bytes, anything else by the Unicode default mappings, no locale. */
import type { TextColumn } from '../../batch/column.ts';
import { TEXT } from '../../batch/types.ts';
import type { ScalarFunction } from '../function-types.ts';
import { always } from '../function-types.ts';
import { TextSink, decodeBytes, isAscii } from '../text-sink.ts';

/** The high bits of four bytes. */
const HIGHS = 0x80808080;
/** Added to four bytes below 128 they set the high bits of those that are not below 'A', 'a', or behind 'Z', 'z'. */
const FROM_UPPER = 0x3f3f3f3f;
const BEHIND_UPPER = 0x25252525;
const FROM_LOWER = 0x1f1f1f1f;
const BEHIND_LOWER = 0x05050505;

/** Flips bit 5 of the letters among ASCII bytes [from, to), in a copy that starts there; null: not all are ASCII. */
function flipLetters(
  bytes: Uint8Array,
  from: number,
  to: number,
  upper: boolean,
): Uint8Array | null {
  const words = new Int32Array((to - from + 3) >> 2);
  const mapped = new Uint8Array(words.buffer, 0, to - from);
  mapped.set(bytes.subarray(from, to));
  const first = upper ? FROM_LOWER : FROM_UPPER;
  const behind = upper ? BEHIND_LOWER : BEHIND_UPPER;
  let highs = 0;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as number;
    highs |= word;
    // Of bytes below 128 no sum carries into the next one.
    words[at] = word ^ (((word + first) & ~(word + behind) & HIGHS) >>> 2);
  }
  return (highs & HIGHS) === 0 ? mapped : null;
}

/** Maps ASCII letters four bytes at a time; in a batch with other bytes, text by text, those that have them by `mapText`. */
function mapCase(
  column: TextColumn,
  upper: boolean,
  mapText: (text: string) => string,
): TextColumn {
  const { offsets, bytes, length } = column;
  const begin = offsets[0] as number;
  const end = offsets[length] as number;
  const mapped = flipLetters(bytes, begin, end, upper);
  if (mapped !== null) {
    const moved = begin === 0 ? offsets : offsets.map((offset) => offset - begin);
    return { ...column, offsets: moved, bytes: mapped };
  }
  const flipped = flipByByte(bytes.slice(begin, end), upper);
  const sink = new TextSink(length, end - begin);
  for (let row = 0; row < length; row++) {
    const from = offsets[row] as number;
    const to = offsets[row + 1] as number;
    if (isAscii(bytes, from, to)) sink.append(flipped, from - begin, to - begin);
    else sink.appendString(mapText(decodeBytes(bytes, from, to)));
    sink.endRow();
  }
  return sink.finish(column.validity);
}

function flipByByte(bytes: Uint8Array, upper: boolean): Uint8Array {
  const first = upper ? 97 : 65;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte >= first && byte < first + 26) bytes[at] = byte ^ 32;
  }
  return bytes;
}

export const lowerColumn = (column: TextColumn): TextColumn =>
  mapCase(column, false, (text) => text.toLowerCase());
export const upperColumn = (column: TextColumn): TextColumn =>
  mapCase(column, true, (text) => text.toUpperCase());

/** Upper case after anything that is neither letter nor digit, lower case elsewhere. */
const initcap = (text: string): string =>
  text.toLowerCase().replace(/[\p{L}\p{N}]+/gu, (word) => {
    const [head = '', ...tail] = word;
    return head.toUpperCase() + tail.join('');
  });

function initcapColumn(column: TextColumn): TextColumn {
  const sink = new TextSink(column.length, column.bytes.length);
  for (let row = 0; row < column.length; row++) {
    sink.appendString(
      initcap(
        decodeBytes(column.bytes, column.offsets[row] as number, column.offsets[row + 1] as number),
      ),
    );
    sink.endRow();
  }
  return sink.finish(column.validity);
}

const common = {
  args: ['text'],
  result: always(TEXT),
  nullRule: 'strict',
  canFail: false,
} as const;

/** A constant argument is evaluated with one row by the compiler, so columns are full here. */
export const TEXT_CASE: readonly ScalarFunction[] = [
  {
    ...common,
    id: 'lower',
    name: 'lower',
    doc: 'the text in lower case',
    examples: [{ args: ['Ärger'], gives: 'ärger' }],
    evaluate: (args) => lowerColumn(args[0] as TextColumn),
  },
  {
    ...common,
    id: 'upper',
    name: 'upper',
    doc: 'the text in upper case',
    examples: [{ args: ['straße'], gives: 'STRASSE' }],
    evaluate: (args) => upperColumn(args[0] as TextColumn),
  },
  {
    ...common,
    id: 'initcap',
    name: 'initcap',
    doc: 'each word with a capital first letter',
    examples: [{ args: ['new yORK'], gives: 'New York' }],
    evaluate: (args) => initcapColumn(args[0] as TextColumn),
  },
];
