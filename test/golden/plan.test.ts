/**
 * What programs plan to, and what is said about wrong ones. A case is a file of SQL; its expected text stands
 * beside it. `REWRITE=1 npx vitest run test/golden` writes the texts anew, for review with git diff.
 */
import { describe, expect, test } from 'vitest';
import type { ErrorReport } from '../../src/base/errors.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { CONNECTORS } from '../plan/catalog.ts';
import { expectGolden, goldenCases, readGolden } from '../plan/golden.ts';

const place = ({ span }: ErrorReport): string => (span === undefined ? '?' : `${span.start.line}:${span.start.column}-${span.end.line}:${span.end.column}`);

function printReport(report: ErrorReport): string {
  const lines = [`${place(report)} ${report.code} ${report.message}`];
  if (report.detail !== undefined) lines.push(`    detail: ${report.detail}`);
  if (report.hint !== undefined) lines.push(`    hint: ${report.hint}`);
  if (report.suggestion !== undefined) lines.push(`    suggestion: ${report.suggestion}`);
  return lines.join('\n');
}

describe('programs plan to the expected text', () => {
  const cases = goldenCases('plan', '.sql');
  test('there are cases', () => expect(cases.length).toBeGreaterThan(8));
  test.each(cases)('%s', (name) => {
    const result = planSql(readGolden('plan', `${name}.sql`), CONNECTORS, { defaultSink: 'preview', parallelism: 2 });
    expect(result.errors.map(printReport)).toEqual([]);
    const warnings = result.warnings.map((report) => `warning ${printReport(report)}\n`).join('');
    expectGolden('plan', `${name}.txt`, `${warnings}${result.logical}\n${result.physical}`);
  });
});

describe('mistakes are told with place, code and what to write instead', () => {
  const cases = goldenCases('errors', '.sql');
  test('there are cases', () => expect(cases.length).toBeGreaterThan(3));
  test.each(cases)('%s', (name) => {
    const programs = readGolden('errors', `${name}.sql`).split(/^---\n/m);
    const texts = programs.map((program) => {
      const result = planSql(program, CONNECTORS, { defaultSink: 'preview' });
      expect(result.errors.length, program).toBeGreaterThan(0);
      expect(result.graph).toBeNull();
      for (const error of result.errors) expect(error.span, printReport(error)).toBeDefined();
      return result.errors.map(printReport).join('\n');
    });
    expectGolden('errors', `${name}.txt`, `${texts.join('\n---\n')}\n`);
  });
});
