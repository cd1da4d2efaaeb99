/** All aggregate functions: names, arguments and what they are for. What computes them is `make.ts`. */
import type { SqlType } from '../../batch/types.ts';
import {
  BOOLEAN,
  FLOAT64,
  INT64,
  TEXT,
  decimalType,
  isIntegerTag,
  isNested,
  listType,
} from '../../batch/types.ts';
import type { Aggregate } from '../aggregate-types.ts';

type Result = Aggregate['result'];

const isInteger = ({ tag }: SqlType): boolean => isIntegerTag(tag);
const isNumeric = (type: SqlType): boolean =>
  isInteger(type) || type.tag === 'decimal' || type.tag.startsWith('float');

/** Values as they are; the result of the first one's type. */
const asFirst =
  (fits: (type: SqlType) => boolean = () => true): Result =>
  (types) => {
    const first = types[0] as SqlType;
    return fits(first) ? { coerced: types, type: first } : null;
  };

const isOrdered = (type: SqlType): boolean => !isNested(type);

/** The first value by the second, which must have an order. */
const byKey: Result = (types) =>
  isOrdered(types[1] as SqlType) ? { coerced: types, type: types[0] as SqlType } : null;

const always =
  (type: SqlType, fits: (type: SqlType) => boolean = () => true): Result =>
  (types) =>
    types.every(fits) ? { coerced: types, type } : null;

/** DOUBLE from numbers that become DOUBLE. */
const ofFloats: Result = (types) =>
  types.every(isNumeric) ? { coerced: types.map(() => FLOAT64), type: FLOAT64 } : null;

const sum: Result = ([type]) => {
  if (type?.tag === 'interval') return { coerced: [type], type };
  if (type === undefined || !isNumeric(type)) return null;
  if (type.tag === 'decimal') return { coerced: [type], type: decimalType(38, type.scale) };
  if (type.tag.startsWith('float')) return { coerced: [type], type: FLOAT64 };
  if (type.tag === 'uint64') return { coerced: [decimalType(20, 0)], type: decimalType(38, 0) };
  return { coerced: [type], type: INT64 };
};

const mean: Result = (types) => {
  const total = sum(types);
  if (total === null || total.type.tag === 'interval') return total;
  const [input] = total.coerced as readonly [SqlType];
  return input.tag === 'decimal'
    ? { ...total, type: decimalType(38, Math.max(input.scale, 6)) }
    : { ...total, type: FLOAT64 };
};

const median: Result = ([type]) => {
  if (type?.tag !== 'decimal') return ofFloats([type as SqlType]);
  const scale = Math.min(38, type.scale + 1);
  return { coerced: [type], type: decimalType(38, scale) };
};

const wholeNumbers: Result = ([type]) => {
  if (type === undefined || !isInteger(type)) return null;
  if (type.tag === 'int32' || type.tag === 'int64') return { coerced: [type], type };
  return type.tag === 'uint64' ? null : { coerced: [INT64], type: INT64 };
};

const isBoolean = ({ tag }: SqlType): boolean => tag === 'boolean';

const one = (
  id: string,
  result: Result,
  doc: string,
  more: Partial<Aggregate> = {},
  name = id.replaceAll('-', '_'),
): Aggregate => ({ id, name, call: `${name}(x)`, values: 1, result, doc, ...more });

const ORDERED = { ordered: true } as const;
const SOMETIMES = { nullable: 'sometimes' } as const;
const NEVER = { nullable: 'never' } as const;
const FRACTION = { name: 'p', type: 'fraction' } as const;
const fraction = (call: string): Partial<Aggregate> => ({
  call,
  constants: [FRACTION],
  within: true,
});

const GENERAL: readonly Aggregate[] = [
  {
    id: 'count-rows',
    name: 'count',
    call: 'count(*)',
    values: 0,
    result: () => ({ coerced: [], type: INT64 }),
    doc: 'the number of rows',
    ...NEVER,
  },
  one('count', always(INT64), 'the number of values that are not NULL', NEVER),
  one('count-if', always(INT64, isBoolean), 'the number of rows for which x is true', NEVER),
  one('sum', sum, 'the sum; NULL without values'),
  one(
    'min',
    asFirst(() => true),
    'the smallest value; NULL without values',
    {
      ignoresDuplicates: true,
    },
  ),
  one(
    'max',
    asFirst(() => true),
    'the largest value; NULL without values',
    {
      ignoresDuplicates: true,
    },
  ),
  one('avg', mean, 'the mean; NULL without values'),
  one('bool-and', always(BOOLEAN, isBoolean), 'whether all values are true', {
    ignoresDuplicates: true,
  }),
  one('bool-or', always(BOOLEAN, isBoolean), 'whether a value is true', {
    ignoresDuplicates: true,
  }),
  one('bit-and', wholeNumbers, 'the bits that all values have', { ignoresDuplicates: true }),
  one('bit-or', wholeNumbers, 'the bits that some value has', { ignoresDuplicates: true }),
  one('bit-xor', wholeNumbers, 'the bits that an odd number of values have'),
  one(
    'array-agg',
    (types) => ({ coerced: types, type: listType(types[0] as SqlType) }),
    'the values as an array, NULLs among them, in the order of ORDER BY or of event time',
    { ...ORDERED, ...SOMETIMES, call: 'array_agg(x ORDER BY …)' },
  ),
  one(
    'string-agg',
    (types) => ({ coerced: types.map(() => TEXT), type: TEXT }),
    'the texts with the separator between them, in the order of ORDER BY or of event time',
    {
      ...ORDERED,
      call: 'string_agg(x, separator ORDER BY …)',
      constants: [{ name: 'separator', type: 'text', fallback: ',' }],
    },
  ),
  one('any-value', asFirst(), 'the first value that is not NULL, as first_value', {
    ...ORDERED,
    ignoresDuplicates: true,
  }),
  one('first-value', asFirst(), 'the first value, by ORDER BY or event time', {
    ...ORDERED,
    call: 'first_value(x ORDER BY …)',
    ignoresDuplicates: true,
  }),
  one('last-value', asFirst(), 'the last value, by ORDER BY or event time', {
    ...ORDERED,
    call: 'last_value(x ORDER BY …)',
    ignoresDuplicates: true,
  }),
  one(
    'nth-value',
    asFirst(),
    'the n-th value from 1, by ORDER BY or event time; NULL if there are fewer',
    {
      ...ORDERED,
      ...SOMETIMES,
      call: 'nth_value(x, n ORDER BY …)',
      constants: [{ name: 'n', type: 'count' }],
    },
  ),
  one('arg-min', byKey, 'the x where y is smallest; rows whose y is NULL do not count', {
    call: 'arg_min(x, y)',
    values: 2,
    ...SOMETIMES,
    ignoresDuplicates: true,
  }),
  one('arg-max', byKey, 'the x where y is largest; rows whose y is NULL do not count', {
    call: 'arg_max(x, y)',
    values: 2,
    ...SOMETIMES,
    ignoresDuplicates: true,
  }),
];

const PLACES: readonly Aggregate[] = [
  one('median', median, 'the middle value, or the mean of the two middle ones'),
  one('mode', asFirst(isOrdered), 'the most frequent value, of several the smallest', {
    within: true,
    call: 'mode() WITHIN GROUP (ORDER BY x)',
  }),
  one(
    'percentile-cont',
    ofFloats,
    'the value at the fraction p of the sorted values, between two of them in proportion',
    fraction('percentile_cont(p) WITHIN GROUP (ORDER BY x)'),
  ),
  one(
    'percentile-disc',
    asFirst(isOrdered),
    'the first of the sorted values whose share with all before it reaches p',
    fraction('percentile_disc(p) WITHIN GROUP (ORDER BY x)'),
  ),
  one(
    'approx-median',
    ofFloats,
    'the median of the values rounded to 9 significant bits, which bounds the state',
  ),
  one(
    'approx-percentile-cont',
    ofFloats,
    'percentile_cont of the values rounded to 9 significant bits, which bounds the state',
    {
      ...fraction('approx_percentile_cont(p) WITHIN GROUP (ORDER BY x)'),
      constants: [FRACTION, { name: 'centroids', type: 'count', fallback: 100 }],
    },
  ),
  one(
    'approx-percentile-cont-with-weight',
    ofFloats,
    'the first of the sorted values, rounded to 9 significant bits, whose weight with all before it reaches p',
    {
      ...fraction('approx_percentile_cont_with_weight(w, p) WITHIN GROUP (ORDER BY x)'),
      values: 2,
    },
  ),
  one('approx-distinct', always(INT64), 'about how many different values there are (HyperLogLog)', {
    ...NEVER,
    ignoresDuplicates: true,
  }),
];

const MOMENT_DOCS: readonly (readonly [string, string])[] = [
  ['var-pop', 'the population variance'],
  ['var-samp', 'the sample variance; NULL for fewer than two values'],
  ['stddev-pop', 'the population standard deviation'],
  ['stddev-samp', 'the sample standard deviation; NULL for fewer than two values'],
];

const PAIR_DOCS: readonly (readonly [string, string])[] = [
  ['covar-pop', 'the population covariance'],
  ['covar-samp', 'the sample covariance; NULL for fewer than two pairs'],
  ['corr', 'the correlation; NULL when y or x does not vary'],
  ['regr-slope', 'the slope of the line through the pairs; NULL when x does not vary'],
  ['regr-intercept', 'where that line meets x = 0; NULL when x does not vary'],
  ['regr-r2', 'the square of the correlation; 1 when only y does not vary'],
  ['regr-avgx', 'the mean of x over the pairs'],
  ['regr-avgy', 'the mean of y over the pairs'],
  ['regr-sxx', 'the sum of squares of x about its mean'],
  ['regr-syy', 'the sum of squares of y about its mean'],
  ['regr-sxy', 'the sum of products of x and y about their means'],
];

const pair = (id: string, doc: string, result: Result, more: Partial<Aggregate>): Aggregate => ({
  ...one(id, result, doc),
  call: `${id.replaceAll('-', '_')}(y, x)`,
  values: 2,
  ...more,
});

export const AGGREGATES: readonly Aggregate[] = [
  ...GENERAL,
  ...PLACES,
  ...MOMENT_DOCS.map(([id, doc]) => one(id, ofFloats, doc, SOMETIMES)),
  ...PAIR_DOCS.map(([id, doc]) => pair(id, doc, ofFloats, SOMETIMES)),
  pair(
    'regr-count',
    'the number of pairs without NULL',
    (types) =>
      ofFloats(types) === null ? null : { coerced: types.map(() => FLOAT64), type: INT64 },
    NEVER,
  ),
];

/** Other names of the same aggregate. */
export const AGGREGATE_ALIASES: Readonly<Record<string, string>> = {
  mean: 'avg',
  every: 'bool_and',
  countif: 'count_if',
  var: 'var_samp',
  variance: 'var_samp',
  var_population: 'var_pop',
  var_sample: 'var_samp',
  stddev: 'stddev_samp',
  covar: 'covar_samp',
  listagg: 'string_agg',
  group_concat: 'string_agg',
  list: 'array_agg',
  first: 'first_value',
  last: 'last_value',
  arbitrary: 'any_value',
  max_by: 'arg_max',
  min_by: 'arg_min',
  argmax: 'arg_max',
  argmin: 'arg_min',
  quantile_cont: 'percentile_cont',
  quantile_disc: 'percentile_disc',
  approx_count_distinct: 'approx_distinct',
};
