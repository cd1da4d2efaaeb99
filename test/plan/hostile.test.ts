/** The planner on texts that nearly mean something: every one gets a graph or an error with a place. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planSql } from '../../src/graph/plan-sql.ts';
import { CONNECTORS } from './catalog.ts';
import { goldenCases, readGolden } from './golden.ts';

const programs = ['plan', 'errors'].flatMap((folder) =>
  goldenCases(folder, '.sql').flatMap((name) => readGolden(folder, `${name}.sql`).split(/^---\n/m)),
);

const tokensOf = (text: string): string[] =>
  text.match(/--[^\n]*\n|'[^']*'|"[^"]*"|\w+|\s+|[^\w\s]/g) ?? [];
const words = programs.flatMap(tokensOf).filter((token) => !token.startsWith('--'));

/** A program with some tokens dropped, doubled or replaced by tokens of other programs. */
const damaged = fc
  .record({
    text: fc.constantFrom(...programs),
    edits: fc.array(
      fc.record({
        at: fc.nat(),
        what: fc.constantFrom('drop', 'double', 'replace', 'swap'),
        word: fc.constantFrom(...words),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  })
  .map(({ text, edits }) => {
    const tokens = tokensOf(text);
    for (const { at, what, word } of edits) {
      const place = at % tokens.length;
      const token = tokens[place] ?? '';
      if (what === 'drop') tokens.splice(place, 1);
      else if (what === 'double') tokens.splice(place, 0, token);
      else if (what === 'replace') tokens[place] = word;
      else tokens.splice(place, 0, ...tokens.splice(Math.min(place + 2, tokens.length - 1), 1));
    }
    return tokens.join('');
  });

test('a damaged program is planned or refused, and nothing is thrown', { timeout: 120_000 }, () => {
  fc.assert(
    fc.property(damaged, (text) => {
      const { graph, errors } = planSql(text, CONNECTORS, { defaultSink: 'preview' });
      expect(graph === null).toBe(errors.length > 0);
      for (const error of errors) expect(error.span).toBeDefined();
    }),
    { numRuns: Number(process.env['RUNS'] ?? 300) },
  );
});
