/**
 * What Arroyo's users write, feature by feature, and what comes of it here. A file holds programs; what each plans to, the rows it
 * gives for those behind `--<`, or what is said about it, stands beside it. `REWRITE=1 npx vitest run test/golden` writes it anew.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ErrorReport } from '../../src/base/errors.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { SmallPipeline } from '../operators/small-pipeline.ts';
import { expectGolden, goldenCases, readGolden } from '../plan/golden.ts';

const said = ({ code, message, span, hint, suggestion }: ErrorReport): string =>
  [
    `${span?.start.line}:${span?.start.column} ${code} ${message}`,
    ...(hint === undefined ? [] : [`  hint: ${hint}`]),
    ...(suggestion === undefined ? [] : [`  suggestion: ${suggestion}`]),
  ].join('\n');

/** Rows behind the program: table and JSON. */
const inputsOf = (program: string): [string, string][] =>
  [...program.matchAll(/^--< (\w+) (.*)$/gm)].map(([, table, line]) => [
    table as string,
    line as string,
  ]);

function resultOf(program: string): string {
  const { errors, warnings, graph } = planSql(program, DECLARATIONS, { defaultSink: 'preview' });
  if (graph === null) return `${errors.map(said).join('\n')}\n`;
  const runs = graph.operators.every(
    ({ spec }) =>
      spec.tag !== 'source' ||
      ['http', 'values', 'impulse', 'nexmark'].includes(spec.connector.connector),
  );
  const pipeline = new SmallPipeline(program);
  const lines = [
    ...warnings.map((warning) => `warning ${said(warning)}`),
    ...graph.operators.flatMap(({ spec, updating }) =>
      spec.tag === 'sink' ? [`sink ${spec.table}${updating ? ', updated' : ''}`] : [],
    ),
    `columns: ${pipeline.types().join(', ')}`,
  ];
  if (!runs) return `${lines.join('\n')}\n`;
  const inputs = inputsOf(program);
  for (const [table, line] of inputs) pipeline.append(table, [line]);
  if (inputs.length > 0 || program.includes('impulse') || program.includes('nexmark')) {
    pipeline.run();
    pipeline.advanceClock(3_000);
    pipeline.end();
  }
  lines.push(
    ...pipeline.lines().map((row) => `row ${row}`),
    ...pipeline.failed.map(({ code, message }) => `refused ${code} ${message}`),
    ...pipeline.late.map(({ message }) => `late: ${message}`),
  );
  return `${lines.join('\n')}\n`;
}

describe('what Arroyo has', () => {
  const cases = goldenCases('arroyo', '.sql');
  test('there are cases', () => expect(cases.length).toBeGreaterThan(8));
  test.each(cases)('%s', (name) => {
    const programs = readGolden('arroyo', `${name}.sql`).split(/^---\n/m);
    expectGolden('arroyo', `${name}.txt`, programs.map(resultOf).join('---\n'));
  });
  test('the documentation names every file of cases', () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/arroyo.md'), 'utf8');
    for (const name of cases) expect(text).toContain(`test/golden/arroyo/${name}.sql`);
  });
});
