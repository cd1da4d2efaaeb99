/** Numbers, sizes and times as people read them. Times come in as microseconds since 1970, in UTC unless said otherwise. */

const GROUPED = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

/** Every digit, in groups of three. Takes integers also as text or bigint, which stay exact past 2^53. */
export function count(value: number | bigint | string): string {
  if (typeof value === 'number') return GROUPED.format(value);
  return GROUPED.format(BigInt(value));
}

/** Three digits and a letter: `12.3K`. For rates and sizes of charts, never for values of rows. */
export function short(value: number): string {
  if (value !== 0 && Math.abs(value) < 10) return String(Number(value.toPrecision(2)));
  return SHORT.format(value);
}

/** `12.3K/s` */
export const rate = (perSecond: number | null): string =>
  perSecond === null ? '–' : `${short(perSecond)}/s`;

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function bytes(value: number): string {
  let unit = 0;
  let rest = value;
  while (rest >= 1024 && unit < UNITS.length - 1) {
    rest /= 1024;
    unit++;
  }
  return `${unit === 0 ? rest : rest.toFixed(rest < 10 ? 1 : 0)} ${UNITS[unit] ?? ''}`;
}

/** `420 ms`, `3.2 s`, `4 min 10 s`, `2 h 5 min`, `3 d 4 h` */
export function duration(micros: number): string {
  const ms = micros / 1000;
  if (ms < 1) return `${Math.round(micros)} µs`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds < 10 ? Number(seconds.toFixed(1)) : Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return withRest(minutes, 'min', Math.round(seconds % 60), 's');
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return withRest(hours, 'h', minutes % 60, 'min');
  return withRest(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

/** A watermark that is further behind belongs to old data. */
export const FAR_LAG_MICROS = 48 * 3_600 * 1_000_000;

const withRest = (whole: number, unit: string, rest: number, restUnit: string): string =>
  rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${restUnit}`;

/** `2026-11-30 14:05:09` */
export function utc(micros: number, parts: 'all' | 'time' | 'millis' = 'all'): string {
  const iso = new Date(micros / 1000).toISOString();
  if (parts === 'time') return iso.slice(11, 19);
  if (parts === 'millis') return iso.slice(11, 23);
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}`;
}

// Making a formatter costs far more than using it, and tables have a time in every row.
const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });

/** In the time zone of the browser, with its name. */
export const localTime = (micros: number): string => LOCAL.format(micros / 1000);

/** `3 s ago`; a time to come reads `in 3 s`. */
export function ago(micros: number, nowMicros: number): string {
  const distance = nowMicros - micros;
  if (Math.abs(distance) < 1_000_000) return 'now';
  return distance > 0 ? `${duration(distance)} ago` : `in ${duration(-distance)}`;
}
