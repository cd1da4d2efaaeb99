/**
 * Random expressions of a type. Every operation gives exactly the type asked for, with a cast where it would not, and
 * no value leaves its type unless `risky` says that rows may fail.
 */
import type { Prng } from '../../src/base/prng.ts';
import { join, onlyOurs, pair, sql, type Sql } from './dialects.ts';
import { guardedCondition, guardedNumber, repeated } from './draw-guarded.ts';
import { matched, matching } from './draw-patterns.ts';
import { type ColumnType, drawInstant, HUGE } from './tables.ts';
import { momentText } from './time.ts';

export type DrawnColumn = { readonly sql: Sql; readonly type: ColumnType };

type Drawing = (depth: number) => Sql;

/** With changes of the clocks by an hour or by half of one, without any, and told by their distance from UTC. */
const ZONES: readonly string[] = [
  'Europe/Paris',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  'UTC',
  '+05:30',
  '-03:00',
];

export class ExpressionDraw {
  readonly #prng: Prng;
  readonly #columns: readonly DrawnColumn[];
  readonly #risky: boolean;

  constructor(prng: Prng, columns: readonly DrawnColumn[], risky = false) {
    this.#prng = prng;
    this.#columns = columns;
    this.#risky = risky;
  }

  of(type: ColumnType, depth: number): Sql {
    const leaf = depth <= 0 || this.#prng.chance(0.3);
    if (leaf) return this.#leaf(type);
    const forms = this.#forms(type);
    const form = this.#prng.pick(forms);
    return form(depth - 1);
  }

  condition(depth: number): Sql {
    return this.of('boolean', depth);
  }

  /** A column of the type, or else a constant. */
  #leaf(type: ColumnType): Sql {
    const columns = this.#columns.filter((column) => column.type === type);
    if (columns.length > 0 && this.#prng.chance(0.8)) return this.#prng.pick(columns).sql;
    return this.constant(type);
  }

  constant(type: ColumnType): Sql {
    const prng = this.#prng;
    switch (type) {
      case 'int':
        return sql`${prng.below(5)}`;
      case 'bigint':
        return sql`CAST(${prng.below(9) - 3} AS BIGINT)`;
      case 'huge':
        return sql`CAST('${String(prng.pick(HUGE))}' AS BIGINT)`;
      case 'decimal':
        return sql`CAST(${prng.below(900) / 100} AS DECIMAL(20, 4))`;
      case 'double':
        return sql`CAST(${(prng.below(40) - 10) / 4} AS DOUBLE)`;
      case 'text':
        return sql`'${prng.pick(['a', 'b', 'Ab', 'u', 'äö', '', 'x_y'])}'`;
      case 'boolean':
        return sql`${prng.pick(['true', 'false'])}`;
      case 'instant':
        return sql`TIMESTAMPTZ '${momentText(drawInstant(prng))}'`;
      case 'date':
        return sql`DATE '2024-01-${String(1 + prng.below(20)).padStart(2, '0')}'`;
      default:
        return sql`TIMESTAMP '2024-01-01 00:00:${String(prng.below(60)).padStart(2, '0')}'`;
    }
  }

  #forms(type: ColumnType): readonly Drawing[] {
    const shared: readonly Drawing[] = [
      (depth) => sql`coalesce(${this.of(type, depth)}, ${this.of(type, depth)})`,
      (depth) =>
        sql`CASE WHEN ${this.condition(depth)} THEN ${this.of(type, depth)} ELSE ${this.of(type, depth)} END`,
      (depth) => sql`CASE WHEN ${this.condition(depth)} THEN ${this.of(type, depth)} END`,
    ];
    const of = (wanted: ColumnType, deep: number): Sql => this.of(wanted, deep);
    const compared: readonly Drawing[] = [
      (depth) => repeated(this.#prng, of, type, Math.min(depth, 2)),
      (depth) => sql`nullif(${this.of(type, depth)}, ${this.of(type, depth)})`,
      (depth) =>
        sql`${this.#prng.pick(['greatest', 'least'])}(${this.of(type, depth)}, ${this.of(type, depth)})`,
    ];
    switch (type) {
      case 'int':
        return [...shared, ...compared, ...this.#int()];
      case 'bigint':
        return [...shared, ...compared, ...this.#bigint()];
      case 'huge':
        return [...shared, ...compared];
      case 'decimal':
        return this.#decimal();
      case 'double':
        return [...shared, ...compared, ...this.#double()];
      case 'text':
        return [
          ...shared,
          ...compared,
          ...this.#text(),
          ...matched(this.#prng, (depth) => this.of('text', depth)),
        ];
      case 'boolean':
        return [
          ...shared,
          ...this.#boolean(),
          ...this.#boolean(),
          ...this.#boolean(),
          ...matching(this.#prng, (depth) => this.of('text', depth)),
          (depth) => guardedCondition(this.#prng, of, depth),
        ];
      case 'date':
        return [
          ...shared,
          ...compared,
          (depth) => sql`CAST(${this.of('timestamp', depth)} AS DATE)`,
          (depth) => sql`CAST(${this.of('instant', depth)} AS DATE)`,
          (depth) => sql`(${this.of('date', depth)} + ${this.#prng.below(40)})`,
        ];
      case 'instant':
        return [...shared, ...compared, ...this.#instant()];
      default:
        return [
          ...shared,
          ...compared,
          (depth) => sql`(${this.of('instant', depth)} AT TIME ZONE ${this.#zone()})`,
          (depth) => sql`CAST(${this.of('instant', depth)} AS TIMESTAMP)`,
          (depth) =>
            sql`(${this.of('timestamp', depth)} ${this.#prng.pick(['+', '-'])} interval '${1 + this.#prng.below(20)} ${this.#prng.pick(['seconds', 'minutes', 'days', 'months'])}')`,
          (depth) =>
            sql`date_trunc('${this.#prng.pick(['second', 'minute', 'hour', 'day', 'month', 'year'])}', ${this.of('timestamp', depth)})`,
          (depth) => sql`CAST(${this.of('date', depth)} AS TIMESTAMP)`,
        ];
    }
  }

  /** DuckDB does not know zones by their distance from UTC. */
  #zone(): Sql {
    const zone = `'${this.#prng.pick(ZONES)}'`;
    return pair(zone, /[+-]/.test(zone) ? null : zone);
  }

  #instant(): readonly Drawing[] {
    const instant = (depth: number): Sql => this.of('instant', depth);
    const unit = this.#prng.pick(['second', 'hour', 'day', 'week', 'month', 'year']);
    const step = this.#prng.pick(['seconds', 'hours', 'days', 'months']);
    return [
      (depth) => sql`(${this.of('timestamp', depth)} AT TIME ZONE ${this.#zone()})`,
      (depth) => sql`(${instant(depth)} AT TIME ZONE ${this.#zone()} AT TIME ZONE ${this.#zone()})`,
      (depth) => sql`timezone(${this.#zone()}, ${this.of('timestamp', depth)})`,
      (depth) =>
        sql`(${instant(depth)} ${this.#prng.pick(['+', '-'])} interval '${1 + this.#prng.below(20)} ${step}')`,
      (depth) => sql`date_trunc('${unit}', ${instant(depth)})`,
      (depth) =>
        onlyOurs(
          sql`date_bin(interval '${this.#prng.pick([7, 15, 60])} minutes', ${instant(depth)})`,
        ),
      (depth) => sql`CAST(${this.of('timestamp', depth)} AS TIMESTAMPTZ)`,
      (depth) => sql`CAST(CAST(${instant(depth)} AS TEXT) AS TIMESTAMPTZ)`,
    ];
  }

  #int(): readonly Drawing[] {
    return [
      (depth) => sql`(${this.of('int', depth)} + ${this.constant('int')})`,
      (depth) => sql`(${this.of('int', depth)} - ${this.constant('int')})`,
      (depth) => sql`(${this.of('int', depth)} % ${2 + this.#prng.below(4)})`,
      (depth) => sql`(-${this.of('int', depth)})`,
      (depth) => sql`abs(${this.of('int', depth)})`,
    ];
  }

  #bigint(): readonly Drawing[] {
    const risky: readonly Drawing[] = [
      (depth) => this.#divided(this.of('bigint', depth), this.of('bigint', depth)),
      (depth) => sql`(${this.of('bigint', depth)} % ${this.of('bigint', depth)})`,
      (depth) => onlyOurs(sql`CAST(${this.of('text', depth)} AS BIGINT)`),
    ];
    return [
      (depth) => sql`(${this.of('bigint', depth)} + ${this.of('bigint', depth)})`,
      (depth) => sql`(${this.of('bigint', depth)} - ${this.of('int', depth)})`,
      (depth) => sql`(${this.of('bigint', depth)} * ${2 + this.#prng.below(5)})`,
      (depth) => this.#divided(this.of('bigint', depth), sql`${2 + this.#prng.below(5)}`),
      (depth) =>
        this.#divided(this.of('bigint', depth), sql`nullif(${this.of('bigint', depth)}, 0)`),
      (depth) => sql`(${this.of('bigint', depth)} % nullif(${this.of('bigint', depth)}, 0))`,
      (depth) => sql`CAST(${this.of('int', depth)} AS BIGINT)`,
      (depth) => sql`CAST(length(${this.of('text', depth)}) AS BIGINT)`,
      (depth) => sql`CAST(strpos(${this.of('text', depth)}, ${this.of('text', depth)}) AS BIGINT)`,
      (depth) =>
        sql`CAST(extract(${this.#prng.pick(['year', 'month', 'day', 'hour', 'minute', 'dow', 'doy', 'quarter'])} FROM ${this.of('timestamp', depth)}) AS BIGINT)`,
      (depth) =>
        sql`CAST(extract(${this.#prng.pick(['year', 'day', 'hour', 'minute', 'dow', 'doy'])} FROM ${this.of('instant', depth)}) AS BIGINT)`,
      (depth) => sql`${pair('to_unix_millis', 'epoch_ms')}(${this.of('timestamp', depth)})`,
      (depth) => sql`abs(${this.of('bigint', depth)})`,
      (depth) => this.#either(this.of('bigint', depth), this.of('bigint', depth)),
      (depth) => sql`(${this.of('bigint', depth)} & ${this.of('bigint', depth)})`,
      (depth) => sql`CAST(${this.of('decimal', depth)} AS BIGINT)`,
      (depth) => sql`CAST(CAST(${this.of('bigint', depth)} AS TEXT) AS BIGINT)`,
      (depth) => guardedNumber(this.#prng, (type, deep) => this.of(type, deep), depth),
      ...(this.#risky ? risky : []),
    ];
  }

  /** Whole-number division has another sign in DuckDB. */
  #divided(left: Sql, right: Sql): Sql {
    return pair(
      `(${left.ours} / ${right.ours})`,
      left.duck === null || right.duck === null ? null : `(${left.duck} // ${right.duck})`,
    );
  }

  /** What one of both has, bit by bit. */
  #either(left: Sql, right: Sql): Sql {
    return pair(
      `(${left.ours} # ${right.ours})`,
      left.duck === null || right.duck === null ? null : `xor(${left.duck}, ${right.duck})`,
    );
  }

  #decimal(): readonly Drawing[] {
    const exact = (inner: Sql): Sql => sql`CAST(${inner} AS DECIMAL(20, 4))`;
    return [
      (depth) => exact(sql`${this.of('decimal', depth)} + ${this.of('decimal', depth)}`),
      (depth) => exact(sql`${this.of('decimal', depth)} - ${this.of('decimal', depth)}`),
      (depth) => exact(sql`${this.of('decimal', depth)} * 1.5`),
      (depth) => onlyOurs(exact(sql`${this.of('decimal', depth)} / 7`)),
      (depth) => onlyOurs(exact(sql`round(${this.of('decimal', depth)}, ${this.#prng.below(3)})`)),
      (depth) => onlyOurs(exact(sql`floor(${this.of('decimal', depth)})`)),
      (depth) => exact(this.of('bigint', depth)),
      (depth) => exact(sql`coalesce(${this.of('decimal', depth)}, 0.5)`),
      (depth) =>
        exact(
          sql`CASE WHEN ${this.condition(depth)} THEN ${this.of('decimal', depth)} ELSE 2.25 END`,
        ),
    ];
  }

  #double(): readonly Drawing[] {
    return [
      (depth) => sql`(${this.of('double', depth)} + ${this.of('double', depth)})`,
      (depth) => sql`(${this.of('double', depth)} * 0.5)`,
      (depth) => sql`(${this.of('double', depth)} / ${1 << this.#prng.below(4)})`,
      (depth) => sql`CAST(${this.of('int', depth)} AS DOUBLE)`,
      (depth) => sql`floor(${this.of('double', depth)})`,
      (depth) => sql`ceil(${this.of('double', depth)})`,
      (depth) => sql`abs(${this.of('double', depth)})`,
    ];
  }

  #text(): readonly Drawing[] {
    const n = (): number => this.#prng.below(4);
    const text = (depth: number): Sql => this.of('text', depth);
    return [
      (depth) => sql`(${text(depth)} || ${text(depth)})`,
      (depth) => sql`upper(${text(depth)})`,
      (depth) => sql`lower(${text(depth)})`,
      (depth) => sql`substr(${text(depth)}, ${1 + n()}, ${n()})`,
      (depth) => sql`replace(${text(depth)}, ${this.constant('text')}, ${this.constant('text')})`,
      (depth) => sql`trim(${text(depth)})`,
      (depth) => sql`left(${text(depth)}, ${n()})`,
      (depth) => sql`right(${text(depth)}, ${n()})`,
      (depth) => sql`lpad(${text(depth)}, ${n() + 2}, '*')`,
      (depth) => sql`rpad(${text(depth)}, ${n() + 2}, 'äb')`,
      (depth) => sql`split_part(${text(depth)}, ',', ${1 + n()})`,
      (depth) => sql`reverse(${text(depth)})`,
      (depth) => onlyOurs(sql`initcap(${text(depth)})`),
      (depth) => sql`translate(${text(depth)}, 'ab', 'x')`,
      (depth) => sql`repeat(${this.of('text', Math.min(depth, 1))}, ${n()})`,
      (depth) => sql`concat(${text(depth)}, ${this.of('int', depth)})`,
      (depth) => sql`concat_ws('-', ${text(depth)}, ${text(depth)})`,
      (depth) => sql`CAST(${this.of('bigint', depth)} AS TEXT)`,
      (depth) => sql`CAST(${this.of('date', depth)} AS TEXT)`,
      (depth) => sql`md5(${text(depth)})`,
      (depth) => onlyOurs(sql`CAST(${this.of('timestamp', depth)} AS TEXT)`),
      (depth) => onlyOurs(sql`CAST(${this.of('instant', depth)} AS TEXT)`),
    ];
  }

  #boolean(): readonly Drawing[] {
    const type = this.#prng.pick([
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
    const value = (depth: number): Sql => this.of(type, depth);
    const operator = this.#prng.pick(['=', '<>', '<', '<=', '>', '>=']);
    const not = this.#prng.pick(['', 'NOT ']);
    return [
      (depth) => sql`(${value(depth)} ${operator} ${value(depth)})`,
      (depth) => sql`(${value(depth)} ${operator} ${this.constant(type)})`,
      (depth) => sql`(${this.condition(depth)} AND ${this.condition(depth)})`,
      (depth) => sql`(${this.condition(depth)} OR ${this.condition(depth)})`,
      (depth) => sql`(NOT ${this.condition(depth)})`,
      (depth) => sql`(${value(depth)} IS ${not}NULL)`,
      (depth) => sql`(${value(depth)} ${not}BETWEEN ${value(depth)} AND ${value(depth)})`,
      (depth) =>
        sql`(${value(depth)} ${not}IN (${join([this.constant(type), value(depth), this.constant(type)], ', ')}))`,
      (depth) => sql`(${value(depth)} IS ${not}DISTINCT FROM ${value(depth)})`,
      (depth) => sql`starts_with(${this.of('text', depth)}, ${this.of('text', depth)})`,
      (depth) => sql`(${this.condition(depth)} IS ${not}${this.#prng.pick(['TRUE', 'FALSE'])})`,
    ];
  }
}
