/** What JSON functions make of the value at a path: texts, numbers, truths, lists of its members, whether it holds another. */
import type { BooleanColumn, Column, TextColumn } from '../../batch/column.ts';
import { setBit } from '../../batch/column.ts';
import type { SqlType } from '../../batch/types.ts';
import { INT64, JSON_TYPE, TEXT } from '../../batch/types.ts';
import type { Evaluate } from '../function-types.ts';
import type { Kind } from '../json/json-bytes.ts';
import {
  appendText,
  documentStart,
  eachMember,
  findIndex,
  findKey,
  found,
  kindOf,
  memberCount,
  stringAt,
} from '../json/json-bytes.ts';
import { jsonContains } from '../json/json-contains.ts';
import { TextSink, decodeBytes, textAt } from '../text-sink.ts';
import { Outcome, makeBoolean, makeFloat64, makeInt64, strideOf } from '../vector.ts';
import { fitsInt64, writeInt64 } from '../wide.ts';
import { locate, rowsOf } from './json-rows.ts';
import { ListTextSink } from './list-text-sink.ts';
import { sliceAt } from './text-rows.ts';

/** Text made of the value at the path. */
const textual =
  (
    type: SqlType,
    write: (bytes: Uint8Array, at: number, end: number, sink: TextSink) => boolean,
  ): Evaluate =>
  (args, rows, errors) => {
    const outcome = new Outcome(args, rows, errors);
    const sink = new TextSink(rows, 16 * rows);
    rowsOf(
      args,
      rows,
      outcome,
      (bytes) => write(bytes, found.at, found.end, sink),
      () => sink.endRow(),
    );
    return { ...sink.finish(outcome.validity), type };
  };

export const asJson = textual(JSON_TYPE, (bytes, at, end, sink) => {
  sink.append(bytes, at, end);
  return true;
});

export const asText = textual(TEXT, (bytes, at, end, sink) => {
  if (kindOf(bytes, at) === 'null') return false;
  appendText(bytes, at, end, sink);
  return true;
});

export const asString = textual(TEXT, (bytes, at, end, sink) => {
  if (kindOf(bytes, at) !== 'string') return false;
  appendText(bytes, at, end, sink);
  return true;
});

export const kindName = textual(TEXT, (bytes, at, _end, sink) => {
  sink.appendString(kindOf(bytes, at));
  return true;
});

export const asInt: Evaluate = (args, rows, errors) => {
  const outcome = new Outcome(args, rows, errors);
  const result = makeInt64(rows, INT64);
  rowsOf(args, rows, outcome, (bytes, row) => {
    const text = decodeBytes(bytes, found.at, found.end);
    if (!/^-?\d{1,19}$/.test(text)) return false;
    const value = BigInt(text);
    if (fitsInt64(value)) writeInt64(result.words, row, value);
    return fitsInt64(value);
  });
  return { ...result, validity: outcome.validity };
};

export const asFloat: Evaluate = (args, rows, errors) => {
  const outcome = new Outcome(args, rows, errors);
  const result = makeFloat64(rows);
  rowsOf(args, rows, outcome, (bytes, row) => {
    if (kindOf(bytes, found.at) !== 'number') return false;
    result.values[row] = Number(decodeBytes(bytes, found.at, found.end));
    return true;
  });
  return { ...result, validity: outcome.validity };
};

export const asBoolean: Evaluate = (args, rows, errors) => {
  const outcome = new Outcome(args, rows, errors);
  const result = makeBoolean(rows, null);
  rowsOf(args, rows, outcome, (bytes, row) => {
    if (kindOf(bytes, found.at) !== 'boolean') return false;
    if (bytes[found.at] === 116) setBit(result.bits, row);
    return true;
  });
  return { ...result, validity: outcome.validity };
};

/** A truth that is false, not NULL, where the path leads nowhere. */
export const truth =
  (
    holds: (bytes: Uint8Array, row: number, args: readonly Column[]) => boolean,
    path: number,
  ): Evaluate =>
  (args, rows, errors) => {
    const outcome = new Outcome(args, rows, errors);
    const result: BooleanColumn = makeBoolean(rows, null);
    const { bytes } = args[0] as TextColumn;
    for (let row = 0; row < rows; row++)
      if (outcome.has(row) && locate(args.slice(0, path), row) && holds(bytes, row, args))
        setBit(result.bits, row);
    return { ...result, validity: outcome.validity };
  };

export const length =
  (kinds: readonly Kind[]): Evaluate =>
  (args, rows, errors) => {
    const outcome = new Outcome(args, rows, errors);
    const result = makeInt64(rows, INT64);
    rowsOf(args, rows, outcome, (bytes, row) => {
      if (!kinds.includes(kindOf(bytes, found.at))) return false;
      writeInt64(result.words, row, BigInt(memberCount(bytes, found.at, found.end)));
      return true;
    });
    return { ...result, validity: outcome.validity };
  };

/** A list of texts made of the members of the value at the path. */
const members =
  (
    kind: Kind,
    push: (
      bytes: Uint8Array,
      key: number,
      keyEnd: number,
      value: number,
      end: number,
      sink: ListTextSink,
    ) => void,
  ): Evaluate =>
  (args, rows, errors, type) => {
    const outcome = new Outcome(args, rows, errors);
    const sink = new ListTextSink(rows, errors);
    const { bytes } = args[0] as TextColumn;
    for (let row = 0; row < rows; row++) {
      const present = outcome.has(row) && locate(args, row) && kindOf(bytes, found.at) === kind;
      if (present)
        eachMember(bytes, found.at, found.end, (key, keyEnd, value, end) => {
          push(bytes, key, keyEnd, value, end, sink);
          return true;
        });
      sink.endRow(present);
    }
    return sink.finish(type);
  };

export const keys = members('object', (bytes, key, keyEnd, _value, _end, sink) => {
  const name = new TextEncoder().encode(stringAt(bytes, key, keyEnd));
  sink.push(name, 0, name.length);
});
export const elements = members('array', (bytes, _key, _keyEnd, value, end, sink) =>
  sink.push(bytes, value, end),
);

export const isValid: Evaluate = (args, rows, errors) => {
  const outcome = new Outcome(args, rows, errors);
  const result = makeBoolean(rows, null);
  for (let row = 0; row < rows; row++) {
    const { bytes, from, to } = sliceAt(args[0] as Column, row);
    if (outcome.has(row) && documentStart(bytes, from, to) >= 0) setBit(result.bits, row);
  }
  return { ...result, validity: outcome.validity };
};

export const contains =
  (turned: boolean): Evaluate =>
  (args, rows, errors) => {
    const outcome = new Outcome(args, rows, errors);
    const result = makeBoolean(rows, null);
    for (let row = 0; row < rows; row++) {
      if (!outcome.has(row)) continue;
      const [whole, part] = [args[turned ? 1 : 0], args[turned ? 0 : 1]].map((column) =>
        sliceAt(column as Column, row),
      );
      if (whole === undefined || part === undefined) continue;
      const at = documentStart(whole.bytes, whole.from, whole.to);
      const other = documentStart(part.bytes, part.from, part.to);
      if (at < 0 || other < 0) outcome.makeNull(row);
      else if (jsonContains(whole.bytes, at, whole.to, part.bytes, other, part.to))
        setBit(result.bits, row);
    }
    return { ...result, validity: outcome.validity };
  };

/** `{a,0,b}`: the steps of a path as Postgres writes it; a step of digits is a place where the value is an array. */
export const byTextPath =
  (evaluate: 'json' | 'text'): Evaluate =>
  (args, rows, errors) => {
    const [input, path] = args as readonly [TextColumn, TextColumn];
    const outcome = new Outcome(args, rows, errors);
    const sink = new TextSink(rows, 16 * rows);
    for (let row = 0; row < rows; row++) {
      const present =
        outcome.has(row) &&
        locate([input], row) &&
        walk(input.bytes, textAt(path, row * strideOf(path)));
      const isNull = present && evaluate === 'text' && kindOf(input.bytes, found.at) === 'null';
      if (!present || isNull) outcome.makeNull(row);
      else if (evaluate === 'text') appendText(input.bytes, found.at, found.end, sink);
      else sink.append(input.bytes, found.at, found.end);
      sink.endRow();
    }
    return { ...sink.finish(outcome.validity), type: evaluate === 'json' ? JSON_TYPE : TEXT };
  };

function walk(bytes: Uint8Array, path: string): boolean {
  if (!path.startsWith('{') || !path.endsWith('}')) return false;
  const inner = path.slice(1, -1);
  for (const step of inner === '' ? [] : inner.split(',')) {
    const key = new TextEncoder().encode(step.trim().replace(/^"(.*)"$/, '$1'));
    const isPlace = kindOf(bytes, found.at) === 'array' && /^-?\d{1,10}$/.test(step.trim());
    const there = isPlace
      ? findIndex(bytes, found.at, found.end, Number(step))
      : findKey(bytes, found.at, found.end, key, 0, key.length);
    if (!there) return false;
  }
  return true;
}
