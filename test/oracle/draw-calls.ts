/** Random aggregates and calls with OVER. */
import type { Prng } from '../../src/base/prng.ts';
import { join, onlyOurs, sql, type Sql } from './dialects.ts';
import type { ExpressionDraw } from './draw-expression.ts';
import type { ColumnType } from './tables.ts';

export type DrawnCall = { readonly call: Sql; readonly type: ColumnType };

/** Of all aggregates, or of those of values once only. */
export type Among = 'all' | 'distinct';

/** An aggregate, now and then of some rows only. */
export function drawAggregate(prng: Prng, draw: ExpressionDraw, among: Among = 'all'): DrawnCall {
  const filter = prng.chance(0.2) ? sql` FILTER (WHERE ${draw.condition(2)})` : sql``;
  if (among === 'distinct') return prng.pick(distinct(prng, draw, filter))();
  return prng.pick([...plain(prng, draw, filter), ...collected(prng, draw, filter)])();
}

type Drawing = () => DrawnCall;

function plain(prng: Prng, draw: ExpressionDraw, filter: Sql): Drawing[] {
  const depth = prng.below(2);
  const type = prng.pick([
    'int',
    'bigint',
    'huge',
    'decimal',
    'double',
    'text',
    'timestamp',
    'instant',
    'date',
  ] as const);
  const one = prng.pick(['', '', 'DISTINCT ']);
  const extreme = (): DrawnCall => ({
    call: sql`${prng.pick(['min', 'max'])}(${draw.of(type, depth)})${filter}`,
    type,
  });
  return [
    () => ({ call: sql`count(*)${filter}`, type: 'bigint' }),
    () => ({ call: sql`count(${one}${draw.of(type, depth)})${filter}`, type: 'bigint' }),
    extreme,
    extreme,
    () => ({
      call: sql`CAST(sum(${one}${draw.of('bigint', depth)})${filter} AS BIGINT)`,
      type: 'bigint',
    }),
    () => ({ call: sql`CAST(sum(${draw.of('int', depth)})${filter} AS BIGINT)`, type: 'bigint' }),
    () => ({
      call: sql`CAST(sum(${draw.of('decimal', depth)})${filter} AS DECIMAL(20, 4))`,
      type: 'decimal',
    }),
    () => ({ call: sql`avg(${one}${draw.of('bigint', depth)})${filter}`, type: 'double' }),
    () => ({
      call: onlyOurs(sql`CAST(avg(${draw.of('decimal', depth)})${filter} AS DECIMAL(20, 4))`),
      type: 'decimal',
    }),
    () => ({ call: sql`sum(${draw.of('double', depth)})${filter}`, type: 'double' }),
    () => ({
      call: sql`${prng.pick(['bool_and', 'bool_or'])}(${draw.condition(2)})${filter}`,
      type: 'boolean',
    }),
  ];
}

function distinct(prng: Prng, draw: ExpressionDraw, filter: Sql): Drawing[] {
  const type = prng.pick([
    'int',
    'bigint',
    'huge',
    'decimal',
    'double',
    'text',
    'instant',
  ] as const);
  const [text, int] = [draw.of('text', prng.below(2)), draw.of('int', 0)];
  const count = (): DrawnCall => ({
    call: sql`count(DISTINCT ${draw.of(type, prng.below(2))})${filter}`,
    type: 'bigint',
  });
  return [
    count,
    count,
    () => ({ call: sql`CAST(sum(DISTINCT ${int})${filter} AS BIGINT)`, type: 'bigint' }),
    () => ({
      call: sql`CAST(sum(DISTINCT ${draw.of('decimal', 1)})${filter} AS DECIMAL(20, 4))`,
      type: 'decimal',
    }),
    () => ({ call: sql`avg(DISTINCT ${draw.of('bigint', 1)})${filter}`, type: 'double' }),
    () => ({
      call: sql`string_agg(DISTINCT ${text}, '-' ORDER BY ${text})${filter}`,
      type: 'text',
    }),
    () => ({
      call: onlyOurs(
        sql`array_to_string(array_agg(DISTINCT ${int} ORDER BY ${int} DESC)${filter}, ',')`,
      ),
      type: 'text',
    }),
    () => ({ call: sql`CAST(median(DISTINCT ${int})${filter} AS DOUBLE)`, type: 'double' }),
    () => ({ call: sql`count(*)${filter}`, type: 'bigint' }),
  ];
}

function collected(prng: Prng, draw: ExpressionDraw, filter: Sql): Drawing[] {
  const int = draw.of('int', 0);
  const text = draw.of('text', 0);
  const numbers = prng.pick(['var_pop', 'stddev_samp']);
  return [
    () => ({ call: sql`string_agg(${text}, '-' ORDER BY ${text})${filter}`, type: 'text' }),
    () => ({ call: sql`CAST(median(${int})${filter} AS DOUBLE)`, type: 'double' }),
    () => ({ call: sql`${numbers}(${int})${filter}`, type: 'double' }),
    () => ({
      call: onlyOurs(sql`array_to_string(array_agg(${int} ORDER BY ${int} DESC)${filter}, ',')`),
      type: 'text',
    }),
    () => ({
      call: onlyOurs(sql`arg_max(${int}, ${draw.of('bigint', 0)})${filter}`),
      type: 'int',
    }),
    () => ({ call: onlyOurs(sql`mode() WITHIN GROUP (ORDER BY ${int})${filter}`), type: 'int' }),
    () => ({
      call: onlyOurs(sql`percentile_disc(0.3) WITHIN GROUP (ORDER BY ${int})${filter}`),
      type: 'int',
    }),
    () => ({ call: sql`bit_xor(${draw.of('bigint', 0)})${filter}`, type: 'bigint' }),
  ];
}

export type OverDrawing = {
  readonly prng: Prng;
  readonly draw: ExpressionDraw;
  readonly partitionBy: readonly string[];
  /** The order begins with the event time. */
  readonly time: string | null;
  readonly allColumns: readonly Sql[];
};

export function drawOver({ prng, draw, partitionBy, time, allColumns }: OverDrawing): DrawnCall {
  const by = partitionBy.length === 0 ? '' : `PARTITION BY ${partitionBy.join(', ')} `;
  const direction =
    time === null ? prng.pick([' NULLS LAST', ' DESC NULLS LAST', ' NULLS FIRST']) : '';
  const first = time === null ? sql`${prng.pick(allColumns)}${direction}` : sql`${time}`;
  const total = join([first, ...allColumns.map((column) => sql`${column} NULLS LAST`)], ', ');
  const ranks = prng.pick(['rank', 'dense_rank', 'percent_rank', 'cume_dist']);
  const ranked: Drawing = () => ({
    call: sql`${ranks}() OVER (${by}ORDER BY ${first})`,
    type: ranks.includes('_') && ranks !== 'dense_rank' ? 'double' : 'bigint',
  });
  const frame = prng.pick([
    '',
    ' ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW',
    ` ROWS ${1 + prng.below(3)} PRECEDING`,
    ' ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING',
    ' ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING',
    ` GROUPS BETWEEN ${prng.below(3)} PRECEDING AND CURRENT ROW`,
  ]);
  const drawings: Drawing[] = [
    ranked,
    () => ({ call: sql`row_number() OVER (${by}ORDER BY ${total})`, type: 'bigint' }),
    () => ({
      call: sql`ntile(${2 + prng.below(3)}) OVER (${by}ORDER BY ${total})`,
      type: 'bigint',
    }),
    () => {
      const type = prng.pick(['int', 'text', 'bigint', 'huge'] as const);
      const fn = prng.pick(['lag', 'lead']);
      return {
        call: sql`${fn}(${draw.of(type, 0)}, ${1 + prng.below(2)}) OVER (${by}ORDER BY ${total})`,
        type,
      };
    },
    () => {
      const type = prng.pick(['int', 'text'] as const);
      const fn = prng.pick(['first_value', 'last_value']);
      return { call: sql`${fn}(${draw.of(type, 0)}) OVER (${by}ORDER BY ${total}${frame})`, type };
    },
    () => ({
      call: sql`CAST(sum(${draw.of('int', 0)}) OVER (${by}ORDER BY ${total}${frame}) AS BIGINT)`,
      type: 'bigint',
    }),
    () => ({
      call: sql`${prng.pick(['min', 'max'])}(${draw.of('huge', 0)}) OVER (${by}ORDER BY ${total}${frame})`,
      type: 'huge',
    }),
    () => ({
      call: sql`count(*) OVER (${by}ORDER BY ${first})`,
      type: 'bigint',
    }),
    () => ({ call: sql`count(${draw.of('int', 0)}) OVER (${by.trim()})`, type: 'bigint' }),
  ];
  if (time !== null)
    drawings.push(() => ({
      call: sql`count(*) OVER (${by}ORDER BY ${time} RANGE BETWEEN interval '${1 + prng.below(5)} seconds' PRECEDING AND CURRENT ROW)`,
      type: 'bigint',
    }));
  return prng.pick(drawings)();
}
