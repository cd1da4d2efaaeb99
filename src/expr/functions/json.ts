/**
 * JSON out of text: members by key and index, kinds, sizes, containment, JSONPath. A text that is no JSON gives NULL, as does a
 * path to nowhere. The functions as they are declared; what they compute: `json-values.ts` at a path of keys and places,
 * `json-nodes.ts` by JSONPath.
 */
import type { TextColumn } from '../../batch/column.ts';
import type { SqlType } from '../../batch/types.ts';
import { BOOLEAN, FLOAT64, INT64, JSON_TYPE, TEXT, listType } from '../../batch/types.ts';
import type {
  ArgumentPattern,
  Evaluate,
  FunctionExample,
  ScalarFunction,
} from '../function-types.ts';
import { always } from '../function-types.ts';
import { appendText } from '../json/json-bytes.ts';
import { allNodes, checkPath, firstNode } from './json-nodes.ts';
import {
  asBoolean,
  asFloat,
  asInt,
  asJson,
  asString,
  asText,
  byTextPath,
  contains,
  elements,
  isValid,
  keys,
  kindName,
  length,
  truth,
} from './json-values.ts';

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
    { canFail: true },
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
    { canFail: true },
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
