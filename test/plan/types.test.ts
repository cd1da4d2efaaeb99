/** Types in DDL: what a type is called is how it is written. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sameType, typeName, type SqlType } from '../../src/batch/types.ts';
import { bindType } from '../../src/plan/bind-type.ts';
import { Diagnostics } from '../../src/plan/diagnostics.ts';
import { parseProgram } from '../../src/sql/parser.ts';
import { printStatement } from '../../src/sql/printer.ts';
import { anyType } from '../batch/arbitrary.ts';

/** The type that a text means, and the text that the parser prints for it. */
function read(text: string): { type: SqlType | null; errors: string[]; printed: string } {
  const { program } = parseProgram(`CREATE TABLE t (c ${text}) WITH (connector = 'x');`);
  const [statement] = program.statements;
  if (statement?.tag !== 'create_table') throw new Error(`no table: ${text}`);
  const diagnostics = new Diagnostics();
  const written = statement.columns?.[0]?.type;
  if (written === undefined) throw new Error(`no column: ${text}`);
  const type = bindType(written, diagnostics);
  const errors = [...diagnostics.errors, ...diagnostics.warnings].map(({ message }) => message);
  return { type, errors, printed: printStatement(statement) };
}

test('the name of a type reads back as that type', () => {
  fc.assert(
    fc.property(anyType, (type) => {
      const { type: back, errors, printed } = read(typeName(type));
      expect(errors).toEqual([]);
      expect(back !== null && sameType(back, type), typeName(type)).toBe(true);
      const again = /\(c (.*)\) WITH/s.exec(printed)?.[1] ?? '';
      const twice = read(again).type;
      expect(twice !== null && sameType(twice, type), again).toBe(true);
    }),
    { numRuns: 200, seed: 3 },
  );
});

test("Arroyo's and Postgres' spellings", () => {
  const named: [string, string][] = [
    ['bigint unsigned', 'BIGINT UNSIGNED'],
    ['INT UNSIGNED', 'INT UNSIGNED'],
    ['int2', 'SMALLINT'],
    ['INT8', 'BIGINT'],
    ['real', 'FLOAT'],
    ['FLOAT(53)', 'DOUBLE'],
    ['float4', 'FLOAT'],
    ['DOUBLE PRECISION', 'DOUBLE'],
    ['NUMERIC', 'DECIMAL(38, 10)'],
    ['dec(9)', 'DECIMAL(9, 0)'],
    ['STRING', 'TEXT'],
    ['DATETIME', 'TIMESTAMP'],
    ['TIMESTAMP(6)', 'TIMESTAMP'],
    ['TIMESTAMP(9)', 'TIMESTAMP(9)'],
    ['TIMESTAMP(3) WITH TIME ZONE', 'TIMESTAMPTZ(3)'],
    ['timestamp without time zone', 'TIMESTAMP'],
    ['JSONB', 'JSON'],
    ['ARRAY<ARRAY<INT>>', 'INT[][]'],
    ['STRUCT<a INT, "B b" STRUCT<c TEXT[]> NOT NULL>', 'STRUCT<a INT, "B b" STRUCT<c TEXT[]>>'],
  ];
  for (const [written, name] of named) {
    const { type, errors } = read(written);
    expect(errors, written).toEqual([]);
    expect(type === null ? null : typeName(type), written).toBe(name);
  }
});

test('what is no type says so', () => {
  const wrong: [string, RegExp][] = [
    ['TIMESTAMP(4)', /TIMESTAMP\(4\) is not a type/],
    ['TIMESTAMPTZ(9)', /TIMESTAMPTZ\(9\) is not a type/],
    ['TIME(3)', /takes no length/],
    ['BIGINT(20)', /takes no length/],
    ['VARCHAR(10)', /is not enforced/],
    ['MAP<TEXT, INT>', /MAP types can not be declared/],
    ['STRUCT<a INT, a TEXT>', /declared twice/],
    ['uint64', /unknown type/],
  ];
  for (const [written, message] of wrong) expect(read(written).errors.join('\n')).toMatch(message);
});
