/** CREATE FUNCTION → what is known of the function; its code is not read here. */
import type { ErrorCode, ErrorReport, Span } from '../base/errors.ts';
import { nearest } from '../base/nearest.ts';
import type { Field, SqlType } from '../batch/types.ts';
import { isAggregateName } from '../expr/aggregate-registry.ts';
import { isFunctionName } from '../expr/registry.ts';
import type { NetworkGrant, UserFunction } from '../expr/user-function.ts';
import type { CreateFunction, FunctionParameter, TableOption } from '../sql/ast-statement.ts';
import { bindType } from './bind-type.ts';
import { Diagnostics, withSuggestion } from './diagnostics.ts';
import { functionsOf } from './declared-functions.ts';
import { parseInterval } from './interval.ts';
import { isOverFunction } from './over-functions.ts';

const TIMEOUT_DEFAULT_MS = 5_000;
const TIMEOUT_MAX_MS = 60_000;
const RETRIES_MAX = 10;
const CONCURRENCY_DEFAULT = 64;
const CONCURRENCY_MAX = 1_024;
const BODY_BYTES_MAX = 128 * 1024;

/** A function by itself. */
export function declareFunction(statement: CreateFunction): {
  fn: UserFunction | null;
  errors: ErrorReport[];
} {
  const diagnostics = new Diagnostics();
  bindFunction(statement, diagnostics);
  const declared = functionsOf(diagnostics).get(statement.name.name);
  return { fn: declared?.fn ?? null, errors: diagnostics.errors };
}

/** Declares the function; nothing after an error. */
export function bindFunction(statement: CreateFunction, diagnostics: Diagnostics): void {
  const { name } = statement;
  const functions = functionsOf(diagnostics);
  const builtIn = isFunctionName(name.name) || isAggregateName(name.name);
  if (builtIn || isOverFunction(name.name))
    return diagnostics.error('DUPLICATE_NAME', `${name.text}() is a built-in function`, name.span, {
      hint: 'give your function another name',
    });
  if (functions.get(name.name)?.outside === false)
    return diagnostics.error('DUPLICATE_NAME', `${name.text}() already exists`, name.span, {
      hint: 'a function has one definition; there are no overloads',
    });
  const before = diagnostics.count;
  const language = languageOf(statement, diagnostics);
  const parameters = fieldsOf(statement.parameters, 'parameter', diagnostics);
  const returns = resultOf(statement, diagnostics);
  const options = new FunctionOptions(statement, diagnostics);
  if (statement.kind === 'aggregate' && parameters.length === 0)
    refuse(diagnostics, 'TYPE_ERROR', 'an aggregate function needs a parameter', name.span);
  if (statement.body.value.length > BODY_BYTES_MAX)
    refuse(
      diagnostics,
      'QUERY_TOO_LARGE',
      `the body of ${name.text}() has more than ${BODY_BYTES_MAX} characters`,
      statement.body.span,
    );
  if (diagnostics.count > before || returns === null || language === null) return;
  const network = options.network();
  const fn: UserFunction = {
    name: name.name,
    kind: statement.returns.tag === 'returns_table' ? 'table' : statement.kind,
    waits: statement.waits,
    parameters: parameters.map(({ name: parameter, type }) => ({ name: parameter, type })),
    returns,
    language,
    body: statement.body.value,
    calledOnNull: statement.nullInput === 'called',
    volatile:
      statement.volatility === 'volatile' || (statement.volatility === null && network !== 'none'),
    timeoutMs: options.milliseconds('timeout', TIMEOUT_DEFAULT_MS, TIMEOUT_MAX_MS),
    retries: options.whole('retries', 0, 0, RETRIES_MAX),
    concurrency: options.whole('concurrency', CONCURRENCY_DEFAULT, 1, CONCURRENCY_MAX),
    network,
  };
  options.refuseOthers();
  if (diagnostics.count === before) functions.set(fn.name, { fn, called: null, outside: false });
}

function refuse(
  diagnostics: Diagnostics,
  code: ErrorCode,
  message: string,
  span: Span,
  hint?: string,
): null {
  diagnostics.error(code, message, span, hint === undefined ? {} : { hint });
  return null;
}

function languageOf(
  { language, waits, kind }: CreateFunction,
  diagnostics: Diagnostics,
): UserFunction['language'] | null {
  if (waits && kind === 'aggregate')
    return refuse(
      diagnostics,
      'UNSUPPORTED',
      'an aggregate function can not be ASYNC',
      language.span,
      'aggregate first, and call an ASYNC function with the result',
    );
  const name =
    language.name === 'js' ? 'javascript' : language.name === 'ts' ? 'typescript' : language.name;
  if (name === 'javascript' || name === 'typescript') return name;
  return refuse(
    diagnostics,
    'UNSUPPORTED',
    `functions can not be written in ${language.text}`,
    language.span,
    'the languages are javascript and typescript',
  );
}

function fieldsOf(
  list: readonly FunctionParameter[],
  what: string,
  diagnostics: Diagnostics,
): Field[] {
  const seen = new Set<string>();
  return list.flatMap(({ name, type }): Field[] => {
    if (seen.has(name.name))
      refuse(diagnostics, 'DUPLICATE_NAME', `two ${what}s are named "${name.text}"`, name.span);
    seen.add(name.name);
    if (what === 'parameter' && !/^[A-Za-z_$][\w$]*$/.test(name.name))
      refuse(
        diagnostics,
        'UNSUPPORTED',
        `"${name.text}" is no name that JavaScript takes`,
        name.span,
        'use letters, digits and underscores',
      );
    const bound = bindType(type, diagnostics);
    return bound === null ? [] : [{ name: name.name, type: bound, nullable: true }];
  });
}

function resultOf(
  { returns, kind, name }: CreateFunction,
  diagnostics: Diagnostics,
): SqlType | null {
  if (returns.tag === 'returns_value') return bindType(returns.type, diagnostics);
  if (kind === 'aggregate')
    return refuse(
      diagnostics,
      'UNSUPPORTED',
      'an aggregate function gives one value, not a table',
      name.span,
      'return an array of rows',
    );
  return { tag: 'struct', fields: fieldsOf(returns.columns, 'column', diagnostics) };
}

/** WITH (timeout = …, retries = …, concurrency = …, network = …). */
class FunctionOptions {
  readonly #diagnostics: Diagnostics;
  readonly #statement: CreateFunction;
  readonly #given = new Map<string, TableOption>();
  readonly #known: string[] = [];

  constructor(statement: CreateFunction, diagnostics: Diagnostics) {
    this.#diagnostics = diagnostics;
    this.#statement = statement;
    for (const option of statement.options) {
      if (this.#given.has(option.key))
        refuse(diagnostics, 'INVALID_OPTION', `"${option.key}" is given twice`, option.keySpan);
      this.#given.set(option.key, option);
    }
  }

  #take(name: string): TableOption | undefined {
    this.#known.push(name);
    return this.#given.get(name);
  }

  milliseconds(name: string, fallback: number, max: number): number {
    const option = this.#take(name);
    if (option === undefined) return fallback;
    const { value } = option;
    const text = value.tag === 'interval' ? value.text : value.tag === 'string' ? value.value : '';
    const interval = parseInterval(text, value.tag === 'interval' ? value.unit : null);
    const ms = interval === null || interval.months !== 0 ? 0 : Number(interval.micros) / 1000;
    if (ms >= 1 && ms <= max) return Math.ceil(ms);
    this.#bad(
      option,
      `a length of time up to ${max / 1000} seconds`,
      "timeout = interval '2 seconds'",
    );
    return fallback;
  }

  whole(name: string, fallback: number, min: number, max: number): number {
    const option = this.#take(name);
    if (option === undefined) return fallback;
    if (!this.#statement.waits)
      refuse(
        this.#diagnostics,
        'INVALID_OPTION',
        `"${name}" is an option of functions that wait`,
        option.keySpan,
        'write CREATE ASYNC FUNCTION',
      );
    const { value } = option;
    const number = value.tag === 'number' ? Number(value.text) : NaN;
    if (Number.isInteger(number) && number >= min && number <= max) return number;
    this.#bad(option, `a whole number from ${min} to ${max}`, `${name} = ${fallback}`);
    return fallback;
  }

  network(): NetworkGrant {
    const option = this.#take('network');
    if (option === undefined) return 'none';
    const { value } = option;
    const text = value.tag === 'string' ? value.value.trim() : '';
    if (text === 'none' || text === 'internet') return text;
    const hosts = text.split(',').map((host) => host.trim().toLowerCase());
    if (hosts.every((host) => /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?$/.test(host)))
      return hosts;
    this.#bad(option, "'none', 'internet' or the hosts it may call", "network = 'api.example.com'");
    return 'none';
  }

  #bad({ key, value }: TableOption, wanted: string, suggestion: string): void {
    this.#diagnostics.error('INVALID_OPTION', `"${key}" must be ${wanted}`, value.span, {
      suggestion,
    });
  }

  refuseOthers(): void {
    for (const [name, option] of this.#given) {
      if (this.#known.includes(name)) continue;
      this.#diagnostics.error(
        'UNKNOWN_OPTION',
        `a function has no option "${name}"`,
        option.keySpan,
        withSuggestion(nearest(name, this.#known), `the options are ${this.#known.join(', ')}`),
      );
    }
  }
}
