/** Options as Arroyo's users write them → the options of today, with a warning where the meaning or the name has changed. */
import type { CreateTable, OptionValue, TableOption } from '../sql/ast-statement.ts';
import type { Diagnostics } from './diagnostics.ts';
import { parseInterval } from './interval.ts';
import type { WrittenOptions } from './options.ts';

/** @param written  options by their names */
export function modernOptions(
  statement: CreateTable,
  written: WrittenOptions,
  diagnostics: Diagnostics,
): WrittenOptions {
  const options = new Map(written);
  idleMicros(statement, options, diagnostics);
  if (statement.temporary) lookupOptions(options, diagnostics);
  const connector = written.get('connector')?.value;
  const name = connector?.tag === 'string' ? connector.value : null;
  if (name === 'impulse') impulseInterval(options);
  if (name === 'nexmark') nexmarkRuntime(options, diagnostics);
  return options;
}

const warn = (message: string, option: TableOption, hint: string, diagnostics: Diagnostics): void =>
  diagnostics.warn('DEPRECATED', message, option.keySpan, { hint });

const intervalValue = (text: string, option: TableOption): OptionValue => ({
  tag: 'interval',
  text,
  unit: null,
  span: option.value.span,
});

const numberValue = (value: number, option: TableOption): OptionValue => ({
  tag: 'number',
  text: String(value),
  span: option.value.span,
});

function numberIn(value: OptionValue | undefined): number | null {
  const text = value?.tag === 'number' ? value.text : value?.tag === 'string' ? value.value : '';
  return text.trim() === '' || !Number.isFinite(Number(text)) ? null : Number(text);
}

/** Micros of a length of time; null: it is none. */
function microsIn(value: OptionValue): number | null {
  const text = value.tag === 'interval' ? value.text : value.tag === 'string' ? value.value : null;
  if (text === null) return null;
  const length = parseInterval(text, value.tag === 'interval' ? value.unit : null);
  return length === null || length.months !== 0 || length.micros < 0n
    ? null
    : Number(length.micros);
}

/** `idle_micros` is `idle_time`; zero and less turn it off, and without event time it says nothing. */
function idleMicros(
  statement: CreateTable,
  options: Map<string, TableOption>,
  diagnostics: Diagnostics,
): void {
  const option = options.get('idle_micros');
  const micros = numberIn(option?.value);
  if (option === undefined || micros === null || options.has('idle_time')) return;
  options.delete('idle_micros');
  warn(
    'idle_micros is an older spelling',
    option,
    "write idle_time = interval '30 seconds'",
    diagnostics,
  );
  const timed =
    options.has('event_time_field') || statement.constraints.some(({ tag }) => tag === 'watermark');
  if (micros <= 0 || !timed) return;
  const text = `${Math.max(1, Math.round(micros / 1000))} milliseconds`;
  options.set('idle_time', {
    ...option,
    key: 'idle_time',
    value: intervalValue(text, option),
  });
}

/** A TEMPORARY table is read whole before rows are looked up in it, so there is nothing to cache. */
function lookupOptions(options: Map<string, TableOption>, diagnostics: Diagnostics): void {
  const type = options.get('type');
  if (type?.value.tag === 'string' && type.value.value === 'lookup') options.delete('type');
  for (const name of ['lookup.cache.max_bytes', 'lookup.cache.ttl']) {
    const option = options.get(name);
    if (option === undefined) continue;
    options.delete(name);
    warn(
      `${name} has no effect: a TEMPORARY table is read once and kept whole`,
      option,
      'leave it out',
      diagnostics,
    );
  }
}

/** The time between rows as a length of time instead of a number of microseconds. */
function impulseInterval(options: Map<string, TableOption>): void {
  const option = options.get('event_time_interval');
  if (option === undefined || numberIn(option.value) !== null) return;
  const micros = microsIn(option.value);
  if (micros !== null)
    options.set('event_time_interval', { ...option, value: numberValue(micros, option) });
}

/** How long events are made is how many there are, at their rate. */
function nexmarkRuntime(options: Map<string, TableOption>, diagnostics: Diagnostics): void {
  const option = options.get('runtime');
  const rate = numberIn(options.get('event_rate')?.value);
  if (option === undefined || rate === null || options.has('events')) return;
  const micros = microsIn(option.value);
  if (micros === null) return;
  options.delete('runtime');
  const events = Math.floor((rate * micros) / 1_000_000);
  warn('runtime is an older spelling', option, `write events = ${events}`, diagnostics);
  options.set('events', { ...option, key: 'events', value: numberValue(events, option) });
}
