/** A whole program over given tables: the rows of its last query. */
import { parseProgram } from '../../src/sql/parser.ts';
import { Evaluator, type EvaluatorOptions } from './query.ts';
import type { Relation } from './scope.ts';
import { canonical } from './value.ts';

export type Answer = {
  /** One text a row, sorted: equal rows have equal texts. */
  readonly rows: string[];
  readonly failed: number;
};

/** @param tables  the rows of each table that the program declares */
export function answerOf(
  sql: string,
  tables: ReadonlyMap<string, Relation>,
  options: EvaluatorOptions = { emptyGroup: 'nothing' },
): Answer {
  const { program, errors } = parseProgram(sql);
  if (errors.length > 0) throw new Error(JSON.stringify(errors));
  const evaluator = new Evaluator(tables, options);
  let rows: string[] | null = null;
  for (const statement of program.statements) {
    if (statement.tag === 'create_view')
      evaluator.define(
        statement.name.name,
        evaluator.query(statement.query),
        statement.columns.map((column) => column.name),
      );
    else if (statement.tag === 'query_statement' || statement.tag === 'insert') {
      const found = evaluator.query(statement.query);
      rows = found.rows.map((row) => row.values.map(canonical).join('|'));
    }
  }
  if (rows === null) throw new Error('the program has no query');
  return { rows: rows.sort(), failed: evaluator.failed };
}
