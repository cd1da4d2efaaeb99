/**
 * Bytes: digests, encodings, and values made of the digest of others. Text counts as its UTF-8 bytes.
 *
 * uuid(…) and random(…) take the values they are made of: a replay of a row must give what the row gave before.
 */
import type { Column, TextColumn } from '../../batch/column.ts';
import {
  hexText,
  readBase64,
  bytesOfHex,
  base64Size,
  writeBase64,
} from '../../batch/bytes-text.ts';
import { BYTEA, FLOAT64, INT64, TEXT } from '../../batch/types.ts';
import type { SqlType } from '../../batch/types.ts';
import { md5 } from '../digest/md5.ts';
import { sha2 } from '../digest/sha2.ts';
import type { Sha2 } from '../digest/sha2.ts';
import type { Evaluate, FunctionExample, ScalarFunction } from '../function-types.ts';
import { always } from '../function-types.ts';
import { TextSink, decodeBytes, encodeText, textAt } from '../text-sink.ts';
import { Outcome, isPresent, makeFloat64, makeInt64, strideOf } from '../vector.ts';
import { sliceAt } from './text-rows.ts';

type Digest = (bytes: Uint8Array, from: number, to: number) => Uint8Array;

const sha =
  (kind: Sha2): Digest =>
  (bytes, from, to) =>
    sha2(kind, bytes, from, to);

const DIGESTS: Readonly<Record<string, Digest>> = {
  md5,
  sha224: sha('sha224'),
  sha256: sha('sha256'),
  sha384: sha('sha384'),
  sha512: sha('sha512'),
};

/** Rows of bytes or text, written by `each`; a row it fails must not have been written to. */
const perRow =
  (
    type: SqlType,
    each: (args: readonly Column[], row: number, sink: TextSink, outcome: Outcome) => void,
  ): Evaluate =>
  (args, rows, errors) => {
    const outcome = new Outcome(args, rows, errors);
    const sink = new TextSink(rows, 32 * rows, errors);
    for (let row = 0; row < rows; row++) {
      if (outcome.has(row)) each(args, row, sink, outcome);
      sink.endRow();
    }
    return { ...sink.finish(outcome.validity), type };
  };

const appendAll = (sink: TextSink, bytes: Uint8Array): void => sink.append(bytes, 0, bytes.length);

const digested = (make: Digest): Evaluate =>
  perRow(BYTEA, (args, row, sink) => {
    const { bytes, from, to } = sliceAt(args[0] as Column, row);
    appendAll(sink, make(bytes, from, to));
  });

const md5Text: Evaluate = perRow(TEXT, (args, row, sink) => {
  const { bytes, from, to } = sliceAt(args[0] as Column, row);
  const digest = md5(bytes, from, to);
  sink.appendString(bareHex(digest, 0, digest.length));
});

const digestNamed: Evaluate = perRow(BYTEA, (args, row, sink, outcome) => {
  const { bytes, from, to } = sliceAt(args[0] as Column, row);
  const kind = args[1] as TextColumn;
  const name = textAt(kind, row * strideOf(kind)).toLowerCase();
  const make = DIGESTS[name];
  if (make === undefined) outcome.fail(row, 'PARSE_ERROR', () => unknownDigest(name));
  else appendAll(sink, make(bytes, from, to));
});

const unknownDigest = (name: string): string =>
  `there is no digest ${name}; there are ${Object.keys(DIGESTS).join(', ')}`;

const bareHex = (bytes: Uint8Array, from: number, to: number): string =>
  hexText(bytes, from, to).slice(2);

/** The escape format of Postgres: printable ASCII as it is, other bytes as three octal digits. */
function escapeText(bytes: Uint8Array, from: number, to: number): string {
  let text = '';
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number;
    if (byte === 92) text += '\\\\';
    else if (byte === 0 || byte > 127) text += `\\${byte.toString(8).padStart(3, '0')}`;
    else text += String.fromCharCode(byte);
  }
  return text;
}

function base64Text(bytes: Uint8Array, from: number, to: number): string {
  const out = new Uint8Array(base64Size(to - from));
  writeBase64(out, 0, bytes, from, to);
  return decodeBytes(out, 0, out.length);
}

function bytesOfBase64(text: string): Uint8Array | null {
  const encoded = encodeText(text.replace(/\s/g, ''));
  const out = new Uint8Array(encoded.length);
  const size = readBase64(encoded, 0, encoded.length, out, 0);
  return size < 0 ? null : out.subarray(0, size);
}

function bytesOfEscape(text: string): Uint8Array | null {
  const bytes: number[] = [];
  for (const [piece, octal, plain] of text.matchAll(/\\([0-3][0-7]{2})|\\\\|([^])/gu)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else if (plain === '\\') return null;
    else if (plain === undefined) bytes.push(92);
    else bytes.push(...encodeText(piece));
  }
  return Uint8Array.from(bytes);
}

type Encoding = {
  write: (bytes: Uint8Array, from: number, to: number) => string;
  read: (text: string) => Uint8Array | null;
};

const ENCODINGS: Readonly<Record<string, Encoding>> = {
  hex: { write: bareHex, read: bytesOfHex },
  base64: { write: base64Text, read: bytesOfBase64 },
  base64url: {
    write: (bytes, from, to) =>
      base64Text(bytes, from, to).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''),
    read: (text) => {
      const plain = text.replaceAll('-', '+').replaceAll('_', '/').replaceAll('=', '');
      return bytesOfBase64(plain.padEnd(Math.ceil(plain.length / 4) * 4, '='));
    },
  },
  escape: { write: escapeText, read: bytesOfEscape },
};

const unknownEncoding = (name: string): string =>
  `there is no encoding ${name}; there are ${Object.keys(ENCODINGS).join(', ')}`;

const encode: Evaluate = perRow(TEXT, (args, row, sink, outcome) => {
  const { bytes, from, to } = sliceAt(args[0] as Column, row);
  const format = args[1] as TextColumn;
  const name = textAt(format, row * strideOf(format)).toLowerCase();
  const encoding = ENCODINGS[name];
  if (encoding === undefined) outcome.fail(row, 'PARSE_ERROR', () => unknownEncoding(name));
  else sink.appendString(encoding.write(bytes, from, to));
});

const decode: Evaluate = perRow(BYTEA, (args, row, sink, outcome) => {
  const text = textAt(args[0] as TextColumn, row * strideOf(args[0] as Column));
  const format = args[1] as TextColumn;
  const name = textAt(format, row * strideOf(format)).toLowerCase();
  const encoding = ENCODINGS[name];
  const bytes = encoding?.read(text) ?? null;
  if (encoding === undefined) outcome.fail(row, 'PARSE_ERROR', () => unknownEncoding(name));
  else if (bytes === null)
    outcome.fail(row, 'INVALID_CAST', () => `a text is not in the encoding ${name}`);
  else appendAll(sink, bytes);
});

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes as text, when they are UTF-8. */
const fromUtf8: Evaluate = perRow(TEXT, (args, row, sink, outcome) => {
  const { bytes, from, to } = sliceAt(args[0] as Column, row);
  try {
    strictDecoder.decode(bytes.subarray(from, to));
    sink.append(bytes, from, to);
  } catch {
    outcome.fail(row, 'INVALID_CAST', () => 'bytes are not UTF-8');
  }
});

/** All values of a row as bytes: each with its length before it, so that no two rows look alike. */
function rowBytes(args: readonly Column[], row: number): Uint8Array {
  const parts: number[] = [];
  for (const column of args) {
    if (!isPresent(column, row)) parts.push(255);
    else {
      const { bytes, from, to } = sliceAt(column, row);
      parts.push(1, (to - from) & 255, ((to - from) >> 8) & 255, (to - from) >> 16);
      for (let at = from; at < to; at++) parts.push(bytes[at] as number);
    }
  }
  return Uint8Array.from(parts);
}

/** Rows without regard to NULLs, from a digest of all arguments. */
const ofDigest =
  (make: Digest, write: (digest: Uint8Array, sink: TextSink) => void, type: SqlType): Evaluate =>
  (args, rows) => {
    const sink = new TextSink(rows, 40 * rows);
    for (let row = 0; row < rows; row++) {
      const bytes = rowBytes(args, row);
      write(make(bytes, 0, bytes.length), sink);
      sink.endRow();
    }
    return { ...sink.finish(null), type };
  };

/** Version 8 of RFC 9562: a UUID of the user's own making. */
function writeUuid(digest: Uint8Array, sink: TextSink): void {
  const bytes = digest.slice(0, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = bareHex(bytes, 0, 16);
  sink.appendString(
    `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`,
  );
}

const random: Evaluate = (args, rows) => {
  const result = makeFloat64(rows);
  for (let row = 0; row < rows; row++) {
    const bytes = rowBytes(args, row);
    const view = new DataView(md5(bytes, 0, bytes.length).buffer);
    result.values[row] = (view.getUint32(0) * 2097152 + (view.getUint32(4) >>> 11)) / 2 ** 53;
  }
  return result;
};

const hash: Evaluate = (args, rows) => {
  const result = makeInt64(rows, INT64);
  for (let row = 0; row < rows; row++) {
    const bytes = rowBytes(args, row);
    const view = new DataView(md5(bytes, 0, bytes.length).buffer);
    result.words[2 * row] = view.getInt32(0);
    result.words[2 * row + 1] = view.getInt32(4);
  }
  return result;
};

const fn = (
  id: string,
  name: string,
  args: ScalarFunction['args'],
  type: SqlType,
  doc: string,
  example: FunctionExample,
  evaluate: Evaluate,
  more: Partial<ScalarFunction> = {},
): ScalarFunction => ({
  id,
  name,
  args,
  result: always(type),
  nullRule: 'strict',
  canFail: false,
  doc,
  examples: [example],
  evaluate,
  ...more,
});

/** Once for text and once for bytes. */
const both = (
  name: string,
  rest: ScalarFunction['args'],
  type: SqlType,
  doc: string,
  example: (input: string) => FunctionExample,
  evaluate: Evaluate,
  more: Partial<ScalarFunction> = {},
): ScalarFunction[] =>
  (['text', 'bytea'] as const).map((input) =>
    fn(
      `${name}:${input}`,
      name,
      [input, ...rest],
      type,
      doc,
      example(input === 'text' ? 'abc' : '\\x616263'),
      evaluate,
      more,
    ),
  );

const EXAMPLES: Readonly<Record<string, string>> = {
  sha224: '23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7',
  sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  sha384:
    'cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7',
  sha512:
    'ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f',
};

const checkName =
  (
    known: Readonly<Record<string, unknown>>,
    unknown: (name: string) => string,
  ): NonNullable<ScalarFunction['check']> =>
  ([, name]) =>
    typeof name !== 'string' || name.toLowerCase() in known ? null : unknown(name);

export const BYTES: readonly ScalarFunction[] = [
  ...both(
    'md5',
    [],
    TEXT,
    'the MD5 digest in hexadecimal',
    (input) => ({ args: [input], gives: '900150983cd24fb0d6963f7d28e17f72' }),
    md5Text,
  ),
  ...Object.entries(EXAMPLES).flatMap(([name, gives]) =>
    both(
      name,
      [],
      BYTEA,
      `the ${name.toUpperCase().replace('SHA', 'SHA-')} digest`,
      (input) => ({ args: [input], gives: `\\x${gives}` }),
      digested(DIGESTS[name] as Digest),
    ),
  ),
  ...both(
    'digest',
    ['text'],
    BYTEA,
    'the digest of a kind: md5, sha224, sha256, sha384 or sha512',
    (input) => ({ args: [input, 'md5'], gives: '\\x900150983cd24fb0d6963f7d28e17f72' }),
    digestNamed,
    { canFail: true, check: checkName(DIGESTS, unknownDigest) },
  ),
  ...both(
    'encode',
    ['text'],
    TEXT,
    'the bytes as text: hex, base64, base64url or escape',
    (input) => ({ args: [input, 'base64'], gives: 'YWJj' }),
    encode,
    { canFail: true, check: checkName(ENCODINGS, unknownEncoding) },
  ),
  fn(
    'decode',
    'decode',
    ['text', 'text'],
    BYTEA,
    'the bytes that a text of an encoding means: hex, base64, base64url or escape',
    { args: ['YWJj', 'base64'], gives: '\\x616263' },
    decode,
    { canFail: true, check: checkName(ENCODINGS, unknownEncoding) },
  ),
  fn(
    'from-utf8',
    'from_utf8',
    ['bytea'],
    TEXT,
    'the text that the bytes are in UTF-8',
    { args: ['\\x616263'], gives: 'abc' },
    fromUtf8,
    { canFail: true },
  ),
  fn(
    'to-utf8',
    'to_utf8',
    ['text'],
    BYTEA,
    'the bytes of a text in UTF-8',
    { args: ['abc'], gives: '\\x616263' },
    ([input]) => ({ ...(input as TextColumn), type: BYTEA }),
  ),
  fn(
    'multi-hash',
    'multi_hash',
    ['as-text'],
    BYTEA,
    'a digest of 16 bytes over all arguments, NULLs among them',
    { args: ['a'], gives: '\\x9eba66dd1079ebecf296d797a0d9163d' },
    ofDigest(md5, appendDigest, BYTEA),
    { rest: 'as-text', nullRule: 'custom' },
  ),
  fn(
    'uuid',
    'uuid',
    ['as-text'],
    TEXT,
    'a UUID made of the arguments: equal ones give the same UUID, as a replay must',
    { args: ['a'], gives: '79967e1a-c903-8245-aced-3966b31b1e30' },
    ofDigest(sha('sha256'), writeUuid, TEXT),
    { rest: 'as-text', nullRule: 'custom' },
  ),
  fn(
    'random',
    'random',
    ['as-text'],
    FLOAT64,
    'a number from 0 up to 1 made of the arguments: equal ones give the same number, as a replay must',
    { args: ['a'], gives: 0.6200317659099494 },
    random,
    { rest: 'as-text', nullRule: 'custom' },
  ),
  fn(
    'hash',
    'hash',
    ['as-text'],
    INT64,
    'a BIGINT made of the arguments',
    { args: ['a'], gives: '1187239378296661725' },
    hash,
    { rest: 'as-text', nullRule: 'custom' },
  ),
];

function appendDigest(digest: Uint8Array, sink: TextSink): void {
  sink.append(digest, 0, digest.length);
}
