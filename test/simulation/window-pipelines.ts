/** Pipelines of windows that share rows, and of sessions, with answers by a reader that takes one row after the other. */
import { fileTable, onlySink, type Pipeline, sink } from './pipeline.ts';
import { linesOf, ndjson, rowsOf, type Row, timeOf, timeText } from './rows.ts';

const LAG_MS = 3_000;
const SLIDE_MS = 4_000;
const WIDTH_MS = 10_000;
const GAP_MS = 700;

type Group = { k: string; s: string; n: number; top: number };

/** Calls `visit(row, watermarkMs)` with the watermark that stood before the row. */
function forEachRow(rows: readonly Row[], visit: (row: Row, watermarkMs: number) => void): void {
  let watermarkMs = -Infinity;
  for (const row of rows) {
    visit(row, watermarkMs);
    watermarkMs = Math.max(watermarkMs, timeOf(row) - LAG_MS);
  }
}

function hopsOf(rows: readonly Row[]): { groups: Group[]; late: number } {
  const groups = new Map<string, Group>();
  let late = 0;
  forEachRow(rows, (row, watermarkMs) => {
    let open = 0;
    const newest = Math.floor(timeOf(row) / SLIDE_MS) * SLIDE_MS;
    for (let start = newest; start + WIDTH_MS > timeOf(row); start -= SLIDE_MS) {
      if (start + WIDTH_MS <= watermarkMs) continue;
      open++;
      const s = timeText(start).slice(0, 19);
      const group = groups.get(`${row.k}/${s}`) ?? { k: row.k, s, n: 0, top: -Infinity };
      groups.set(`${row.k}/${s}`, group);
      group.n++;
      group.top = Math.max(group.top, row.v);
    }
    if (open === 0) late++;
  });
  return { groups: [...groups.values()], late };
}

type Session = { k: string; from: number; to: number; n: number; total: number };

function sessionsOf(rows: readonly Row[]): { sessions: Session[]; late: number } {
  const done: Session[] = [];
  let open: Session[] = [];
  let late = 0;
  forEachRow(rows, (row, watermarkMs) => {
    done.push(...open.filter(({ to }) => to <= watermarkMs));
    open = open.filter(({ to }) => to > watermarkMs);
    const from = timeOf(row);
    const to = from + GAP_MS;
    const met = open.filter((each) => each.k === row.k && each.from < to && each.to > from);
    if (met.length === 0 && to <= watermarkMs) {
      late++;
      return;
    }
    open = open.filter((each) => !met.includes(each));
    open.push({
      k: row.k,
      from: Math.min(from, ...met.map((each) => each.from)),
      to: Math.max(to, ...met.map((each) => each.to)),
      n: met.reduce((sum, each) => sum + each.n, 1),
      total: met.reduce((sum, each) => sum + each.total, row.v),
    });
  });
  return { sessions: [...done, ...open], late };
}

/** By subtraction (count) and by stacks (max), over panes of two seconds. */
export function hopping(seed: string, rows: number): Pipeline {
  const input = rowsOf(seed, rows);
  const { groups, late } = hopsOf(input);
  return {
    name: 'hopping',
    sql: `${fileTable('t')}${sink('out', ', file_bytes_max = 65536')}
      INSERT INTO out SELECT k, window.start AS s, n, top FROM (
        SELECT k, hop(interval '4 seconds', interval '10 seconds') AS window, count(*) AS n, max(v) AS top
        FROM t GROUP BY k, window);`,
    files: { t: ndjson(input) },
    stateless: false,
    late,
    answer: (cluster) => onlySink(cluster, linesOf(groups)),
  };
}

export function sessions(seed: string, rows: number): Pipeline {
  const input = rowsOf(seed, rows);
  const found = sessionsOf(input);
  const lines = found.sessions.map(({ k, from, n, total }) => ({
    k,
    s: timeText(from).replace(/\.?0*$/, ''),
    n,
    total,
  }));
  return {
    name: 'sessions',
    sql: `${fileTable('t')}${sink('out')}
      INSERT INTO out SELECT k, window.start AS s, n, total FROM (
        SELECT k, session(interval '700 milliseconds') AS window, count(*) AS n, sum(v) AS total FROM t GROUP BY k, window);`,
    files: { t: ndjson(input) },
    stateless: false,
    late: found.late,
    answer: (cluster) => onlySink(cluster, linesOf(lines)),
  };
}
