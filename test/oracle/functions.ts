/** Scalar functions, each written again from what the documentation says of it. */
import { createHash } from 'node:crypto';
import { textOf } from './cast.ts';
import { capitalised, pad, splitPart, substring } from './text.ts';
import { atTimeZone, floorDivide, part, truncate } from './time.ts';
import {
  asDouble,
  big,
  canonical,
  compare,
  compareNullable,
  Day,
  DAY_MICROS,
  Decimal,
  Interval,
  Moment,
  rescale,
  type Value,
  whole,
  Whole,
} from './value.ts';

type Args = readonly Value[];
type Fn = (args: Args) => Value;

/** NULL when an argument is. */
const strict = (fn: Fn): Fn => {
  return (args) => (args.includes(null) ? null : fn(args));
};

const text = (value: Value | undefined): string => value as string;
const count = (value: Value | undefined): number => Number((value as Whole).value);
const list = (value: Value | undefined): readonly Value[] => value as readonly Value[];
const moment = (value: Value | undefined): Moment =>
  value instanceof Day ? new Moment(BigInt(value.days) * DAY_MICROS) : (value as Moment);
const same = (left: Value, right: Value): boolean => canonical(left) === canonical(right);

const extreme =
  (sign: 1 | -1): Fn =>
  (args) => {
    let best: Value = null;
    for (const value of args)
      if (value !== null && (best === null || compare(value, best) * sign > 0)) best = value;
    return best;
  };

/** A function of a number by what it is. */
const numeric =
  (ofDouble: (value: number) => number, ofDecimal: (value: Decimal) => Decimal): Fn =>
  ([value]) => {
    if (typeof value === 'number') return ofDouble(value);
    return value instanceof Decimal ? ofDecimal(value) : (value ?? null);
  };

const floorOf = ({ units, scale }: Decimal): bigint => floorDivide(units, 10n ** BigInt(scale));

/** Halves away from zero. */
const roundDouble = (value: number): number => Math.sign(value) * Math.round(Math.abs(value));

function round([value, places]: Args): Value {
  if (places === undefined)
    return numeric(roundDouble, (decimal) => rescale(decimal, 0))([value as Value]);
  const digits = count(places);
  if (value instanceof Decimal)
    return digits >= value.scale ? value : rescale(rescale(value, digits), value.scale);
  throw new Error('round(x, n) of something else than a decimal');
}

function absolute([value]: Args): Value {
  if (typeof value === 'number') return Math.abs(value);
  if (value instanceof Decimal)
    return value.units < 0n ? new Decimal(-value.units, value.scale) : value;
  const { value: number, bits } = value as Whole;
  return whole(number < 0n ? -number : number, bits);
}

const trimmed = (start: boolean, end: boolean): Fn =>
  strict(([value, set]) => {
    const drop = new Set(set === undefined ? ' ' : text(set));
    const characters = [...text(value)];
    let [from, to] = [0, characters.length];
    while (start && from < to && drop.has(characters[from] as string)) from++;
    while (end && to > from && drop.has(characters[to - 1] as string)) to--;
    return characters.slice(from, to).join('');
  });

const FUNCTIONS: Readonly<Record<string, Fn>> = {
  greatest: extreme(1),
  least: extreme(-1),
  nullif: ([left = null, right = null]) =>
    left !== null && right !== null && compare(left, right) === 0 ? null : left,
  abs: strict(absolute),
  sign: strict(([value]) => {
    const order = compare(value as Value, new Whole(0n, 32));
    return value instanceof Whole ? whole(BigInt(order), value.bits) : order;
  }),
  floor: strict(numeric(Math.floor, (decimal) => new Decimal(floorOf(decimal), 0))),
  ceil: strict(
    numeric(
      Math.ceil,
      (decimal) => new Decimal(-floorOf(new Decimal(-decimal.units, decimal.scale)), 0),
    ),
  ),
  trunc: strict(
    numeric(Math.trunc, (decimal) => new Decimal(decimal.units / 10n ** BigInt(decimal.scale), 0)),
  ),
  round: strict(round),
  sqrt: strict(([value]) => Math.sqrt(asDouble(value as Whole))),
  power: strict(([base, exponent]) => asDouble(base as Whole) ** asDouble(exponent as Whole)),
  upper: strict(([value]) => text(value).toUpperCase()),
  lower: strict(([value]) => text(value).toLowerCase()),
  initcap: strict(([value]) => capitalised(text(value))),
  length: strict(([value]) => whole(BigInt([...text(value)].length), 64)),
  octet_length: strict(([value]) => whole(BigInt(Buffer.byteLength(text(value))), 64)),
  substr: strict(([value, from, length]) =>
    substring(text(value), count(from), length === undefined ? undefined : count(length)),
  ),
  left: strict(([value, n]) => [...text(value)].slice(0, count(n)).join('')),
  right: strict(([value, n]) => {
    const characters = [...text(value)];
    const from = count(n) < 0 ? -count(n) : Math.max(0, characters.length - count(n));
    return characters.slice(from).join('');
  }),
  lpad: strict(([value, length, fill]) =>
    pad(text(value), count(length), fill === undefined ? ' ' : text(fill), true),
  ),
  rpad: strict(([value, length, fill]) =>
    pad(text(value), count(length), fill === undefined ? ' ' : text(fill), false),
  ),
  btrim: trimmed(true, true),
  trim: trimmed(true, true),
  ltrim: trimmed(true, false),
  rtrim: trimmed(false, true),
  reverse: strict(([value]) => [...text(value)].reverse().join('')),
  repeat: strict(([value, n]) => text(value).repeat(Math.max(0, count(n)))),
  replace: strict(([value, from, to]) =>
    text(from) === '' ? text(value) : text(value).split(text(from)).join(text(to)),
  ),
  translate: strict(([value, from, to]) => {
    const [source, target] = [[...text(from)], [...text(to)]];
    return [...text(value)]
      .map((character) => {
        const at = source.indexOf(character);
        return at < 0 ? character : (target[at] ?? '');
      })
      .join('');
  }),
  strpos: strict(([value, part]) => {
    const at = text(value).indexOf(text(part));
    return big(at < 0 ? 0 : Array.from(text(value).slice(0, at)).length + 1);
  }),
  split_part: strict(([value, separator, n]) => splitPart(text(value), text(separator), count(n))),
  starts_with: strict(([value, part]) => text(value).startsWith(text(part))),
  ends_with: strict(([value, part]) => text(value).endsWith(text(part))),
  contains: strict(([value, part]) => text(value).includes(text(part))),
  regexp_like: strict(([value, pattern]) => new RegExp(text(pattern), 'u').test(text(value))),
  regexp_substr: strict(([value, pattern]) => {
    return new RegExp(text(pattern), 'u').exec(text(value))?.[0] ?? null;
  }),
  regexp_replace: strict(([value, pattern, to, flags]) =>
    text(value).replace(
      new RegExp(text(pattern), `u${flags === undefined ? '' : text(flags)}`),
      text(to),
    ),
  ),
  concat: (args) => args.flatMap((value) => (value === null ? [] : [textOf(value)])).join(''),
  concat_ws: ([separator = null, ...args]) =>
    separator === null
      ? null
      : args.flatMap((value) => (value === null ? [] : [textOf(value)])).join(text(separator)),
  md5: strict(([value]) => createHash('md5').update(text(value)).digest('hex')),
  ascii: strict(([value]) => whole(BigInt(text(value).codePointAt(0) ?? 0), 64)),
  date_trunc: strict(([unit, value]) => truncate(text(unit), moment(value))),
  date_part: strict(([unit, value]) =>
    value instanceof Interval ? Number(value.length) / 1e6 : part(text(unit), moment(value)),
  ),
  date_bin: strict(([step, value]) => {
    const width = (step as Interval).length;
    const { micros, zoned } = moment(value);
    return new Moment(floorDivide(micros, width) * width, zoned);
  }),
  timezone: strict(([zone, value]) => atTimeZone(moment(value), text(zone))),
  to_timestamp_millis: strict(([value]) => new Moment((value as Whole).value * 1000n)),
  to_unix_millis: strict(([value]) => big(floorDivide(moment(value).micros, 1000n))),
  make_array: (args) => args,
  array_length: strict(([value]) => big(list(value).length)),
  array_append: ([value = null, added = null]) =>
    value === null ? [added] : [...list(value), added],
  array_distinct: strict(([value]) =>
    list(value).filter((each, at, all) => all.findIndex((other) => same(other, each)) === at),
  ),
  array_sort: strict(([value]) =>
    [...list(value)].sort((left, right) => {
      if (left === null || right === null) return Number(right === null) - Number(left === null);
      return compareNullable(left, right);
    }),
  ),
  array_has: strict(([value, wanted]) =>
    list(value).some((each) => each !== null && same(each, wanted as Value)),
  ),
  array_max: strict(([value]) => extreme(1)(list(value))),
  array_min: strict(([value]) => extreme(-1)(list(value))),
  array_to_string: strict(([value, separator]) =>
    list(value)
      .flatMap((each) => (each === null ? [] : [textOf(each)]))
      .join(text(separator)),
  ),
  string_to_array: strict(([value, separator]) =>
    text(value) === '' ? [] : text(value).split(text(separator)),
  ),
};

const ALIASES: Readonly<Record<string, string>> = {
  substring: 'substr',
  char_length: 'length',
  ceiling: 'ceil',
  pow: 'power',
  extract: 'date_part',
  cardinality: 'array_length',
};

export function callFunction(name: string, args: Args): Value {
  const fn = FUNCTIONS[ALIASES[name] ?? name];
  if (fn === undefined) throw new Error(`${name}() is not in the evaluator`);
  return fn(args);
}
