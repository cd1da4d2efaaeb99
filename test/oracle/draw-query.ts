/**
 * Random queries, nested at will, in our words and in DuckDB's where it can say the same.
 *
 * A query is built from relations that know their columns and what streams allow with them: whether rows are only
 * added, and whether they have an event time. What order leaves open is closed by ordering by all columns.
 */
import type { Prng } from '../../src/base/prng.ts';
import { join, onlyOurs, pair, sql, type Sql } from './dialects.ts';
import { type DrawnColumn, ExpressionDraw } from './draw-expression.ts';
import { drawBest } from './draw-best.ts';
import { type Among, drawAggregate, drawOver } from './draw-calls.ts';
import {
  type ColumnType,
  isChanges,
  type Table,
  type TableColumn,
  type TableKind,
} from './tables.ts';

export type Relation = {
  /** What stands in FROM, without an alias. */
  readonly from: Sql;
  readonly columns: readonly TableColumn[];
  readonly appends: boolean;
  /** Rows have an event time, and none will come behind the watermark. */
  readonly timed: boolean;
  /** The column of the event time, where one has it. */
  readonly time: string | null;
  /** The call that cut the windows of the column `w`. */
  readonly window: Sql | null;
};

/** Windows one after the other since 1970, whenever they are told. */
const PLAIN_TUMBLE =
  /^tumble\((interval '\d+ seconds')(?:, (?:lateness|early) => interval '\d+ seconds')*\)$/;

export class QueryDraw {
  readonly #prng: Prng;
  readonly #tables: readonly Table[];
  /** Rows may fail: only where a query is not nested, so that it is clear which rows do. */
  readonly #risky: boolean;
  readonly #commons: Sql[] = [];
  #names = 0;

  constructor(prng: Prng, tables: readonly Table[], risky: boolean) {
    this.#prng = prng;
    this.#tables = tables;
    this.#risky = risky;
  }

  query(depth: number): Sql {
    const relation = this.#relation(depth);
    const q = this.#name('q');
    const items = relation.columns.flatMap(({ name, type }) =>
      type === 'window'
        ? [
            sql`${pair(`${q}.${name}.start`, `${q}.${name}`)} AS ${name}_start`,
            onlyOurs(sql`${q}.${name}.end AS ${name}_end`),
          ].slice(0, this.#prng.chance(0.7) ? 1 : 2)
        : [sql`${q}.${name} AS ${name}`],
    );
    const all = sql`SELECT ${join(items, ', ')} FROM ${relation.from} AS ${q}`;
    return this.#commons.length === 0 ? all : sql`WITH ${join(this.#commons, ', ')} ${all}`;
  }

  #name(prefix: string): string {
    return `${prefix}${++this.#names}`;
  }

  #relation(depth: number): Relation {
    if (depth <= 0) return this.#anyTable();
    // Which rows fail is plain where each is computed once; a key of a join fails whether or not it meets anything.
    if (this.#risky)
      return this.#prng.pick([
        () => this.#project(this.#table()),
        () => this.#grouped(this.#table()),
        () => this.#windowed(this.#table()),
      ])();
    const shapes = [
      () => this.#project(this.#relation(depth - 1)),
      () => this.#grouped(this.#relation(depth - 1)),
      () => this.#windowed(this.#timedRelation(depth - 1)),
      () => this.#windowed(this.#timedRelation(depth - 1)),
      () => this.#joined(depth),
      () => this.#joined(depth),
      () => this.#windowJoin(depth),
      () => this.#openWindows(),
      () => this.#windowedChanges(),
      () => this.#best(),
      () => this.#best(),
      () => this.#intervalJoin(),
      () => this.#filtered(depth),
      () => this.#over(this.#relation(depth - 1)),
      () => this.#over(this.#timedRelation(depth - 1)),
      () => this.#topN(this.#relation(depth - 1)),
      () => this.#limited(this.#relation(depth - 1)),
      () => this.#distinct(this.#relation(depth - 1)),
      () => this.#distinct(this.#updatingRelation(depth - 1)),
      () => this.#grouped(this.#updatingRelation(depth - 1), 'distinct'),
      () => this.#setOperation(depth),
      () => this.#common(this.#relation(depth - 1)),
      () => this.#withValue(depth),
      () => this.#union(depth),
      () => this.#unnested(this.#relation(depth - 1)),
    ];
    return this.#prng.pick(shapes)();
  }

  #table(): Relation {
    return timedRelation(this.#prng.pick(this.#ofKind('stream')));
  }

  #ofKind(...kinds: readonly TableKind[]): Table[] {
    return this.#tables.filter(({ kind }) => kinds.includes(kind));
  }

  /** A stream, or a table whose rows are taken back or come behind the watermark. */
  #anyTable(): Relation {
    if (this.#prng.chance(0.7)) return this.#table();
    const found = this.#ofKind('behind', 'changes', 'timed changes');
    const { name, columns, kind } = this.#prng.pick(found);
    const appends = kind === 'behind';
    // By its event time it could be joined with others of theirs, for which its rows are late.
    const usable = appends ? columns.filter((column) => column.name !== 'ts') : columns;
    return {
      from: sql`${name}`,
      columns: usable,
      appends,
      timed: false,
      time: null,
      window: null,
    };
  }

  /** Draws until rows may be taken back; a table of changes at the latest. */
  #updatingRelation(depth: number): Relation {
    for (let tries = 0; tries < 2; tries++) {
      const relation = this.#relation(depth);
      if (!relation.appends) return relation;
    }
    const { name, columns } = this.#prng.pick(this.#ofKind('changes', 'timed changes'));
    return {
      from: sql`${name}`,
      columns,
      appends: false,
      timed: false,
      time: null,
      window: null,
    };
  }

  /** Draws until rows have a time; a table at the latest. */
  #timedRelation(depth: number): Relation {
    for (let tries = 0; tries < 3; tries++) {
      const relation = this.#relation(depth);
      if (relation.timed && relation.appends) return relation;
    }
    return this.#table();
  }

  #draw(relation: Relation, q: string): ExpressionDraw {
    return new ExpressionDraw(this.#prng, drawn(relation, q), this.#risky);
  }

  #nested(
    query: Sql,
    columns: readonly TableColumn[],
    rest: Partial<Omit<Relation, 'from' | 'columns'>> = {},
  ): Relation {
    return {
      from: sql`(${query})`,
      columns,
      appends: false,
      timed: false,
      time: null,
      window: null,
      ...rest,
    };
  }

  /** Some columns as they are, some computed. The time and the window are kept under their names. */
  #items(
    relation: Relation,
    q: string,
    draw: ExpressionDraw,
  ): { items: Sql[]; columns: TableColumn[] } {
    const kept = relation.columns.filter(
      ({ name, type }) => name === relation.time || type === 'window',
    );
    const items = kept.map(({ name }) => sql`${q}.${name} AS ${name}`);
    const columns: TableColumn[] = [...kept];
    const count = 1 + this.#prng.below(4);
    for (let at = 0; at < count; at++) {
      const own = relation.columns.filter((column) => !kept.includes(column));
      const name = this.#name('c');
      const column = this.#prng.chance(0.5) && own.length > 0 ? this.#prng.pick(own) : null;
      const type = column?.type ?? this.#type();
      items.push(sql`${column === null ? draw.of(type, 3) : `${q}.${column.name}`} AS ${name}`);
      columns.push({ name, type });
    }
    return { items, columns };
  }

  #type(): ColumnType {
    return this.#prng.pick([
      'int',
      'bigint',
      'bigint',
      'huge',
      'decimal',
      'double',
      'text',
      'text',
      'boolean',
      'timestamp',
      'instant',
      'date',
    ]);
  }

  #where(draw: ExpressionDraw): Sql {
    return this.#prng.chance(0.5) ? sql` WHERE ${draw.condition(3)}` : sql``;
  }

  #project(relation: Relation): Relation {
    const q = this.#name('q');
    const draw = this.#draw(relation, q);
    const { items, columns } = this.#items(relation, q, draw);
    const query = sql`SELECT ${join(items, ', ')} FROM ${relation.from} AS ${q}${this.#where(draw)}`;
    return this.#nested(query, columns, relationRest(relation));
  }

  /** Keys, then aggregates. */
  #grouping(
    relation: Relation,
    q: string,
    keysMax: number,
    among: Among = 'all',
  ): {
    items: Sql[];
    keys: string[];
    columns: TableColumn[];
    having: Sql;
    /** Keys that `grouping` can be asked about: one of each, and no constants. */
    tellable: Sql[];
  } {
    const draw = this.#draw(relation, q);
    const keys: string[] = [];
    const items: Sql[] = [];
    const columns: TableColumn[] = [];
    const exprs: DrawnColumn[] = [];
    for (let at = this.#prng.below(keysMax + 1); at > 0; at--) {
      const name = this.#name('c');
      const type = this.#prng.pick([
        'int',
        'int',
        'text',
        'boolean',
        'bigint',
        'huge',
        'date',
        'instant',
      ] as const);
      const last = exprs.at(-1);
      const again = last !== undefined && this.#prng.chance(0.1);
      const key = again ? last : { sql: draw.of(type, this.#prng.below(3)), type };
      exprs.push(key);
      items.push(sql`${key.sql} AS ${name}`);
      columns.push({ name, type: key.type });
      keys.push(name);
    }
    const calls: Sql[] = [];
    for (let at = 1 + this.#prng.below(3); at > 0; at--) {
      const name = this.#name('c');
      const { call, type } = drawAggregate(this.#prng, draw, among);
      calls.push(call);
      items.push(sql`${call} AS ${name}`);
      columns.push({ name, type });
    }
    const having = this.#prng.chance(0.2)
      ? sql` HAVING count(*) ${this.#prng.pick(['>', '<=', '<>'])} ${this.#prng.pick(['1', '2', 'CAST(1 AS BIGINT)'])}`
      : sql``;
    return { items, keys, columns, having, tellable: tellableOf(exprs) };
  }

  #grouped(relation: Relation, among: Among = 'all'): Relation {
    const q = this.#name('q');
    const { items, keys, columns, having, tellable } = this.#grouping(relation, q, 2, among);
    const where = this.#where(this.#draw(relation, q));
    const by = keys.length === 0 ? sql`` : sql` GROUP BY ${this.#groupBy(keys)}`;
    if (by.ours.endsWith(')') && tellable.length > 0) {
      const name = this.#name('c');
      items.push(sql`CAST(grouping(${join(tellable, ', ')}) AS BIGINT) AS ${name}`);
      columns.push({ name, type: 'bigint' });
    }
    return this.#nested(
      sql`SELECT ${join(items, ', ')} FROM ${relation.from} AS ${q}${where}${by}${having}`,
      columns,
    );
  }

  /** Now and then by several sets of the keys at once. */
  #groupBy(keys: readonly string[]): string {
    const all = keys.join(', ');
    if (!this.#prng.chance(0.15)) return all;
    const sets = [...keys.map((key) => `(${key})`), `(${all})`, '()'].filter(() =>
      this.#prng.chance(0.7),
    );
    return this.#prng.pick([
      `ROLLUP (${all})`,
      `CUBE (${all})`,
      `GROUPING SETS (${sets.length === 0 ? '()' : sets.join(', ')})`,
    ]);
  }

  /** Rows of a list beside the row that has it. */
  #unnested(relation: Relation): Relation {
    const [q, u] = [this.#name('q'), this.#name('u')];
    const draw = this.#draw(relation, q);
    const { items, columns } = this.#items(relation, q, draw);
    const type = this.#prng.pick(['int', 'text'] as const);
    const elements = Array.from({ length: this.#prng.below(3) + 1 }, () => draw.of(type, 1));
    const [value, name] = [this.#name('v'), this.#name('c')];
    return this.#nested(
      sql`SELECT ${join([...items, sql`${u}.${value} AS ${name}`], ', ')} FROM ${relation.from} AS ${q}, unnest([${join(elements, ', ')}]) AS ${u} (${value})`,
      [...columns, { name, type }],
      relationRest(relation),
    );
  }

  #windowCall(): string {
    const prng = this.#prng;
    const width = prng.pick([2, 5, 10, 30]);
    const offset = prng.chance(0.2) ? `, interval '${1 + prng.below(5)} seconds'` : '';
    return prng.pick([
      `tumble(interval '${width} seconds'${offset})`,
      `tumble(interval '${width} seconds')`,
      `tumble(interval '${width} seconds')`,
      `hop(interval '${1 + prng.below(6)} seconds', interval '${width} seconds'${offset})`,
      `cumulate(interval '${width} seconds', interval '${width * (1 + prng.below(4))} seconds')`,
      `session(interval '${1 + prng.below(4)} seconds')`,
    ]);
  }

  /** DuckDB has windows that follow on each other, if there is a column to cut. */
  #windowSql(call: string, relation: Relation, q: string): Sql {
    const width = PLAIN_TUMBLE.exec(call)?.[1];
    if (width === undefined || relation.time === null) return pair(call, null);
    return pair(call, `time_bucket(${width}, ${q}.${relation.time})`);
  }

  #windowed(relation: Relation, wanted = this.#windowCall(), keysMax = 2): Relation {
    const q = this.#name('q');
    const { items, keys, columns, having } = this.#grouping(
      relation,
      q,
      keysMax,
      relation.appends || this.#prng.chance(0.5) ? 'all' : 'distinct',
    );
    const where = this.#where(this.#draw(relation, q));
    const before = relation.columns.find((column) => column.type === 'window');
    // The same call means the same windows, not those of the times that they end at.
    const same = relation.window?.ours === wanted;
    const again =
      before !== undefined && !wanted.startsWith('session') && (same || this.#prng.chance(0.6));
    const window = again ? sql`${q}.${before.name}` : this.#windowSql(wanted, relation, q);
    const name = this.#name('w');
    const query = sql`SELECT ${join([sql`${window} AS ${name}`, ...items], ', ')} FROM ${relation.from} AS ${q}${where} GROUP BY ${[again ? `${q}.${before.name}` : name, ...keys].join(', ')}${having}`;
    return this.#nested(query, [{ name, type: 'window' }, ...columns], {
      appends: true,
      timed: true,
      window: again ? relation.window : pair(wanted, null),
    });
  }

  #alignedCall(): string {
    if (this.#prng.chance(0.5))
      return `tumble(interval '${this.#prng.pick([2, 5, 10, 30])} seconds')`;
    for (;;) {
      const call = this.#windowCall();
      if (!call.startsWith('session')) return call;
    }
  }

  /** Windows that are told before they end, or hear of rows after it; what remains is the same. */
  #openWindows(): Relation {
    const [behind] = this.#ofKind('behind');
    const table =
      behind !== undefined && this.#prng.chance(0.5)
        ? behind
        : this.#prng.pick(this.#ofKind('stream', 'timed changes'));
    const late = table === behind || this.#prng.chance(0.6);
    const options = [
      ...(late ? ["lateness => interval '6 seconds'"] : []),
      ...(!late || this.#prng.chance(0.5) ? ["early => interval '2 seconds'"] : []),
    ];
    const call = `${this.#alignedCall().slice(0, -1)}, ${options.join(', ')})`;
    const { from, columns } = this.#windowed(timedRelation(table), call);
    return { from, columns, appends: false, timed: false, time: null, window: null };
  }

  /** Windows of rows that are taken back while they are open. */
  #windowedChanges(): Relation {
    const [table] = this.#ofKind('timed changes');
    if (table === undefined) return this.#openWindows();
    return this.#windowed(timedRelation(table), this.#alignedCall());
  }

  /** An equality between the two sides. */
  #equality(left: ExpressionDraw, right: ExpressionDraw): Sql {
    const type = this.#prng.pick(['int', 'int', 'int', 'bigint', 'huge', 'text', 'date'] as const);
    const depth = this.#prng.pick([0, 0, 0, 1]);
    const operator = this.#prng.chance(0.15) ? 'IS NOT DISTINCT FROM' : '=';
    return sql`${left.of(type, depth)} ${operator} ${right.of(type, depth)}`;
  }

  /** A column of each type that equalities are made of has to be there, or the equality would be of constants. */
  #keyed(relation: Relation, q: string, type: ColumnType): string | null {
    const columns = relation.columns.filter((column) => column.type === type);
    return columns.length === 0 ? null : `${q}.${this.#prng.pick(columns).name}`;
  }

  #on(left: Relation, l: string, right: Relation, r: string): Sql | null {
    const types = (
      ['int', 'text', 'bigint', 'huge', 'date', 'timestamp', 'instant'] as const
    ).filter((type) =>
      [left, right].every(({ columns }) => columns.some((column) => column.type === type)),
    );
    if (types.length === 0) return null;
    const type = this.#prng.pick(types);
    const operator = this.#prng.chance(0.15) ? 'IS NOT DISTINCT FROM' : '=';
    const equal = sql`${this.#keyed(left, l, type) ?? ''} ${operator} ${this.#keyed(right, r, type) ?? ''}`;
    if (this.#prng.chance(0.3))
      return sql`${equal} AND ${this.#equality(this.#draw(left, l), this.#draw(right, r))}`;
    const both = new ExpressionDraw(this.#prng, [...drawn(left, l), ...drawn(right, r)]);
    return this.#prng.chance(0.3) ? sql`${equal} AND ${both.condition(2)}` : equal;
  }

  /** Columns of both sides under new names. */
  #both(sides: readonly (readonly [Relation, string])[]): { items: Sql[]; columns: TableColumn[] } {
    const items: Sql[] = [];
    const columns: TableColumn[] = [];
    for (const [relation, q] of sides)
      for (const column of relation.columns) {
        if (column.type === 'window' || (columns.length > 2 && this.#prng.chance(0.4))) continue;
        const name = this.#name('c');
        items.push(sql`${q}.${column.name} AS ${name}`);
        columns.push({ name, type: column.type });
      }
    return { items, columns };
  }

  #right(depth: number): Relation {
    const [temporary] = this.#ofKind('temporary');
    if (temporary === undefined || !this.#prng.chance(0.2)) return this.#relation(depth);
    const { name, columns } = temporary;
    return { from: sql`${name}`, columns, appends: true, timed: false, time: null, window: null };
  }

  #joined(depth: number): Relation {
    const left = this.#relation(depth - 1);
    const right = this.#right(this.#prng.below(depth));
    // Windows of one kind would meet as windows do, whatever else is asked for.
    if (windowOf(left) !== '' && windowOf(right) !== '') return this.#windowJoin(depth);
    const [l, r] = [this.#name('l'), this.#name('r')];
    const on = this.#on(left, l, right, r);
    if (on === null) return this.#project(left);
    const first = right.from.ours === 'r';
    const kind = this.#prng.pick([
      'JOIN',
      'JOIN',
      'LEFT JOIN',
      ...(first ? [] : ['RIGHT JOIN', 'FULL JOIN', 'SEMI JOIN', 'ANTI JOIN']),
    ]);
    const one = kind === 'SEMI JOIN' || kind === 'ANTI JOIN';
    const { items, columns } = this.#both(
      one
        ? [[left, l]]
        : [
            [left, l],
            [right, r],
          ],
    );
    if (columns.length === 0) return this.#project(left);
    const query = sql`SELECT ${join(items, ', ')} FROM ${left.from} AS ${l} ${kind} ${right.from} AS ${r} ON ${on}`;
    const inner = kind === 'JOIN' && left.appends && right.appends;
    return this.#nested(query, columns, {
      appends: inner || (first && left.appends),
      timed: inner && left.timed && right.timed,
    });
  }

  /** Two windowed aggregates of the same windows. */
  #windowJoin(depth: number): Relation {
    const call = this.#windowCall();
    if (call.startsWith('session')) return this.#joined(depth);
    const table = (): Relation => this.#windowed(this.#table(), call);
    const [left, right] = [table(), table()];
    const [l, r] = [this.#name('l'), this.#name('r')];
    const on = this.#on(left, l, right, r);
    const kind = this.#prng.pick(['JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN']);
    const { items, columns } = this.#both([
      [left, l],
      [right, r],
    ]);
    const [own, other] = [windowOf(left), windowOf(right)];
    const equal = sql`${l}.${own} = ${r}.${other}`;
    const keys = on === null ? equal : sql`${equal} AND ${on}`;
    const name = this.#name('w');
    const kept = kind === 'JOIN' || kind === 'LEFT JOIN';
    return this.#nested(
      sql`SELECT ${join([...(kept ? [sql`${l}.${own} AS ${name}`] : []), ...items], ', ')} FROM ${left.from} AS ${l} ${kind} ${right.from} AS ${r} ON ${keys}`,
      kept ? [{ name, type: 'window' }, ...columns] : columns,
      { appends: true, timed: kept, window: kept ? pair(call, null) : null },
    );
  }

  /** Rows of windows that have the best value of their window; or nearly so. */
  #best(): Relation {
    const call = this.#windowCall();
    const grouped = this.#prng.chance(0.4);
    const table = this.#table();
    const read = grouped ? table : this.#windowed(table, call);
    const value = this.#prng.pick(read.columns.filter((column) => column.type !== 'window'));
    const rows = grouped ? this.#valued(table, call, value) : read;
    const q = this.#name('q');
    const some = this.#prng.chance(0.1);
    let { from } = rows;
    if (!grouped && this.#prng.chance(0.5)) {
      const name = this.#name('t');
      this.#commons.push(sql`${name} AS ${from}`);
      from = sql`${name}`;
    }
    const { query, columns, stays } = drawBest({
      prng: this.#prng,
      name: (prefix) => this.#name(prefix),
      rows: from,
      of: grouped ? table.from : from,
      q,
      window: windowOf(rows),
      columns: rows.columns.filter((column) => column.type !== 'window'),
      ofWindow: grouped ? this.#windowSql(call, table, q) : sql`${q}.${windowOf(rows)}`,
      value: value.name,
      compared: grouped ? 'v' : value.name,
      where: some ? sql` WHERE ${this.#draw(read, q).condition(2)}` : sql``,
    });
    if (!stays || call.startsWith('session')) return this.#nested(query, columns);
    return this.#nested(query, columns, { appends: true, timed: true, window: pair(call, null) });
  }

  /** The groups of each value of a column in each window. */
  #valued(table: Relation, call: string, value: TableColumn): Relation {
    const [q, w, count] = [this.#name('q'), this.#name('w'), this.#name('c')];
    return this.#nested(
      sql`SELECT ${this.#windowSql(call, table, q)} AS ${w}, ${q}.${value.name} AS v, count(*) AS ${count} FROM ${table.from} AS ${q} GROUP BY ${w}, v`,
      [
        { name: w, type: 'window' },
        { name: 'v', type: value.type },
        { name: count, type: 'bigint' },
      ],
    );
  }

  #intervalJoin(): Relation {
    const [left, right] = [this.#table(), this.#table()];
    const [l, r] = [this.#name('l'), this.#name('r')];
    const on = this.#on(left, l, right, r) ?? sql`${l}.k = ${r}.k`;
    const seconds = (): string => `interval '${this.#prng.below(8)} seconds'`;
    const { items, columns } = this.#both([
      [left, l],
      [right, r],
    ]);
    if (this.#prng.chance(0.25)) {
      const kind = this.#prng.pick(['ASOF JOIN', 'ASOF LEFT JOIN']);
      const mine = sql`SELECT ${join([sql`${l}.ts AS ts`, sql`${l}.id AS c0`, onlyOurs(sql`${r}.ts AS c00`)], ', ')} FROM ${left.from} AS ${l} ${kind} ${right.from} AS ${r} ON ${l}.k = ${r}.k AND ${l}.ts ${this.#prng.pick(['>=', '>'])} ${r}.ts`;
      return this.#nested(
        mine,
        [
          { name: 'ts', type: 'timestamp' },
          { name: 'c0', type: 'int' },
          { name: 'c00', type: 'timestamp' },
        ],
        { appends: true, timed: true, time: 'ts' },
      );
    }
    const kind = this.#prng.pick(['JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN']);
    return this.#nested(
      sql`SELECT ${join(items, ', ')} FROM ${left.from} AS ${l} ${kind} ${right.from} AS ${r} ON ${on} AND ${r}.ts BETWEEN ${l}.ts - ${seconds()} AND ${l}.ts + ${seconds()}`,
      columns,
      { appends: true, timed: kind === 'JOIN' },
    );
  }

  /** IN, EXISTS and a value of another query in WHERE. */
  #filtered(depth: number): Relation {
    const relation = this.#relation(depth - 1);
    const other = this.#right(this.#prng.below(depth));
    const [q, i] = [this.#name('q'), this.#name('i')];
    const draw = this.#draw(relation, q);
    const inner = this.#draw(other, i);
    const { items, columns } = this.#items(relation, q, draw);
    const on = this.#on(other, i, relation, q);
    const not = this.#prng.pick(['', 'NOT ']);
    const type = this.#prng.pick(['int', 'text', 'bigint', 'huge'] as const);
    const where = this.#prng.chance(0.5) ? sql` WHERE ${inner.condition(2)}` : sql``;
    const outer = this.#keyed(relation, q, type);
    const conditions: Sql[] = [
      sql`(SELECT count(*) FROM ${other.from} AS ${i}${where}) > ${this.#prng.below(12)}`,
    ];
    if (outer !== null)
      conditions.push(
        sql`${outer} ${not}IN (SELECT ${inner.of(type, 1)} FROM ${other.from} AS ${i}${where})`,
      );
    if (on !== null)
      conditions.push(sql`${not}EXISTS (SELECT 1 FROM ${other.from} AS ${i} WHERE ${on})`);
    const more = this.#prng.chance(0.3) ? sql` AND ${draw.condition(2)}` : sql``;
    return this.#nested(
      sql`SELECT ${join(items, ', ')} FROM ${relation.from} AS ${q} WHERE ${this.#prng.pick(conditions)}${more}`,
      columns,
    );
  }

  /** A value of another query beside the columns. */
  #withValue(depth: number): Relation {
    const relation = this.#relation(depth - 1);
    const other = this.#right(this.#prng.below(depth));
    const [q, i] = [this.#name('q'), this.#name('i')];
    const { items, columns } = this.#items(relation, q, this.#draw(relation, q));
    const key = this.#keyed(relation, q, 'int');
    const inner = this.#keyed(other, i, 'int');
    const name = this.#name('c');
    const { call, type } = drawAggregate(this.#prng, this.#draw(other, i));
    const where = key === null || inner === null ? sql`` : sql` WHERE ${inner} = ${key}`;
    const value = sql`(SELECT ${call} FROM ${other.from} AS ${i}${where}) AS ${name}`;
    return this.#nested(
      sql`SELECT ${join([...items, value], ', ')} FROM ${relation.from} AS ${q}`,
      [...columns, { name, type }],
    );
  }

  #over(relation: Relation): Relation {
    const q = this.#name('q');
    const { items, columns } = this.#items(relation, q, this.#draw(relation, q));
    const name = this.#name('c');
    const keys = orderedColumns(relation, q);
    const byTime = relation.appends && relation.time !== null && this.#prng.chance(0.5);
    const partition = this.#prng.chance(0.7) ? this.#keyed(relation, q, 'int') : null;
    const closed = relation.window !== null && this.#prng.chance(0.6);
    const by = [
      ...(closed ? [`${q}.${windowOf(relation)}`] : []),
      ...(partition === null ? [] : [partition]),
    ];
    const { call, type } = drawOver({
      prng: this.#prng,
      draw: this.#draw(relation, q),
      partitionBy: by,
      time: byTime ? `${q}.${relation.time}` : null,
      allColumns: keys,
    });
    const final = byTime || closed;
    return this.#nested(
      sql`SELECT ${join([...items, sql`${call} AS ${name}`], ', ')} FROM ${relation.from} AS ${q}`,
      [...columns, { name, type }],
      // Whether the rows leave once depends on the call; nothing above relies on it.
      final ? { window: null } : {},
    );
  }

  #topN(relation: Relation): Relation {
    const q = this.#name('q');
    const { items, columns } = this.#items(relation, q, this.#draw(relation, q));
    const keys = orderedColumns(relation, q);
    const partition = this.#prng.chance(0.7)
      ? this.#keyed(relation, q, this.#prng.pick(['int', 'text']))
      : null;
    const by = partition === null ? '' : `PARTITION BY ${partition} `;
    const direction = this.#prng.pick([
      'ASC NULLS LAST',
      'DESC NULLS LAST',
      'ASC NULLS FIRST',
      'DESC NULLS FIRST',
    ]);
    const first = this.#prng.pick(keys);
    const fn = this.#prng.pick(['row_number', 'row_number', 'rank']);
    const rest = fn === 'rank' ? [] : keys.map((key) => sql`${key} NULLS LAST`);
    const order = join([sql`${first} ${direction}`, ...rest], ', ');
    const call = sql`${fn}() OVER (${by}ORDER BY ${order})`;
    const n = 1 + this.#prng.below(4);
    if (this.#prng.chance(0.3))
      return this.#nested(
        sql`SELECT ${join(items, ', ')} FROM ${relation.from} AS ${q} QUALIFY ${call} <= ${n}`,
        columns,
      );
    const [name, outer] = [this.#name('c'), this.#name('q')];
    const shown = [
      ...columns.map((column) => column.name),
      ...(this.#prng.chance(0.5) ? [name] : []),
    ];
    const query = sql`SELECT ${join([...items, sql`${call} AS ${name}`], ', ')} FROM ${relation.from} AS ${q}`;
    return this.#nested(
      sql`SELECT ${shown.join(', ')} FROM (${query}) AS ${outer} WHERE ${name} <= ${n}`,
      shown.length > columns.length ? [...columns, { name, type: 'bigint' }] : columns,
    );
  }

  #limited(relation: Relation): Relation {
    const q = this.#name('q');
    const { items, columns } = this.#items(relation, q, this.#draw(relation, q));
    const keys = orderedColumns(relation, q).map(
      (key) =>
        sql`${key} ${this.#prng.pick(['NULLS LAST', 'DESC NULLS LAST', 'DESC NULLS FIRST'])}`,
    );
    const offset = this.#prng.chance(0.3) ? ` OFFSET ${this.#prng.below(4)}` : '';
    return this.#nested(
      sql`SELECT ${join(items, ', ')} FROM ${relation.from} AS ${q} ORDER BY ${join(keys, ', ')} LIMIT ${1 + this.#prng.below(6)}${offset}`,
      columns,
    );
  }

  #distinct(relation: Relation): Relation {
    const q = this.#name('q');
    const plain = relation.columns.filter((column) => column.type !== 'window');
    if (plain.length === 0) return relation;
    if (this.#prng.chance(0.4)) {
      const key = this.#prng.pick(plain);
      const order = orderedColumns(relation, q).map((each) => sql`${each} NULLS LAST`);
      const items = plain.map(({ name }) => sql`${q}.${name} AS ${name}`);
      return this.#nested(
        sql`SELECT DISTINCT ON (${q}.${key.name}) ${join(items, ', ')} FROM ${relation.from} AS ${q} ORDER BY ${join([sql`${q}.${key.name} NULLS LAST`, ...order], ', ')}`,
        plain,
      );
    }
    const some = plain.filter(() => this.#prng.chance(0.5));
    const columns = some.length === 0 ? plain.slice(0, 1) : some;
    const items = columns.map(({ name }) => sql`${q}.${name} AS ${name}`);
    return this.#nested(
      sql`SELECT DISTINCT ${join(items, ', ')} FROM ${relation.from} AS ${q}`,
      columns,
    );
  }

  /** Both sides as queries of the same types. */
  #matching(depth: number): {
    queries: readonly [Sql, Sql];
    columns: TableColumn[];
    sides: readonly [Relation, Relation];
  } {
    const sides = [this.#relation(depth - 1), this.#relation(this.#prng.below(depth))] as const;
    const types = Array.from({ length: 1 + this.#prng.below(3) }, () =>
      this.#prng.pick(['int', 'text', 'bigint', 'huge', 'boolean', 'date', 'instant'] as const),
    );
    const columns = types.map((type) => ({ name: this.#name('c'), type }));
    const queryOf = (relation: Relation): Sql => {
      const q = this.#name('q');
      const draw = this.#draw(relation, q);
      const items = columns.map(
        ({ name, type }) => sql`${draw.of(type, this.#prng.below(2))} AS ${name}`,
      );
      return sql`SELECT ${join(items, ', ')} FROM ${relation.from} AS ${q}`;
    };
    return { queries: [queryOf(sides[0]), queryOf(sides[1])], columns, sides };
  }

  #setOperation(depth: number): Relation {
    const { queries, columns } = this.#matching(depth);
    const operator = this.#prng.pick([
      'UNION',
      'EXCEPT',
      'INTERSECT',
      'EXCEPT ALL',
      'INTERSECT ALL',
    ]);
    return this.#nested(sql`${queries[0]} ${operator} ${queries[1]}`, columns);
  }

  #union(depth: number): Relation {
    const { queries, columns, sides } = this.#matching(depth);
    const [left, right] = sides;
    return this.#nested(sql`${queries[0]} UNION ALL ${queries[1]}`, columns, {
      appends: left.appends && right.appends,
      timed: left.timed && right.timed && left.appends && right.appends,
    });
  }

  /** The relation under a name of WITH, read once or twice. */
  #common(relation: Relation): Relation {
    const name = this.#name('t');
    this.#commons.push(sql`${name} AS (SELECT * FROM ${relation.from} AS ${this.#name('q')})`);
    return this.#project({ ...relation, from: sql`${name}` });
  }
}

const tellableOf = (keys: readonly DrawnColumn[]): Sql[] => {
  const texts = keys.map((key) => key.sql.ours);
  return keys.flatMap((key) =>
    /\bq\d+\./.test(key.sql.ours) && texts.indexOf(key.sql.ours) === texts.lastIndexOf(key.sql.ours)
      ? [key.sql]
      : [],
  );
};

const timedRelation = ({ name, columns, kind }: Table): Relation => ({
  from: sql`${name}`,
  columns,
  appends: !isChanges({ kind }),
  timed: true,
  time: 'ts',
  window: null,
});

/** What a projection leaves as it is. */
const relationRest = ({ appends, timed, time, window }: Relation): Partial<Relation> => ({
  appends,
  timed,
  time,
  window,
});

/** Columns that an expression may read; of a window, its start. */
export const drawn = ({ columns }: Relation, q: string): DrawnColumn[] =>
  columns.map(({ name, type }) =>
    type === 'window'
      ? { sql: pair(`${q}.${name}.start`, `${q}.${name}`), type: 'timestamp' }
      : { sql: sql`${q}.${name}`, type },
  );

/** The column that holds the window. */
const windowOf = ({ columns }: Relation): string =>
  columns.find((column) => column.type === 'window')?.name ?? '';

/** All that tells rows apart; windows that begin together, as those of `cumulate`, by their ends. */
const orderedColumns = (relation: Relation, q: string): Sql[] => [
  ...drawn(relation, q).map((column) => column.sql),
  ...relation.columns.flatMap(({ name, type }) =>
    type === 'window' ? [pair(`${q}.${name}.end`, `${q}.${name}`)] : [],
  ),
];
