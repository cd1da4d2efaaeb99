/** Numbers, times and stretches of time as the sentences of a health say them. */

/** `1 row`, `12,345 rows`. */
export const counted = (count: number, one: string): string =>
  `${grouped(count)} ${count === 1 ? one : `${one}s`}`;

/** `All 3 rows`, `The only row`. */
export const allRows = (count: number): string =>
  count === 1 ? 'The only row' : `All ${counted(count, 'row')}`;

export const were = (count: number): string => (count === 1 ? 'was' : 'were');

export const grouped = (count: number): string =>
  String(Math.round(count)).replace(/\B(?=(\d{3})+(?!\d))/g, ',');

/** A rate with as many digits as it deserves. */
export const perSecond = (rate: number): string =>
  rate >= 10 ? grouped(rate) : String(Math.round(rate * 10) / 10);

const UNITS: readonly [micros: number, name: string][] = [
  [86_400_000_000, 'days'],
  [3_600_000_000, 'h'],
  [60_000_000, 'min'],
  [1_000_000, 's'],
];

/** In the largest unit of which there are at least two: 90 s is 90 s, 120 s is 2 min. */
export function span(micros: number): string {
  const [unit, name] = UNITS.find(([size]) => micros >= 2 * size) ?? [1_000_000, 's'];
  return `${grouped(Math.floor(micros / unit))} ${name}`;
}

/** UTC, `2024-01-01 10:00:20`, with a fraction only where there is one. */
export function instant(micros: number): string {
  const seconds = Math.floor(micros / 1e6);
  const fraction = Math.floor(micros - seconds * 1e6);
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return `${seconds} s after 1970`;
  const text = date.toISOString().slice(0, -5).replace('T', ' ');
  return fraction === 0 ? text : `${text}.${String(fraction).padStart(6, '0').replace(/0+$/, '')}`;
}

/** As `instant`, without the date where all are of one day. */
export function instants(all: readonly number[]): string[] {
  const texts = all.map(instant);
  const days = new Set(texts.map((text) => text.split(' ')[0]));
  return days.size === 1 ? texts.map((text) => text.split(' ')[1] ?? text) : texts;
}
