/** `tumble(…)`, `hop(…)`, `cumulate(…)`, `session(…)` as written → a window. */
import { LIMITS } from '../base/limits.ts';
import { nearest } from '../base/nearest.ts';
import { timeZone } from '../base/time-zone.ts';
import type { Expr } from '../expr/expr.ts';
import type { CallExpression } from '../sql/ast-expression.ts';
import { type Diagnostics, withSuggestion } from './diagnostics.ts';
import { parseInterval } from './interval.ts';
import type { Emission, Window } from './logical.ts';

type Argument = CallExpression['args'][number];

/** Of each function: lengths by position, an example, and what may be named besides. */
const FUNCTIONS: Readonly<
  Record<string, { lengths: readonly string[]; example: string; named: readonly string[] }>
> = {
  tumble: {
    lengths: ['width', 'offset'],
    example: "tumble(interval '1 minute')",
    named: ['timezone', 'early', 'lateness'],
  },
  hop: {
    lengths: ['slide', 'width', 'offset'],
    example: "hop(interval '10 seconds', interval '1 minute')",
    named: ['timezone', 'early', 'lateness'],
  },
  cumulate: {
    lengths: ['step', 'width', 'offset'],
    example: "cumulate(interval '10 minutes', interval '1 hour')",
    named: ['timezone', 'early', 'lateness'],
  },
  session: { lengths: ['gap'], example: "session(interval '30 seconds')", named: [] },
};

/** The window, or null after an error was reported. */
export function bindWindow(call: CallExpression, diagnostics: Diagnostics): Window | null {
  return new WindowBinder(call, diagnostics).bind();
}

class WindowBinder {
  readonly #call: CallExpression;
  readonly #name: string;
  readonly #diagnostics: Diagnostics;
  readonly #lengths = new Map<string, number>();
  #timezone: string | undefined;
  #failed = false;

  constructor(call: CallExpression, diagnostics: Diagnostics) {
    this.#call = call;
    this.#name = call.name.name;
    this.#diagnostics = diagnostics;
  }

  bind(): Window | null {
    const { lengths, example } = FUNCTIONS[this.#name] as (typeof FUNCTIONS)[string];
    const { args, star, distinct, filter, orderBy } = this.#call;
    const positional = args.filter((arg) => arg.name === null);
    if (
      star ||
      distinct ||
      filter !== null ||
      orderBy.length > 0 ||
      args.length === 0 ||
      positional.length > lengths.length
    )
      return this.#refuse(`${this.#name}() takes ${asList(lengths)}`, this.#call, example);
    positional.forEach((arg, index) => this.#setLength(lengths[index] as string, arg));
    for (const arg of args) if (arg.name !== null) this.#setNamed(arg.name, arg);
    for (const length of lengths)
      if (length !== 'offset' && !this.#failed && !this.#lengths.has(length))
        this.#refuse(`${this.#name}() needs a ${length}`, this.#call, example);
    return this.#failed ? null : this.#window();
  }

  #refuse(message: string, at: { span: CallExpression['span'] }, example?: string): null {
    this.#failed = true;
    const { example: own } = FUNCTIONS[this.#name] as (typeof FUNCTIONS)[string];
    this.#diagnostics.error('INVALID_WINDOW', message, at.span, {
      hint: `write ${example ?? own}; the time of a row comes from WATERMARK FOR of its table`,
    });
    return null;
  }

  #setNamed(name: NonNullable<Argument['name']>, arg: Argument): void {
    const { lengths, named } = FUNCTIONS[this.#name] as (typeof FUNCTIONS)[string];
    if (
      this.#name === 'session' &&
      ['timezone', 'offset', 'early', 'lateness'].includes(name.name)
    ) {
      this.#failed = true;
      const detail =
        name.name === 'timezone' || name.name === 'offset'
          ? 'A session begins with its first row, wherever that is.'
          : 'Sessions are emitted once, when no further row can belong to them.';
      this.#diagnostics.error('INVALID_WINDOW', `session() takes no ${name.name}`, arg.span, {
        detail,
        hint: 'leave it out',
      });
      return;
    }
    if (name.name === 'timezone') this.#setTimezone(arg);
    else if ([...lengths, ...named].includes(name.name)) this.#setLength(name.name, arg);
    else {
      this.#failed = true;
      const known = [...lengths, ...named];
      this.#diagnostics.error(
        'INVALID_WINDOW',
        `${this.#name}() has no argument "${name.text}"`,
        name.span,
        withSuggestion(nearest(name.name, known), `its arguments are ${known.join(', ')}`),
      );
    }
  }

  #setTimezone(arg: Argument): void {
    const { value } = arg;
    if (value.tag === 'string' && timeZone(value.value) !== null) {
      if (value.value.toUpperCase() !== 'UTC') this.#timezone = value.value;
      return;
    }
    this.#failed = true;
    this.#diagnostics.error(
      'INVALID_WINDOW',
      value.tag === 'string'
        ? `there is no time zone '${value.value}'`
        : 'the time zone of a window must be a text',
      value.span,
      { hint: "write a name of the IANA database: timezone => 'America/New_York'" },
    );
  }

  #setLength(what: string, arg: Argument): void {
    const micros = this.#micros(arg.value, what);
    if (micros === null) {
      this.#failed = true;
      return;
    }
    if (this.#lengths.has(what)) {
      this.#refuse(`the ${what} is given twice`, arg);
      return;
    }
    if (micros <= 0 && what !== 'offset' && what !== 'lateness') {
      this.#failed = true;
      this.#diagnostics.error(
        'INVALID_WINDOW',
        what === 'early'
          ? 'early results need some time between them'
          : `the ${what} of a window must be more than nothing`,
        this.#call.span,
      );
      return;
    }
    this.#lengths.set(what, micros);
  }

  #micros(value: Argument['value'], what: string): number | null {
    const negative = value.tag === 'unary' && value.operator === '-';
    const literal = negative ? value.operand : value;
    if (literal.tag !== 'interval')
      return this.#refuse(`the ${what} of a window must be an interval`, value);
    const interval = parseInterval(literal.text, literal.unit);
    const fail = (message: string, hint: string): null => {
      this.#diagnostics.error('INVALID_WINDOW', message, literal.span, { hint });
      return null;
    };
    if (interval === null)
      return fail(`'${literal.text}' is not an interval`, "write interval '1 hour 30 minutes'");
    if (interval.months !== 0)
      return fail(
        `the ${what} of a window can not be given in months, which have no fixed length`,
        "give it in days, such as interval '30 days'; windows of calendar months are not supported yet",
      );
    if (interval.micros > BigInt(Number.MAX_SAFE_INTEGER))
      return fail(`the ${what} of the window is too long`, 'the longest is 104249 days');
    return Number(negative ? -interval.micros : interval.micros);
  }

  #window(): Window | null {
    const length = (what: string): number => this.#lengths.get(what) ?? 0;
    if (this.#name === 'session') return { tag: 'session', gapMicros: length('gap') };
    const width = length('width');
    const step = this.#name === 'tumble' ? width : length(this.#name === 'hop' ? 'slide' : 'step');
    if (this.#name === 'cumulate' && width % step !== 0)
      return this.#refuse('the width of cumulate() must be a multiple of its step', this.#call);
    if (width / step > LIMITS.windowsPerRowMax) {
      this.#diagnostics.error(
        'INVALID_WINDOW',
        `a row would lie in ${Math.ceil(width / step)} windows, and the most is ${LIMITS.windowsPerRowMax}`,
        this.#call.span,
        { hint: `make the ${this.#name === 'hop' ? 'slide' : 'step'} longer or the width shorter` },
      );
      return null;
    }
    const aligned = {
      widthMicros: width,
      // An offset of whole grids changes nothing; the smallest one is kept, so that equal windows are equal.
      offsetMicros: modulo(length('offset'), this.#name === 'hop' ? step : width),
      ...(this.#timezone === undefined ? {} : { timezone: this.#timezone }),
      ...this.#emission(),
    };
    if (step === width) return { tag: 'tumble', ...aligned };
    return this.#name === 'hop'
      ? { tag: 'hop', slideMicros: step, ...aligned }
      : { tag: 'cumulate', stepMicros: step, ...aligned };
  }

  #emission(): Emission {
    const lateness = this.#lengths.get('lateness') ?? 0;
    const early = this.#lengths.get('early');
    return {
      ...(lateness > 0 ? { latenessMicros: lateness } : {}),
      ...(early === undefined ? {} : { earlyMs: Math.max(1, Math.round(early / 1000)) }),
    };
  }
}

const modulo = (value: number, divisor: number): number =>
  (((value % divisor) + divisor) % divisor) + 0;

const asList = (lengths: readonly string[]): string => {
  const needed = lengths.filter((length) => length !== 'offset').map((length) => `a ${length}`);
  return lengths.includes('offset')
    ? `${needed.join(', ')}${needed.length > 1 ? ',' : ''} and, if need be, an offset`
    : needed.join(' and ');
};

/** Whether two windows divide time in the same way, whenever their rows leave. */
export function sameWindow(left: Window, right: Window): boolean {
  const division = ({ latenessMicros: _lateness, earlyMs: _early, ...rest }: Window): string =>
    JSON.stringify(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)));
  return division(left) === division(right);
}

/** Whether an expression reads one of the two ends of a window column: it then says which window is meant. */
export const isWindowEnd = (expr: Expr): expr is Expr & { tag: 'field' } =>
  expr.tag === 'field' && expr.input.tag === 'column';
