/**
 * Functions tried out: arguments as JSON text → the result as JSON text, by the sandbox that pipelines call.
 *
 * Arguments are read by the decoder of rows, so that a whole number of 19 digits arrives as it was written. Failure: what is
 * wrong with one call is told in its place; the others are made all the same, until the time for all is over.
 */
import { EngineError, type ErrorReport, reportOf } from '../../base/errors.ts';
import { type Column, isValid } from '../../batch/column.ts';
import { fieldsJson, valueJson } from '../../batch/value-json.ts';
import type { UserFunction } from '../../expr/user-function.ts';
import { type DecodeColumn, JSON_FORMAT } from '../../formats/format.ts';
import { skipSpace, skipValue } from '../../formats/json-grammar.ts';
import { JsonDecoder } from '../../formats/json-decoder.ts';
import { planFunction } from '../../graph/plan-sql.ts';
import { argumentTypes, signatureOf } from '../../plan/bind-user-call.ts';
import { checkFunctions } from '../pipelines/planning.ts';
import type { ApiServices, CalledFunction } from '../services.ts';
import type { EvaluateAnswer, EvaluatedCall } from './authoring-shapes.ts';

/** For all calls of a request. */
const TIME_MS = 20_000;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export async function evaluateFunction(
  services: ApiServices,
  definition: string,
  calls: readonly string[],
): Promise<EvaluateAnswer> {
  const { fn, errors } = planFunction(definition);
  if (fn === null) return { udf_name: null, reports: errors, results: [] };
  const reports: ErrorReport[] = [...errors, ...(await checkFunctions(services, [fn]))];
  const results: EvaluatedCall[] = [];
  if (reports.length > 0) return { udf_name: fn.name, reports, results };
  const startMs = services.nowMs();
  for (const call of calls) {
    const isLate = services.nowMs() - startMs > TIME_MS;
    results.push(isLate ? failed(OVER) : await evaluated(services, fn, call));
  }
  return { udf_name: fn.name, reports, results };
}

const OVER = `not called: the calls before took more than ${TIME_MS / 1000} seconds`;

const failed = (error: string, micros = 0): EvaluatedCall => ({ value: null, error, micros });

async function evaluated(
  services: ApiServices,
  fn: UserFunction,
  call: string,
): Promise<EvaluatedCall> {
  const fromMs = services.nowMs();
  const micros = (): number => Math.max(0, Math.round((services.nowMs() - fromMs) * 1000));
  try {
    const columns = argumentColumns(fn, call);
    if (isSkipped(fn, columns))
      return { value: fn.kind === 'table' ? '[]' : 'null', error: null, micros: 0 };
    const reply = await services.callFunction(fn, 1, columns);
    const [error] = reply.errors;
    if (error !== undefined) return failed(error.message, micros());
    return { value: resultText(fn, reply), error: null, micros: micros() };
  } catch (thrown) {
    return failed(reportOf(thrown).message, micros());
  }
}

/** A pipeline does not call it for a NULL that it did not ask for. */
const isSkipped = ({ kind, calledOnNull }: UserFunction, columns: readonly Column[]): boolean =>
  kind !== 'aggregate' && !calledOnNull && columns.some((column) => !isValid(column, 0));

/** One value of each argument. Throws INVALID_REQUEST where the text does not give them. */
function argumentColumns(fn: UserFunction, call: string): readonly Column[] {
  const given = elementsOf(call);
  if (given === null)
    throw new EngineError(
      'INVALID_REQUEST',
      `the arguments are a JSON array, such as ${shape(fn)}`,
    );
  const types = argumentTypes(fn);
  const values = fn.kind === 'aggregate' ? [groupOf(fn, given)] : given;
  if (values.length !== types.length)
    throw new EngineError(
      'INVALID_REQUEST',
      `${signatureOf(fn)} takes ${types.length} ${types.length === 1 ? 'argument' : 'arguments'}, and ${values.length} are given`,
    );
  if (types.length === 0) return [];
  const columns = types.map((type, at): DecodeColumn => ({
    name: fn.parameters[at]?.name ?? `argument ${at + 1}`,
    type,
    nullable: true,
    default: null,
  }));
  const fields = columns.map(({ name }, at) => `${JSON.stringify(name)}:${values[at]}`);
  const bytes = encoder.encode(`{${fields.join(',').replaceAll('\n', ' ')}}\n`);
  const decoded = new JsonDecoder(columns, JSON_FORMAT).decode(bytes, 0, bytes.length, 2, true);
  const [error] = decoded.errors;
  if (error !== undefined)
    throw new EngineError('INVALID_REQUEST', error.message.replace('(column ', '(argument '));
  return decoded.batch.columns;
}

const shape = (fn: UserFunction): string =>
  fn.kind === 'aggregate'
    ? fn.parameters.length === 1
      ? '[1, 2, 3]: the values of the group'
      : '[[1, 2], [3, 4]]: the arguments of each row of the group'
    : `[${fn.parameters.map(({ name }) => name).join(', ')}]`;

/** The rows of a group as the one list that an aggregate function gets. */
function groupOf(fn: UserFunction, rows: readonly string[]): string {
  if (fn.parameters.length === 1) return `[${rows.join(',')}]`;
  const structs = rows.map((row) => {
    const values = elementsOf(row);
    if (values?.length !== fn.parameters.length)
      throw new EngineError('INVALID_REQUEST', `the arguments are ${shape(fn)}`);
    const fields = fn.parameters.map(({ name }, at) => `${JSON.stringify(name)}:${values[at]}`);
    return `{${fields.join(',')}}`;
  });
  return `[${structs.join(',')}]`;
}

/** The texts of the elements of a JSON array; null when it is none. */
function elementsOf(text: string): string[] | null {
  const bytes = encoder.encode(`${text.replaceAll(/[\n\r]/g, ' ')}\n`);
  const start = skipSpace(bytes, 0);
  const end = bytes[start] === 91 ? skipValue(bytes, start, 0) : -1;
  if (end < 0 || skipSpace(bytes, end) !== bytes.length - 1) return null;
  const elements: string[] = [];
  let at = skipSpace(bytes, start + 1);
  while (bytes[at] !== 93) {
    const next = skipValue(bytes, at, 1);
    elements.push(decoder.decode(bytes.subarray(at, next)));
    at = skipSpace(bytes, next);
    if (bytes[at] === 44) at = skipSpace(bytes, at + 1);
  }
  return elements;
}

function resultText({ kind, returns }: UserFunction, { columns, counts }: CalledFunction): string {
  if (kind !== 'table' || returns.tag !== 'struct') return valueJson(columns[0] as Column, 0);
  const rows = Array.from({ length: counts?.[0] ?? 0 }, (_, row) =>
    fieldsJson(returns.fields, columns, row),
  );
  return `[${rows.join(',')}]`;
}
