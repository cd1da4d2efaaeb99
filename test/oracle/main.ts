/**
 * `npm run oracle -- --seed N --runs M`: random queries over random tables, one a seed, by the engine, by the plain
 * evaluator and by DuckDB, and where their answers differ.
 *
 * With `--lives` each runs in a simulated cluster as well, where it is killed and restored with another parallelism.
 * Seeds are N, N + 1, …; a difference prints the query and the fewest rows that show it.
 */
import { parseArgs } from 'node:util';
import { check, checkLife, drawCase, type Outcome, programOf, shrunk, type Case } from './check.ts';
import { checkDuck, openDuck } from './duck.ts';
import { duckValue, fileText, isChanges } from './tables.ts';

const USAGE =
  'npm run oracle -- [--seed N] [--runs M] [--rows R] [--depth D] [--no-duck] [--lives] [--keep-going] [--verbose]';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '1000' },
    rows: { type: 'string', default: '14' },
    depth: { type: 'string', default: '3' },
    'no-duck': { type: 'boolean', default: false },
    lives: { type: 'boolean', default: false },
    'keep-going': { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const counts = new Map<string, number>();
const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);

function show(drawn: Case, message: string): void {
  say(`\nseed ${drawn.seed}: ${message}`);
  say(programOf(drawn));
  for (const table of drawn.tables) {
    const { name, columns, rows } = table;
    if (isChanges(table)) say(`${name}:\n${fileText(table).trimEnd()}`);
    else
      say(
        `${name} (${columns.map((column) => column.name).join(', ')}): ${rows.map((row) => `(${row.map(duckValue).join(', ')})`).join(' ')}`,
      );
  }
  say(
    `batches of ${drawn.batchRows}, turns ${drawn.turns.join(' ')}, pauses ${drawn.pauses.join(' ')}`,
  );
}

function told(outcome: Outcome): string {
  if (outcome.tag === 'refused') return `refused: ${outcome.code} ${outcome.message}`;
  return outcome.tag === 'unknown' ? `unknown to the evaluator: ${outcome.message}` : outcome.tag;
}

async function main(): Promise<number> {
  const [first, runs] = [Number(values.seed), Number(values.runs)];
  if (values.help || !Number.isSafeInteger(first) || !Number.isSafeInteger(runs)) {
    say(USAGE);
    return values.help ? 0 : 1;
  }
  const size = { rows: Number(values.rows), depth: Number(values.depth) };
  const duck = values['no-duck'] ? null : await openDuck();
  const startedMs = performance.now();
  let [failures, done, byDuck, rows, lives] = [0, 0, 0, 0, 0];
  for (let seed = first; seed < first + runs; seed++) {
    const drawn = drawCase(String(seed), size);
    done++;
    const outcome = check(drawn);
    count(told(outcome));
    if (outcome.tag === 'same') rows += outcome.rows;
    if (values.verbose) say(`${seed}: ${told(outcome)}: ${drawn.query.ours}`);
    if (outcome.tag === 'differs') {
      failures++;
      const smaller = shrunk(drawn, (each) => check(each).tag === 'differs');
      const again = check(smaller);
      show(smaller, again.tag === 'differs' ? again.message : outcome.message);
    }
    const life = values.lives ? checkLife(drawn) : null;
    if (life?.tag === 'same') lives++;
    if (life?.tag === 'differs') {
      failures++;
      const smaller = shrunk(drawn, (each) => checkLife(each)?.tag === 'differs');
      const again = checkLife(smaller);
      show(smaller, again?.tag === 'differs' ? again.message : life.message);
    }
    const second = duck === null ? null : await checkDuck(drawn, duck);
    if (second?.tag === 'same') byDuck++;
    else if (second !== null) count(`DuckDB: ${told(second)}`);
    if (second?.tag === 'differs') {
      failures++;
      show(drawn, second.message);
      say(`${drawn.query.duck}`);
    }
    if (failures > 0 && !values['keep-going']) break;
  }
  const minutes = (performance.now() - startedMs) / 60_000;
  for (const [what, times] of [...counts].sort((a, b) => b[1] - a[1])) say(`${times} × ${what}`);
  say(
    `${done} queries in ${minutes.toFixed(2)} min, ${Math.round(done / minutes)} a minute; ${rows} rows; ${byDuck} also by DuckDB, ${lives} also killed and restored; ${failures} differ`,
  );
  return failures === 0 ? 0 : 1;
}

process.exitCode = await main();
