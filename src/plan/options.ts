/**
 * WITH options: values as written → canonical values, checked against declarations.
 *
 * Every key is known or an error: an option that is silently ignored is a promise silently broken.
 * Canonical values are strings, numbers and booleans; durations in milliseconds, sizes in bytes.
 */
import { nearest } from '../base/nearest.ts';
import type { OptionValue, TableOption } from '../sql/ast-statement.ts';
import type { OptionDeclaration } from './declaration.ts';
import { type Diagnostics, withSuggestion } from './diagnostics.ts';
import { parseInterval } from './interval.ts';

export type Role = 'source' | 'sink';

export type CanonicalValue = string | number | boolean;

/** Options of every table, whatever its connector. `json.` spellings are the same options. */
export const COMMON_OPTIONS: readonly OptionDeclaration[] = [
  {
    name: 'connector',
    type: 'text',
    required: true,
    fallback: null,
    for: 'both',
    doc: 'Name of the connector.',
  },
  {
    name: 'connection_profile',
    type: 'text',
    required: false,
    fallback: null,
    for: 'both',
    doc: 'Name of a stored connection profile, whose options hold where the table does not say them itself.',
  },
  {
    name: 'type',
    type: 'choice',
    choices: ['source', 'sink'],
    required: false,
    fallback: null,
    for: 'both',
    doc: 'Whether the table is read or written; found from its use when absent.',
  },
  {
    name: 'format',
    type: 'choice',
    choices: ['json', 'debezium_json', 'parquet'],
    required: false,
    fallback: 'json',
    for: 'both',
    doc: 'How rows are written as bytes.',
  },
  {
    name: 'bad_data',
    type: 'choice',
    choices: ['dead_letter', 'drop', 'fail'],
    required: false,
    fallback: 'dead_letter',
    for: 'source',
    doc: 'What becomes of a row that can not be decoded: kept in the error table, counted only, or the pipeline fails.',
  },
  {
    name: 'errors.raw',
    type: 'choice',
    choices: ['keep', 'redact'],
    required: false,
    fallback: 'keep',
    for: 'source',
    doc: 'Whether the error table shows the text of a row that went wrong, here or in any operator that its rows reach, or only its SHA-256.',
  },
  {
    name: 'timestamp_format',
    type: 'choice',
    choices: ['rfc3339', 'unix_seconds', 'unix_millis', 'unix_micros', 'unix_nanos'],
    required: false,
    fallback: null,
    for: 'both',
    doc: 'How timestamps are written.',
  },
  {
    name: 'json.decimal_encoding',
    type: 'choice',
    choices: ['number', 'string'],
    required: false,
    fallback: null,
    for: 'both',
    doc: 'How DECIMAL values are written.',
  },
  {
    name: 'json.unstructured',
    type: 'boolean',
    required: false,
    fallback: false,
    for: 'source',
    doc: 'Keep each row as one TEXT column named value.',
  },
  {
    name: 'parquet.compression',
    type: 'choice',
    choices: ['snappy', 'uncompressed'],
    required: false,
    fallback: 'snappy',
    for: 'sink',
    doc: 'How the pages of Parquet files are compressed.',
  },
  {
    name: 'parquet.row_group_bytes',
    type: 'bytes',
    required: false,
    fallback: 16 * 1024 * 1024,
    min: 64 * 1024,
    max: 64 * 1024 * 1024,
    for: 'sink',
    doc: 'A row group of a Parquet file is closed when it has this size; at the end of the file in any case.',
  },
  {
    name: 'late_rows',
    type: 'choice',
    choices: ['count', 'dead_letter'],
    required: false,
    fallback: 'count',
    for: 'source',
    doc: 'What becomes of a row that comes after its windows have closed.',
  },
  {
    name: 'idle_time',
    type: 'duration',
    required: false,
    fallback: null,
    for: 'source',
    doc: 'A partition that is silent for so long holds nobody back.',
  },
  {
    name: 'watermark.idle_advance',
    type: 'duration',
    required: false,
    fallback: null,
    for: 'source',
    doc: 'After this silence the watermark runs on with the clock.',
  },
  {
    name: 'event_time_field',
    type: 'text',
    required: false,
    fallback: null,
    for: 'source',
    doc: 'Older spelling of WATERMARK FOR.',
  },
  {
    name: 'watermark_field',
    type: 'text',
    required: false,
    fallback: null,
    for: 'source',
    doc: 'Older spelling of WATERMARK FOR … AS.',
  },
];

/** Other spelling → the option's name. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['json.timestamp_format', 'timestamp_format'],
  ['decimal_encoding', 'json.decimal_encoding'],
  ['unstructured', 'json.unstructured'],
  ['idle_advance', 'watermark.idle_advance'],
  ['parquet.row_group_size', 'parquet.row_group_bytes'],
  ['rolling_policy.file_size', 'file_bytes_max'],
]);

/** The values given, by option name. */
export type WrittenOptions = ReadonlyMap<string, TableOption>;

/** Options by their names; a key given twice is an error. */
export function collectOptions(
  options: readonly TableOption[],
  diagnostics: Diagnostics,
): WrittenOptions {
  const written = new Map<string, TableOption>();
  for (const option of options) {
    const key = option.key.toLowerCase();
    const name = ALIASES.get(key) ?? key;
    if (written.has(name))
      diagnostics.error('DUPLICATE_NAME', `option "${option.key}" is given twice`, option.keySpan);
    else written.set(name, option);
  }
  return written;
}

export type ReadOptions = {
  common: ReadonlyMap<string, CanonicalValue>;
  own: Record<string, CanonicalValue>;
};

/**
 * Canonical values of all options, fallbacks filled in; what is wrong is reported.
 *
 * @param role  null when the table is never used: options of either side are then accepted, and none is missing
 */
export function readOptions(
  written: WrittenOptions,
  declared: readonly OptionDeclaration[],
  role: Role | null,
  place: TableOption['span'],
  diagnostics: Diagnostics,
): ReadOptions {
  const common = new Map<string, CanonicalValue>();
  const own: Record<string, CanonicalValue> = {};
  const applies = (declaration: OptionDeclaration): boolean =>
    role === null || declaration.for === 'both' || declaration.for === role;
  // A connector may narrow a common option (impulse has no bad rows), so its own declaration comes first.
  const known = [
    ...declared,
    ...COMMON_OPTIONS.filter((option) => !declared.some((other) => other.name === option.name)),
  ];
  for (const [name, option] of written) {
    const declaration = known.find((candidate) => candidate.name === name);
    if (declaration === undefined) reportUnknown(option, known.filter(applies), diagnostics);
    else if (!applies(declaration)) {
      diagnostics.error(
        'INVALID_OPTION',
        `option "${option.key}" is for a ${declaration.for}, and this table is a ${role}`,
        option.keySpan,
      );
    }
  }
  for (const declaration of known) {
    if (!applies(declaration)) continue;
    const value = valueOf(written.get(declaration.name), declaration, role, place, diagnostics);
    if (value === null) continue;
    if (declared.includes(declaration)) own[declaration.name] = value;
    else common.set(declaration.name, value);
  }
  return { common, own };
}

function valueOf(
  option: TableOption | undefined,
  declaration: OptionDeclaration,
  role: Role | null,
  place: TableOption['span'],
  diagnostics: Diagnostics,
): CanonicalValue | null {
  if (option !== undefined) return readValue(option, declaration, diagnostics);
  // A table without a connector was refused before its options are read.
  if (
    declaration.required &&
    declaration.name !== 'connector' &&
    role !== null &&
    declaration.fallback === null
  ) {
    diagnostics.error('MISSING_OPTION', `option "${declaration.name}" is missing`, place, {
      hint: declaration.doc,
    });
  }
  return declaration.fallback;
}

function reportUnknown(
  option: TableOption,
  known: readonly OptionDeclaration[],
  diagnostics: Diagnostics,
): void {
  const names = known.map((declaration) => declaration.name);
  const suggestion = nearest(option.key, [...names, ...ALIASES.keys()]);
  diagnostics.error(
    'UNKNOWN_OPTION',
    `unknown option "${option.key}"`,
    option.keySpan,
    withSuggestion(
      suggestion,
      suggestion === null ? `the options are ${names.join(', ')}` : `did you mean ${suggestion}?`,
    ),
  );
}

/** One option's canonical value; null after an error was reported. */
export function readValue(
  option: TableOption,
  declaration: OptionDeclaration,
  diagnostics: Diagnostics,
): CanonicalValue | null {
  const value = canonical(option.value, declaration);
  if (value !== null && inBounds(value, declaration)) return value;
  const word = textOf(option.value);
  const suggestion =
    declaration.type === 'choice' && word !== null
      ? nearest(word, declaration.choices ?? [])
      : null;
  const { hint, wanted } = expectation(declaration);
  diagnostics.error(
    'INVALID_OPTION',
    `option "${option.key}" must be ${wanted}`,
    option.value.span,
    withSuggestion(suggestion, hint),
  );
  return null;
}

/** A text may not be empty; its bounds are in bytes of UTF-8. */
function inBounds(value: CanonicalValue, { type, min, max }: OptionDeclaration): boolean {
  if (typeof value === 'boolean' || type === 'choice') return true;
  const size = typeof value === 'number' ? value : new TextEncoder().encode(value).byteLength;
  const least = typeof value === 'number' ? min : (min ?? 1);
  return (least === undefined || size >= least) && (max === undefined || size <= max);
}

/** ` from 1 to 10`, or nothing when there are no bounds. */
function boundsText({ min, max }: OptionDeclaration): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  return min === undefined
    ? max === undefined
      ? ''
      : ` of ${max} at most`
    : ` of ${min} at least`;
}

function expectation(declaration: OptionDeclaration): { wanted: string; hint: string } {
  switch (declaration.type) {
    case 'choice': {
      const choices = (declaration.choices ?? []).map((choice) => `'${choice}'`).join(', ');
      return { wanted: `one of ${choices}`, hint: declaration.doc };
    }
    case 'duration':
      return {
        wanted: 'a length of time',
        hint: "write interval '30 seconds' or '30 seconds'; months have no fixed length, and it can not be negative",
      };
    case 'bytes':
      return {
        wanted: `a size${boundsText(declaration)}`,
        hint: "write '64MB', or a number of bytes",
      };
    case 'integer':
      return { wanted: `a whole number${boundsText(declaration)}`, hint: declaration.doc };
    case 'number':
      return { wanted: `a number${boundsText(declaration)}`, hint: declaration.doc };
    case 'boolean':
      return { wanted: 'true or false', hint: declaration.doc };
    case 'names':
      return {
        wanted: 'a list of names',
        hint: "write ['a', 'b'], or 'a, b'",
      };
    case 'text':
      return {
        wanted:
          declaration.max === undefined
            ? 'a string that is not empty'
            : `a string of 1 to ${declaration.max} bytes`,
        hint: declaration.doc,
      };
  }
}

function textOf(value: OptionValue): string | null {
  if (value.tag === 'string') return value.value;
  if (value.tag === 'name') return value.name.text;
  if (value.tag === 'number') return value.text;
  return null;
}

function canonical(value: OptionValue, declaration: OptionDeclaration): CanonicalValue | null {
  const text = textOf(value);
  switch (declaration.type) {
    case 'names':
      return namesOf(value);
    case 'text':
      return value.tag === 'number' ? null : text;
    case 'choice':
      return declaration.choices?.find((choice) => choice === text?.toLowerCase()) ?? null;
    case 'boolean':
      if (value.tag === 'boolean') return value.value;
      return text === null
        ? null
        : ({ true: true, yes: true, false: false, no: false }[text.toLowerCase()] ?? null);
    case 'integer':
      return text !== null && /^-?\d+$/.test(text.trim()) && Number.isSafeInteger(Number(text))
        ? Number(text)
        : null;
    case 'number':
      return text !== null && text.trim() !== '' && Number.isFinite(Number(text))
        ? Number(text)
        : null;
    case 'bytes':
      return text === null ? null : parseBytes(text);
    case 'duration':
      return durationMs(value);
  }
}

/** Names as a JSON array; null when some are missing, empty or there twice. */
function namesOf(value: OptionValue): string | null {
  const names =
    value.tag === 'array_option' ? value.elements.map(textOf) : textOf(value)?.split(',');
  const plain = names?.map((name) => name?.trim() ?? '') ?? [];
  const good = plain.length > 0 && !plain.includes('') && new Set(plain).size === plain.length;
  return good ? JSON.stringify(plain) : null;
}

/** Whole milliseconds, or null when it is no non-negative length of time. */
function durationMs(value: OptionValue): number | null {
  const text = value.tag === 'interval' ? value.text : textOf(value);
  if (text === null) return null;
  const interval = parseInterval(text, value.tag === 'interval' ? value.unit : null);
  if (interval === null || interval.months !== 0 || interval.micros < 0n) return null;
  const milliseconds = Number(interval.micros / 1000n);
  return interval.micros % 1000n === 0n && Number.isSafeInteger(milliseconds) ? milliseconds : null;
}

const SIZES = ['B', 'K', 'M', 'G', 'T'];

function parseBytes(text: string): number | null {
  const match = /^(\d+)\s*([BKMGT])?I?B?$/.exec(text.trim().toUpperCase());
  if (match === null) return null;
  const bytes = Number(match[1]) * 1024 ** SIZES.indexOf(match[2] ?? 'B');
  return Number.isSafeInteger(bytes) ? bytes : null;
}
