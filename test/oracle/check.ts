/**
 * One seed: random tables, a random query, and what the engine, the plain evaluator and DuckDB make of it.
 *
 * What is normalised before DuckDB is compared: whole-number division is its `//`; an aggregate without groups over no
 * rows is one row there and, in the evaluator too for this comparison, here none; DOUBLEs are compared to eleven
 * digits and numbers whatever their type; windows are `time_bucket`s, known by their start. What it cannot say or
 * means otherwise is left out of the comparison (`onlyOurs`).
 */
import { Prng } from '../../src/base/prng.ts';
import { type Pause, runRows, type RunResult } from '../operators/run-graph.ts';
import { engineLines } from './canonical.ts';
import { QueryDraw } from './draw-query.ts';
import type { Sql } from './dialects.ts';
import { answerOf } from './program.ts';
import type { Relation } from './scope.ts';
import { committedLines, linesOf, SINK } from './distributed.ts';
import {
  declarationOf,
  drawTables,
  engineInput,
  fileText,
  relationOf,
  type Table,
} from './tables.ts';

export type Case = {
  readonly seed: string;
  readonly tables: readonly Table[];
  /** What stands before the query. */
  readonly settings: string;
  readonly query: Sql;
  readonly batchRows: number;
  readonly turns: readonly number[];
  /** When results that change leave before the end. */
  readonly pauses: readonly Pause[];
};

export type Size = { readonly rows: number; readonly depth: number };

export function drawCase(seed: string, size: Size): Case {
  const prng = new Prng(`oracle/${seed}`);
  const tables = drawTables(prng, size.rows);
  const depth = 1 + prng.below(size.depth);
  const query = new QueryDraw(prng, tables, depth === 1 && prng.chance(0.3)).query(depth);
  const timed = depth === 1 && !/(FROM|JOIN) [lru] /.test(query.ours);
  return {
    seed,
    tables,
    query,
    // Rows lie minutes apart: nothing is forgotten, but everything is kept so that it could be. That holds for rows with
    // an event time; of others it depends on when they come.
    settings: timed && prng.chance(0.3) ? "SET updating_ttl = interval '1 day';\n" : '',
    batchRows: prng.pick([1, 2, 7, 8192]),
    turns: Array.from({ length: prng.below(6) }, () => prng.below(6)),
    pauses: Array.from({ length: prng.below(6) }, () =>
      prng.pick(['none', 'tick', 'barrier'] as const),
    ),
  };
}

/** The same query over fewer rows: every table keeps those at the given places. */
export const withRows = (drawn: Case, keep: (table: Table, at: number) => boolean): Case => ({
  ...drawn,
  tables: drawn.tables.map((table) => ({
    ...table,
    rows: table.rows.filter((_, at) => keep(table, at)),
    deeds: table.deeds.filter((_, at) => keep(table, at)),
  })),
});

export const programOf = ({ tables, settings, query }: Case): string =>
  `${tables.map(declarationOf).join('\n')}\n${settings}${query.ours};`;

export type Outcome =
  | { readonly tag: 'same'; readonly rows: number }
  /** The planner says that it cannot. */
  | { readonly tag: 'refused'; readonly code: string; readonly message: string }
  /** The evaluator does not know something. */
  | { readonly tag: 'unknown'; readonly message: string }
  | { readonly tag: 'differs'; readonly message: string };

/** Engine against evaluator. */
export function check(drawn: Case): Outcome {
  let result: RunResult;
  const program = programOf(drawn);
  try {
    const inputs = Object.fromEntries(
      drawn.tables.map((table) => [table.name, engineInput(table)]),
    );
    result = runRows(program, inputs, drawn.batchRows, drawn.turns, drawn.pauses);
  } catch (error) {
    return refusal(error as Error);
  }
  let wanted;
  try {
    wanted = answerOf(program, relations(drawn));
  } catch (error) {
    return { tag: 'unknown', message: String((error as Error).stack).slice(0, 400) };
  }
  if (result.late.length > 0)
    return { tag: 'differs', message: `${result.late.length} rows are late` };
  const rows = engineLines(result.rows, result.schema);
  const difference = differenceOf(rows, wanted.rows);
  if (difference !== null) return { tag: 'differs', message: difference };
  if (result.failed.length !== wanted.failed)
    return {
      tag: 'differs',
      message: `${result.failed.length} rows failed instead of ${wanted.failed}: ${JSON.stringify(result.failed[0] ?? null)}`,
    };
  return { tag: 'same', rows: rows.length };
}

/**
 * The engine against itself: in one piece, and in a simulated cluster that is killed and restored with another
 * parallelism. Null where the engine refuses the query.
 */
export function checkLife(drawn: Case): Outcome | null {
  const sources = `${drawn.tables.map(declarationOf).join('\n')}\n${drawn.settings}`;
  const inputs = Object.fromEntries(drawn.tables.map((table) => [table.name, engineInput(table)]));
  let whole: RunResult;
  try {
    whole = runRows(`${sources}\n${drawn.query.ours};`, inputs, drawn.batchRows, drawn.turns);
  } catch (error) {
    return refusal(error as Error).tag === 'refused' ? null : refusal(error as Error);
  }
  const files = Object.fromEntries(
    drawn.tables.map((table) => [`${table.name}.json`, fileText(table)]),
  );
  const prng = new Prng(`oracle/${drawn.seed}/life`);
  const life = {
    seed: drawn.seed,
    parallelism: 1 + prng.below(3),
    then: 1 + prng.below(3),
    batchRows: prng.pick([1, 3, 64]),
  };
  try {
    const program = `${sources}\n${SINK}\nINSERT INTO out ${drawn.query.ours};`;
    const difference = differenceOf(
      committedLines(program, files, life),
      linesOf(whole.rows, whole.schema),
    );
    if (difference === null) return { tag: 'same', rows: whole.rows.length };
    return { tag: 'differs', message: `${JSON.stringify(life)}: ${difference}` };
  } catch (error) {
    return {
      tag: 'differs',
      message: `${JSON.stringify(life)}: ${String((error as Error).stack)}`,
    };
  }
}

export const relations = ({ tables }: Case): ReadonlyMap<string, Relation> =>
  new Map(tables.map((table) => [table.name, relationOf(table)]));

/** A report of the planner is a refusal; anything else is a fault. */
function refusal(error: Error): Outcome {
  try {
    const [report] = JSON.parse(error.message) as { code: string; message: string }[];
    if (report !== undefined) return { tag: 'refused', code: report.code, message: report.message };
  } catch {
    // Not a report.
  }
  return { tag: 'differs', message: `the engine threw: ${error.stack ?? error.message}` };
}

/** Null: equal as multisets. */
export function differenceOf(found: readonly string[], wanted: readonly string[]): string | null {
  const counts = new Map<string, number>();
  for (const line of wanted) counts.set(line, (counts.get(line) ?? 0) + 1);
  for (const line of found) counts.set(line, (counts.get(line) ?? 0) - 1);
  const off = [...counts].filter(([, count]) => count !== 0);
  if (off.length === 0) return null;
  const shown = off
    .slice(0, 6)
    .map(([line, count]) => `${count > 0 ? 'missing' : 'too many'} ${Math.abs(count)}: ${line}`);
  return `${found.length} rows instead of ${wanted.length}\n${shown.join('\n')}`;
}

/** Fewer and fewer rows while the outcome stays as it is. */
export function shrunk(drawn: Case, still: (smaller: Case) => boolean): Case {
  let best = drawn;
  for (let progress = true; progress;) {
    progress = false;
    for (const table of best.tables)
      for (let at = table.rows.length - 1; at >= 0; at--) {
        const smaller = withRows(best, (each, place) => each.name !== table.name || place !== at);
        if (!still(smaller)) continue;
        best = smaller;
        progress = true;
        break;
      }
  }
  return best;
}
