/** lower, upper and initcap: ASCII in place on bytes, anything else by the Unicode default mappings, no locale. */
import type { TextColumn } from '../../batch/column.ts';
import { TEXT } from '../../batch/types.ts';
import type { ScalarFunction } from '../function-types.ts';
import { always } from '../function-types.ts';
import { TextSink, decodeBytes } from '../text-sink.ts';

/** Maps ASCII letters in [first, first + 26) by flipping bit 5; other bytes by `mapText`. */
function mapCase(column: TextColumn, first: number, mapText: (text: string) => string): TextColumn {
  const { offsets, bytes, length } = column;
  const begin = offsets[0] as number;
  const end = offsets[length] as number;
  let ascii = true;
  for (let at = begin; at < end && ascii; at++) ascii = (bytes[at] as number) < 128;
  if (ascii) {
    const mapped = bytes.slice(0, end);
    for (let at = begin; at < end; at++) {
      const byte = mapped[at] as number;
      if (byte >= first && byte < first + 26) mapped[at] = byte ^ 32;
    }
    return { ...column, bytes: mapped };
  }
  const sink = new TextSink(length, end - begin);
  for (let row = 0; row < length; row++) {
    sink.appendString(
      mapText(decodeBytes(bytes, offsets[row] as number, offsets[row + 1] as number)),
    );
    sink.endRow();
  }
  return sink.finish(column.validity);
}

export const lowerColumn = (column: TextColumn): TextColumn =>
  mapCase(column, 65, (text) => text.toLowerCase());
export const upperColumn = (column: TextColumn): TextColumn =>
  mapCase(column, 97, (text) => text.toUpperCase());

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
