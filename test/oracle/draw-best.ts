/** Random joins of windowed rows with the greatest or the least of their windows, and ones that only look so. */
import type { Prng } from '../../src/base/prng.ts';
import { join, sql, type Sql } from './dialects.ts';
import type { TableColumn } from './tables.ts';

export type BestDrawing = {
  readonly prng: Prng;
  readonly name: (prefix: string) => string;
  /** What stands in FROM for the rows, and for those that the best is of. */
  readonly rows: Sql;
  readonly of: Sql;
  /** Of the rows: the window, and the columns beside it. */
  readonly window: string;
  readonly columns: readonly TableColumn[];
  /** Of those that the best is of: the window, as GROUP BY says it, and the value. */
  readonly ofWindow: Sql;
  readonly value: string;
  /** The column of the rows that is compared. */
  readonly compared: string;
  /** The name of those that the best is of. */
  readonly q: string;
  /** Where not all of them count. */
  readonly where: Sql;
};

export type DrawnBest = {
  readonly query: Sql;
  readonly columns: TableColumn[];
  /** It is a join of windows, whose rows have an event time and stay. */
  readonly stays: boolean;
};

export function drawBest(drawing: BestDrawing): DrawnBest {
  const { prng, name, rows, of, q, window, compared } = drawing;
  const [l, m] = [name('l'), name('m')];
  const [top, w, mw] = [name('c'), name('w'), name('w')];
  const fn = prng.pick(['max', 'max', 'min']);
  const filter = prng.chance(0.05) ? sql` FILTER (WHERE ${q}.${drawing.value} IS NOT NULL)` : sql``;
  const more = prng.chance(0.1) ? sql`, count(*) AS ${name('c')}` : sql``;
  const best = sql`(SELECT ${fn}(${q}.${drawing.value})${filter} AS ${top}, ${drawing.ofWindow} AS ${mw}${more} FROM ${of} AS ${q}${drawing.where} GROUP BY ${mw})`;
  const columns: TableColumn[] = [];
  const items: Sql[] = [];
  for (const column of drawing.columns) {
    const shown = name('c');
    items.push(sql`${l}.${column.name} AS ${shown}`);
    columns.push({ name: shown, type: column.type });
  }
  if (prng.chance(0.4)) {
    const shown = name('c');
    const type = drawing.columns.find((column) => column.name === compared)?.type ?? 'bigint';
    items.push(sql`${m}.${top} AS ${shown}`);
    columns.push({ name: shown, type });
  }
  const kind = prng.pick(['JOIN', 'JOIN', 'JOIN', 'JOIN', 'JOIN', 'LEFT JOIN', 'SEMI JOIN']);
  const one = kind === 'SEMI JOIN';
  const operator = prng.chance(0.1) ? 'IS NOT DISTINCT FROM' : '=';
  const equal = sql`${l}.${compared} ${operator} ${m}.${top}`;
  const meets = sql`${l}.${window} = ${m}.${mw}`;
  const on = prng.chance(0.5) ? sql`${equal} AND ${meets}` : sql`${meets} AND ${equal}`;
  const swapped = kind === 'JOIN' && prng.chance(0.4);
  const [first, second] = swapped
    ? [sql`${best} AS ${m}`, sql`${rows} AS ${l}`]
    : [sql`${rows} AS ${l}`, sql`${best} AS ${m}`];
  const side = !one && kind === 'JOIN' && prng.chance(0.3) ? sql`${m}.${mw}` : sql`${l}.${window}`;
  const shown = one ? items.slice(0, drawing.columns.length) : items;
  return {
    query: sql`SELECT ${join([sql`${side} AS ${w}`, ...shown], ', ')} FROM ${first} ${kind} ${second} ON ${on}`,
    columns: [{ name: w, type: 'window' }, ...columns.slice(0, shown.length)],
    stays: !one,
  };
}
