/** Pasted rows against tables: a schema guessed from them, and each row accepted or refused by the decoder that reads it later. */
import type { ErrorReport } from '../../base/errors.ts';
import { fieldsJson } from '../../batch/value-json.ts';
import { DECLARATIONS } from '../../connectors/declarations.ts';
import { inferSchema } from '../../formats/infer-schema.ts';
import { makeRowDecoder } from '../../formats/row-decoder.ts';
import { type SampleRow, splitSample } from '../../formats/sample-rows.ts';
import { readSample } from '../../formats/sample-values.ts';
import { type Diagnostic, withFixes } from '../../graph/check-sql.ts';
import type { SourceSpec } from '../../graph/graph.ts';
import { planSql } from '../../graph/plan-sql.ts';
import { createTableText, typeText } from '../../plan/inferred-table.ts';
import { nameText } from '../../plan/name-text.ts';
import { parseProgram } from '../../sql/parser.ts';
import type { CheckRowsAnswer, CheckedRow, InferAnswer } from './authoring-shapes.ts';

/** Rows looked at, and rows told of. */
const ROWS_MAX = 10_000;
const TOLD_MAX = 1000;
const RAW_MAX = 4096;
const PASSES_MAX = 8;
const OPTIONS = { defaultSink: 'preview' } as const;

/** What became of one row. */
type Verdict = Omit<CheckedRow, 'raw' | 'line' | 'index'>;

export function inferFrom(pasted: string, table: string): InferAnswer {
  const rows = splitSample(pasted, ROWS_MAX);
  const samples = rows.flatMap(({ text }) => {
    const sample = readSample(text);
    return sample === null ? [] : [sample];
  });
  // A column that a row with right JSON is refused for becomes JSON, which holds everything.
  const asJson = new Set<string>();
  for (let pass = 1; ; pass++) {
    const schema = inferSchema(samples, asJson);
    const empty = schema.columns.length === 0;
    const sql = empty ? '' : createTableText(table, schema);
    const spec = empty ? null : sourceOf(sql).spec;
    const verdicts = spec === null ? withoutColumns(rows) : decodeRows(rows, spec);
    const blamed = verdicts.flatMap(({ errors }, at) =>
      errors.flatMap(({ column }) =>
        column !== null && readSample(rows[at]?.text ?? '') !== null ? [column] : [],
      ),
    );
    const more = blamed.filter(
      (name) => !asJson.has(name) && schema.columns.some((column) => column.name === name),
    );
    if (more.length > 0 && asJson.size < schema.columns.length) {
      // A row tells its first fault only: after some passes every column that is left is taken at its word.
      const all = pass >= PASSES_MAX ? schema.columns.map(({ name }) => name) : more;
      for (const name of all) asJson.add(name);
      continue;
    }
    return {
      table,
      columns: schema.columns.map(({ type, ...column }) => ({ ...column, type: typeText(type) })),
      event_time: schema.eventTime,
      left_out: keysOf(samples) - schema.columns.length,
      sql,
      accepted: verdicts.filter((verdict) => verdict.accepted).length,
      rejected: verdicts.filter((verdict) => !verdict.accepted).length,
      rows: told(rows, verdicts).map(({ index, line, accepted, errors, raw }) => ({
        index,
        line,
        accepted,
        errors,
        raw,
      })),
    };
  }
}

const keysOf = (samples: readonly ReadonlyMap<string, unknown>[]): number =>
  new Set(samples.flatMap((sample) => [...sample.keys()])).size;

export function checkAgainst(sql: string, pasted: string): CheckRowsAnswer {
  const { spec, reports } = sourceOf(sql);
  if (spec === null) return { rows: [], accepted: 0, rejected: 0, reports };
  const rows = splitSample(pasted, ROWS_MAX);
  const verdicts = decodeRows(rows, spec);
  const accepted = verdicts.filter((verdict) => verdict.accepted).length;
  return { rows: told(rows, verdicts), accepted, rejected: rows.length - accepted, reports };
}

const told = (rows: readonly SampleRow[], verdicts: readonly Verdict[]): CheckedRow[] =>
  rows.slice(0, TOLD_MAX).map(({ line, raw }, index) => ({
    index,
    line,
    ...(verdicts[index] as Verdict),
    raw: raw.slice(0, RAW_MAX),
  }));

/** For rows that give no column: what is no object is refused by the decoder, with its reason. */
const ANY_TABLE = "CREATE TABLE t (any_key JSON) WITH (connector = 'http', type = 'source');";

function withoutColumns(rows: readonly SampleRow[]): Verdict[] {
  const { spec } = sourceOf(ANY_TABLE);
  if (spec === null) throw new Error('a table of one column plans');
  return decodeRows(rows, spec).map((verdict, index) =>
    verdict.accepted
      ? {
          accepted: false,
          errors: [{ index, code: 'PARSE_ERROR', column: null, message: NO_KEYS }],
          warnings: [],
          value: null,
        }
      : verdict,
  );
}

const NO_KEYS = 'the object has no key that a column could be named after';

/** How the one table of a text is read; null when that is not told or wrong. */
function sourceOf(sql: string): { spec: SourceSpec | null; reports: Diagnostic[] } {
  const { program, errors } = parseProgram(sql);
  const [statement, other] = program.statements;
  if (errors.length === 0 && (statement?.tag !== 'create_table' || other !== undefined))
    return { spec: null, reports: [onlyOne()] };
  const name = statement?.tag === 'create_table' ? nameText(statement.name.name) : null;
  const query = name === null ? '' : `\n;SELECT * FROM ${name};`;
  const text = sql + query;
  const plan = planSql(text, DECLARATIONS, OPTIONS);
  const source = plan.sources[0]?.spec;
  if (source !== undefined) return { spec: source, reports: [] };
  return { spec: null, reports: withFixes(text, plan, DECLARATIONS, OPTIONS).errors };
}

const onlyOne = (): ErrorReport => ({
  code: 'INVALID_REQUEST',
  domain: 'user',
  retry: 'never',
  message: 'rows are checked against one CREATE TABLE, and nothing else',
});

/** A verdict for each row, from the decoder that pipelines use. */
function decodeRows(rows: readonly SampleRow[], spec: SourceSpec): Verdict[] {
  const decoder = makeRowDecoder(spec.declared, spec.format, { unknownByRow: true });
  // What the connector knows of a row by itself is no part of it.
  const fields = spec.declared.filter(({ metadata }) => metadata === undefined);
  const encoder = new TextEncoder();
  return rows.map(({ text }, index): Verdict => {
    const bytes = encoder.encode(`${text}\n`);
    const { batch, errors, unknownFields } = decoder.decode(bytes, 0, bytes.length, 16, true);
    const accepted = errors.length === 0;
    const isRow = accepted && batch.rows === 1 && spec.format.changes === undefined;
    return {
      accepted,
      errors: errors.map(({ code, column, message, expected }) => ({
        index,
        code,
        column,
        message,
        ...(expected === null ? {} : { expected }),
      })),
      warnings: unknownFields.map(({ column }) => ({ index, code: 'UNKNOWN_FIELD', column })),
      value: isRow ? fieldsJson(fields, batch.columns, 0) : null,
    };
  });
}
