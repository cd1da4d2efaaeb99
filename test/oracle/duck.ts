/** DuckDB as a second opinion about the same rows. */
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { duckLines } from './canonical.ts';
import { type Case, differenceOf, type Outcome, relations } from './check.ts';
import { answerOf } from './program.ts';
import { duckDeclaration, duckValue, heldRows } from './tables.ts';

export async function openDuck(): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  await connection.run('SET order_by_non_integer_literal = true');
  await connection.run("SET TimeZone = 'UTC'");
  return connection;
}

/** Evaluator against DuckDB; null where DuckDB cannot say it. */
export async function checkDuck(
  drawn: Case,
  connection: DuckDBConnection,
): Promise<Outcome | null> {
  const { duck, ours } = drawn.query;
  if (duck === null) return null;
  for (const table of drawn.tables) {
    await connection.run(duckDeclaration(table));
    const rows = heldRows(table).map((row) => `(${row.map(duckValue).join(', ')})`);
    if (rows.length > 0)
      await connection.run(`INSERT INTO ${table.name} VALUES ${rows.join(', ')}`);
  }
  let found: string[];
  try {
    found = duckLines((await connection.runAndReadAll(duck)).getRows());
  } catch (error) {
    return { tag: 'refused', code: 'DUCKDB', message: (error as Error).message };
  }
  let wanted;
  try {
    wanted = answerOf(`${ours};`, relations(drawn), { emptyGroup: 'row' });
  } catch (error) {
    return { tag: 'unknown', message: (error as Error).message };
  }
  if (wanted.failed > 0) return null;
  const difference = differenceOf(wanted.rows, found);
  if (difference === null) return { tag: 'same', rows: found.length };
  return { tag: 'differs', message: `against DuckDB: ${difference}` };
}
