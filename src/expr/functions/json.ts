/**
 * JSON out of text: members by key and index, kinds, sizes, containment, JSONPath. A text that is no JSON gives NULL, as does a
 * path to nowhere. A path is any number of keys (TEXT) and places in arrays (whole numbers from 0, from -1 at the end).
 */
import type {
  BooleanColumn,
  Column,
  Int32Column,
  Int64Column,
  TextColumn,
} from '../../batch/column.ts';
import { setBit } from '../../batch/column.ts';
import type { SqlType } from '../../batch/types.ts';
import { BOOLEAN, FLOAT64, INT64, JSON_TYPE, TEXT, listType } from '../../batch/types.ts';
import type {
  ArgumentPattern,
  Evaluate,
  FunctionExample,
  ScalarFunction,
} from '../function-types.ts';
import { always } from '../function-types.ts';
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
import type { JsonPath } from '../json/json-path.ts';
import { eachNode, parseJsonPath } from '../json/json-path.ts';
import { TextSink, decodeBytes, textAt } from '../text-sink.ts';
import { Outcome, makeBoolean, makeFloat64, makeInt64, strideOf } from '../vector.ts';
import { fitsInt64, int64AsNumber, writeInt64 } from '../wide.ts';
import { ListTextSink } from './list-text-sink.ts';
import { sliceAt } from './text-rows.ts';

/** Goes to the value at a path; false: the text is no JSON, or there is none. It is `found` then. */
function locate(args: readonly Column[], row: number): boolean {
  const { bytes, from, to } = sliceAt(args[0] as Column, row);
  if (documentStart(bytes, from, to) < 0) return false;
  for (let at = 1; at < args.length; at++) {
    const step = args[at] as Column;
    if (step.tag === 'text') {
      const key = sliceAt(step, row);
      if (!findKey(bytes, found.at, found.end, key.bytes, key.from, key.to)) return false;
    } else if (!findIndex(bytes, found.at, found.end, indexAt(step, row))) return false;
  }
  return true;
}

const indexAt = (column: Column, row: number): number => {
  const at = row * strideOf(column);
  return column.tag === 'int32'
    ? ((column as Int32Column).values[at] as number)
    : int64AsNumber((column as Int64Column).words, at);
};

/** Calls `each` with the bytes in which `found` lies; a row it answers with false is NULL. */
function rowsOf(
  args: readonly Column[],
  rows: number,
  outcome: Outcome,
  each: (bytes: Uint8Array, row: number) => boolean,
  endRow: () => void = () => undefined,
): void {
  const { bytes } = args[0] as TextColumn;
  for (let row = 0; row < rows; row++) {
    if (outcome.has(row) && !(locate(args, row) && each(bytes, row))) outcome.makeNull(row);
    endRow();
  }
}

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

const asJson = textual(JSON_TYPE, (bytes, at, end, sink) => {
  sink.append(bytes, at, end);
  return true;
});

const asText = textual(TEXT, (bytes, at, end, sink) => {
  if (kindOf(bytes, at) === 'null') return false;
  appendText(bytes, at, end, sink);
  return true;
});

const asString = textual(TEXT, (bytes, at, end, sink) => {
  if (kindOf(bytes, at) !== 'string') return false;
  appendText(bytes, at, end, sink);
  return true;
});

const kindName = textual(TEXT, (bytes, at, _end, sink) => {
  sink.appendString(kindOf(bytes, at));
  return true;
});

const asInt: Evaluate = (args, rows, errors) => {
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

const asFloat: Evaluate = (args, rows, errors) => {
  const outcome = new Outcome(args, rows, errors);
  const result = makeFloat64(rows);
  rowsOf(args, rows, outcome, (bytes, row) => {
    if (kindOf(bytes, found.at) !== 'number') return false;
    result.values[row] = Number(decodeBytes(bytes, found.at, found.end));
    return true;
  });
  return { ...result, validity: outcome.validity };
};

const asBoolean: Evaluate = (args, rows, errors) => {
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
const truth =
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

const length =
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
    const sink = new ListTextSink(rows);
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

const keys = members('object', (bytes, key, keyEnd, _value, _end, sink) => {
  const name = new TextEncoder().encode(stringAt(bytes, key, keyEnd));
  sink.push(name, 0, name.length);
});
const elements = members('array', (bytes, _key, _keyEnd, value, end, sink) =>
  sink.push(bytes, value, end),
);

const isValid: Evaluate = (args, rows, errors) => {
  const outcome = new Outcome(args, rows, errors);
  const result = makeBoolean(rows, null);
  for (let row = 0; row < rows; row++) {
    const { bytes, from, to } = sliceAt(args[0] as Column, row);
    if (outcome.has(row) && documentStart(bytes, from, to) >= 0) setBit(result.bits, row);
  }
  return { ...result, validity: outcome.validity };
};

const contains =
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
const byTextPath =
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

const PATHS = new Map<string, JsonPath | null>();
function pathOf(text: string): JsonPath | null {
  let path = PATHS.get(text);
  if (path === undefined) {
    if (PATHS.size > 256) PATHS.clear();
    path = parseJsonPath(text);
    PATHS.set(text, path);
  }
  return path;
}

const badPath = (text: string): string =>
  `'${text}' is no JSONPath; write $.name, $['name'], $[0], $[*] or $..name`;

/** @param each  gets every node of a row until it gives false; the answer: whether the row has a value */
const byJsonPath = (
  args: readonly Column[],
  rows: number,
  outcome: Outcome,
  each: (bytes: Uint8Array, at: number, end: number) => boolean,
  endRow: (row: number, present: boolean) => void,
): void => {
  const [input, path] = args as readonly [TextColumn, TextColumn];
  for (let row = 0; row < rows; row++) {
    let present = false;
    if (outcome.has(row)) {
      const text = textAt(path, row * strideOf(path));
      const steps = pathOf(text);
      if (steps === null) outcome.fail(row, 'PARSE_ERROR', () => badPath(text));
      else if (locate([input], row)) {
        present = true;
        eachNode(steps, input.bytes, found.at, found.end, (at, end) => each(input.bytes, at, end));
      }
    }
    endRow(row, present);
  }
};

const firstNode =
  (write: (bytes: Uint8Array, at: number, end: number, sink: TextSink) => void): Evaluate =>
  (args, rows, errors) => {
    const outcome = new Outcome(args, rows, errors);
    const sink = new TextSink(rows, 16 * rows);
    let any = false;
    byJsonPath(
      args,
      rows,
      outcome,
      (bytes, at, end) => {
        any = true;
        write(bytes, at, end, sink);
        return false;
      },
      (row) => {
        if (!any) outcome.makeNull(row);
        any = false;
        sink.endRow();
      },
    );
    return sink.finish(outcome.validity);
  };

const allNodes: Evaluate = (args, rows, errors, type) => {
  const outcome = new Outcome(args, rows, errors);
  const sink = new ListTextSink(rows);
  byJsonPath(
    args,
    rows,
    outcome,
    (bytes, at, end) => {
      sink.push(bytes, at, end);
      return true;
    },
    (_row, present) => sink.endRow(present),
  );
  return sink.finish(type);
};

const checkPath: NonNullable<ScalarFunction['check']> = ([, path]) =>
  typeof path !== 'string' || parseJsonPath(path) !== null ? null : badPath(path);

const fn = (
  name: string,
  args: readonly ArgumentPattern[],
  type: SqlType,
  doc: string,
  example: FunctionExample,
  evaluate: Evaluate,
  more: Partial<ScalarFunction> = {},
): ScalarFunction => ({
  id: `json:${name}`,
  name,
  args,
  result: always(type),
  nullRule: 'strict',
  canFail: false,
  mayBeNull: true,
  doc,
  examples: [example],
  evaluate,
  ...more,
});

/** A function with a path of keys and places. */
const withPath = (
  name: string,
  type: SqlType,
  doc: string,
  [json, ...path]: readonly (string | number)[],
  gives: FunctionExample['gives'],
  evaluate: Evaluate,
  more: Partial<ScalarFunction> = {},
): ScalarFunction =>
  fn(name, ['text'], type, doc, { args: [json as string, ...path], gives }, evaluate, {
    rest: 'each',
    ...more,
  });

/** An operator between a JSON text and a key or a place. */
const sign = (name: string, type: SqlType, doc: string, evaluate: Evaluate): ScalarFunction[] => [
  fn(name, ['text', 'text'], type, doc, { args: ['{"a":1}', 'a'], gives: '1' }, evaluate, {
    infix: name,
    id: `json:${name}:key`,
  }),
  fn(name, ['text', 'int64'], type, doc, { args: ['[1,2]', '1'], gives: '2' }, evaluate, {
    infix: name,
    id: `json:${name}:place`,
  }),
];

const DOCUMENT = '{"a":[1,"x",true]}';
const has = truth(() => true, Infinity);

export const JSON_FUNCTIONS: readonly ScalarFunction[] = [
  ...sign('->', JSON_TYPE, 'the member of a key, or of a place in an array, as JSON', asJson),
  ...sign(
    '->>',
    TEXT,
    'the member of a key, or of a place in an array, as text; NULL for null',
    asText,
  ),
  fn(
    '#>',
    ['text', 'text'],
    JSON_TYPE,
    'the value at a path {a,0,b}, as JSON',
    { args: [DOCUMENT, '{a,1}'], gives: '"x"' },
    byTextPath('json'),
    { infix: '#>' },
  ),
  fn(
    '#>>',
    ['text', 'text'],
    TEXT,
    'the value at a path {a,0,b}, as text',
    { args: [DOCUMENT, '{a,1}'], gives: 'x' },
    byTextPath('text'),
    { infix: '#>>' },
  ),
  fn(
    '?',
    ['text', 'text'],
    BOOLEAN,
    'whether the object has the key',
    { args: [DOCUMENT, 'a'], gives: true },
    has,
    { infix: '?', mayBeNull: false },
  ),
  fn(
    '@>',
    ['text', 'text'],
    BOOLEAN,
    'whether the first JSON value holds the second',
    { args: ['{"a":1,"b":[2,3]}', '{"b":[3]}'], gives: true },
    contains(false),
    { infix: '@>' },
  ),
  fn(
    '<@',
    ['text', 'text'],
    BOOLEAN,
    'whether the second JSON value holds the first',
    { args: ['{"b":[3]}', '{"a":1,"b":[2,3]}'], gives: true },
    contains(true),
    { infix: '<@' },
  ),
  withPath(
    'json_get',
    JSON_TYPE,
    'the value at a path, as JSON',
    [DOCUMENT, 'a', 1],
    '"x"',
    asJson,
  ),
  withPath(
    'json_get_json',
    TEXT,
    'the JSON text of the value at a path',
    [DOCUMENT, 'a', 1],
    '"x"',
    (args, rows, errors, type) =>
      ({ ...asJson(args, rows, errors, type), type: TEXT }) as TextColumn,
  ),
  withPath(
    'json_get_str',
    TEXT,
    'the string at a path; NULL for other values',
    [DOCUMENT, 'a', 1],
    'x',
    asString,
  ),
  withPath(
    'json_get_int',
    INT64,
    'the whole number at a path; NULL for other values',
    [DOCUMENT, 'a', 0],
    '1',
    asInt,
  ),
  withPath(
    'json_get_float',
    FLOAT64,
    'the number at a path; NULL for other values',
    [DOCUMENT, 'a', 0],
    1,
    asFloat,
  ),
  withPath(
    'json_get_bool',
    BOOLEAN,
    'the truth at a path; NULL for other values',
    [DOCUMENT, 'a', 2],
    true,
    asBoolean,
  ),
  withPath(
    'json_get_array',
    listType(JSON_TYPE),
    'the elements of the array at a path, as JSON',
    [DOCUMENT, 'a'],
    ['1', '"x"', 'true'],
    elements,
  ),
  withPath(
    'json_as_text',
    TEXT,
    'the value at a path as text, a string without its quotes; NULL for null',
    [DOCUMENT, 'a', 1],
    'x',
    asText,
  ),
  withPath(
    'json_contains',
    BOOLEAN,
    'whether there is a value at a path',
    [DOCUMENT, 'a', 9],
    false,
    has,
    { mayBeNull: false },
  ),
  withPath(
    'json_length',
    INT64,
    'how many members the object or array at a path has',
    [DOCUMENT, 'a'],
    '3',
    length(['object', 'array']),
  ),
  withPath(
    'json_array_length',
    INT64,
    'how many elements the array at a path has',
    [DOCUMENT, 'a'],
    '3',
    length(['array']),
  ),
  withPath(
    'json_object_keys',
    listType(TEXT),
    'the keys of the object at a path',
    [DOCUMENT],
    ['a'],
    keys,
  ),
  withPath(
    'json_typeof',
    TEXT,
    'object, array, string, number, boolean or null',
    [DOCUMENT, 'a', 2],
    'boolean',
    kindName,
  ),
  fn(
    'is_valid_json',
    ['text'],
    BOOLEAN,
    'whether the text is JSON',
    { args: ['{"a":}'], gives: false },
    isValid,
    { mayBeNull: false },
  ),
  fn(
    'get_first_json_object',
    ['text', 'text'],
    TEXT,
    'the JSON text of the first value that a JSONPath finds',
    { args: [DOCUMENT, '$.a[1]'], gives: '"x"' },
    firstNode((bytes, at, end, sink) => sink.append(bytes, at, end)),
    { canFail: true, check: checkPath },
  ),
  fn(
    'extract_json',
    ['text', 'text'],
    listType(TEXT),
    'the JSON texts of all values that a JSONPath finds',
    { args: [DOCUMENT, '$.a[0:2]'], gives: ['1', '"x"'] },
    allNodes,
    { canFail: true, check: checkPath },
  ),
  fn(
    'extract_json_string',
    ['text', 'text'],
    TEXT,
    'the first value that a JSONPath finds, a string without its quotes',
    { args: [DOCUMENT, '$..a[1]'], gives: 'x' },
    firstNode(appendText),
    { canFail: true, check: checkPath },
  ),
];
