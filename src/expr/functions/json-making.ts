/** JSON made of values: to_json, json_build_object, json_build_array. All digits are kept; NULL is null. */
import { LIMITS } from '../../base/limits.ts';
import type { Column, TextColumn } from '../../batch/column.ts';
import { JSON_TYPE } from '../../batch/types.ts';
import { valueJson } from '../../batch/value-json.ts';
import type { Evaluate, ScalarFunction } from '../function-types.ts';
import { always } from '../function-types.ts';
import { TextSink, textAt } from '../text-sink.ts';
import { Outcome, isPresent, strideOf } from '../vector.ts';

const jsonAt = (column: Column, row: number): string => valueJson(column, row * strideOf(column));

const made =
  (write: (args: readonly Column[], row: number) => string | null, message: string): Evaluate =>
  (args, rows, errors) => {
    const outcome = new Outcome([], rows, errors);
    const sink = new TextSink(rows, 32 * rows, errors);
    for (let row = 0; row < rows; row++) {
      const json = write(args, row);
      if (json === null) outcome.fail(row, 'INVALID_CAST', () => message);
      else sink.appendString(json);
      sink.endRow();
    }
    return { ...sink.finish(outcome.validity), type: JSON_TYPE };
  };

function objectOf(args: readonly Column[], row: number): string | null {
  if (args.length % 2 === 1) return null;
  const members: string[] = [];
  let size = 0;
  for (let at = 0; at < args.length && size <= LIMITS.valueBytesMax; at += 2) {
    const key = args[at] as Column;
    if (!isPresent(key, row)) return null;
    const name =
      key.tag === 'text' ? textAt(key as TextColumn, row * strideOf(key)) : jsonAt(key, row);
    const member = `${JSON.stringify(name)}:${jsonAt(args[at + 1] as Column, row)}`;
    size += member.length;
    members.push(member);
  }
  return `{${members.join(',')}}`;
}

/** What is longer than a text may be ends somewhere beyond that, as an object does. */
function arrayOf(args: readonly Column[], row: number): string {
  const elements: string[] = [];
  let size = 0;
  for (let at = 0; at < args.length && size <= LIMITS.valueBytesMax; at++) {
    const element = jsonAt(args[at] as Column, row);
    size += element.length;
    elements.push(element);
  }
  return `[${elements.join(',')}]`;
}

const base = { nullRule: 'custom', result: always(JSON_TYPE) } as const;

export const JSON_MAKING: readonly ScalarFunction[] = [
  {
    ...base,
    id: 'to-json',
    name: 'to_json',
    args: ['each'],
    canFail: true,
    doc: 'the value as JSON; NULL is null',
    examples: [{ args: ['a"b'], gives: '"a\\"b"' }],
    evaluate: made(([value], row) => jsonAt(value as Column, row), ''),
  },
  {
    ...base,
    id: 'json-build-array',
    name: 'json_build_array',
    args: [],
    rest: 'each',
    canFail: true,
    doc: 'a JSON array of the values',
    examples: [{ args: ['a', 'b'], gives: '["a","b"]' }],
    evaluate: made(arrayOf, ''),
  },
  {
    ...base,
    id: 'json-build-object',
    name: 'json_build_object',
    args: [],
    rest: 'each',
    canFail: true,
    doc: 'a JSON object of keys and values in turn',
    examples: [{ args: ['a', 'b'], gives: '{"a":"b"}' }],
    evaluate: made(
      objectOf,
      'json_build_object takes keys, which are not NULL, and values in turn',
    ),
  },
];
