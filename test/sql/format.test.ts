import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Token } from '../../src/sql/lexer.ts';
import { formatSql, layOut, sameTokens } from '../../src/sql/format.ts';
import { formatTokens } from '../../src/sql/format-tokens.ts';
import { KEYWORDS } from '../../src/sql/keywords.ts';
import { tokenize } from '../../src/sql/lexer.ts';
import { parseProgram } from '../../src/sql/parser.ts';
import { Places } from '../../src/sql/places.ts';
import { printProgram } from '../../src/sql/printer.ts';
import { programs } from './ast-arbitrary.ts';
import { withoutSpans } from './tree.ts';

const GOLDEN = join(import.meta.dirname, '../golden');
const goldenTexts = readdirSync(GOLDEN, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.sql'))
  .sort()
  .map((name) => ({ name, text: readFileSync(join(GOLDEN, name), 'utf8') }));

const formatted = (text: string): string => {
  const result = formatSql(text);
  if (result.tag === 'refused') throw new Error(`${text}\n${JSON.stringify(result.errors)}`);
  return result.text;
};

/** Every comment of a text that lexes, in order. */
function commentsOf(text: string): string[] {
  const places = new Places(text);
  const found: string[] = [];
  let end = 0;
  for (const { span } of tokenize(text).tokens) {
    const gap = text.slice(end, places.offsetOf(span.start));
    end = places.offsetOf(span.end);
    let at = 0;
    while (at < gap.length) {
      if (gap.startsWith('--', at)) {
        const feed = gap.indexOf('\n', at);
        const until = feed < 0 ? gap.length : feed;
        found.push(gap.slice(at, until).trimEnd());
        at = until;
      } else if (gap.startsWith('/*', at)) {
        const from = at;
        let open = 0;
        do {
          if (gap.startsWith('/*', at)) open++;
          if (gap.startsWith('*/', at)) open--;
          at += gap.startsWith('/*', at) || gap.startsWith('*/', at) ? 2 : 1;
        } while (open > 0);
        found.push(gap.slice(from, at));
      } else at++;
    }
  }
  return found;
}

/** What must hold of the formatter for one text that parses. */
function expectSafe(text: string): void {
  const { program, errors } = parseProgram(text);
  expect(errors, text).toEqual([]);
  const { tokens } = tokenize(text);
  // Without the last check, which would hide a fault.
  const result = layOut(text, tokens, program);
  expect(sameTokens(tokens, result), `${text}\n-----\n${result}`).toBe(true);
  const again = parseProgram(result);
  expect(again.errors, result).toEqual([]);
  expect(withoutSpans(again.program), result).toEqual(withoutSpans(program));
  expect(commentsOf(result), `${text}\n-----\n${result}`).toEqual(commentsOf(text));
  expect(layOut(result, tokenize(result).tokens, again.program), text).toBe(result);
  expect(result).not.toMatch(/[ \t]+$/m);
}

/** Each with a number, by which it is known again. */
const COMMENTS: readonly ((at: number) => string)[] = [
  (at) => `-- why ${at}\n`,
  (at) => `\n-- own line ${at}\n`,
  (at) => `/* in ${at} */`,
  (at) => `\n/* two\n  lines ${at} */\n`,
  (at) => ` -- x ${at}\n-- y ${at}\n`,
  (at) => `/* a ${at} */ -- b ${at}\n`,
  (at) => `\n/* begins ${at} */`,
  (at) => `/* ends ${at} */\n`,
  (at) => `\n/* a ${at} */ /* b ${at} */ -- c ${at}\n/* d ${at} */`,
];

/** The text with comments between some of its tokens. */
function commented(text: string, picks: readonly number[]): string {
  const places = new Places(text);
  const { tokens } = tokenize(text);
  let result = '';
  let end = 0;
  tokens.forEach(({ span }: Token, at) => {
    const from = places.offsetOf(span.start);
    result += text.slice(end, from);
    const pick = picks[at % picks.length] ?? 0;
    // The two signs of a shift are one operator.
    const isShift = text[from] === '>' && text[from - 1] === '>' && from > 0;
    const comment = COMMENTS[pick];
    if (comment !== undefined && !isShift) result += ` ${comment(at)} `;
    result += text.slice(from, places.offsetOf(span.end));
    end = places.offsetOf(span.end);
  });
  return result + text.slice(end);
}

describe('formatting keeps tokens, comments and meaning, and changes nothing the second time', () => {
  test('for every query of the golden tests that parses', () => {
    let count = 0;
    for (const { text } of goldenTexts) {
      if (parseProgram(text).errors.length > 0) continue;
      expectSafe(text);
      count++;
    }
    expect(count).toBeGreaterThan(80);
  });

  test('for arbitrary programs', { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(programs, (program) => expectSafe(printProgram(program))),
      { numRuns: 120, seed: 42 },
    );
  });

  test('for arbitrary programs with comments anywhere', { timeout: 60_000 }, () => {
    const picks = fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 7, maxLength: 60 });
    fc.assert(
      fc.property(programs, picks, (program, chosen) =>
        expectSafe(commented(printProgram(program), chosen)),
      ),
      { numRuns: 120, seed: 43 },
    );
  });

  test('for golden queries with comments anywhere', { timeout: 60_000 }, () => {
    for (const [at, { text }] of goldenTexts.entries()) {
      if (parseProgram(text).errors.length > 0) continue;
      expectSafe(commented(text, [at % 9, 40, 3, 40, 40, 1, 40, 4, 40, 40, 0]));
    }
  });
});

test('every word that is printed as a keyword is listed as one', () => {
  const known = new Set(KEYWORDS);
  const unknown = new Set<string>();
  for (const { text } of goldenTexts) {
    const { program, errors } = parseProgram(text);
    if (errors.length > 0) continue;
    for (const { word } of formatTokens(text, tokenize(text).tokens, program))
      if (/^\w+$/.test(word) && !known.has(word) && !known.has(word.replace(/S$/, '')))
        unknown.add(word);
  }
  expect([...unknown]).toEqual([]);
});

test('clauses stand on lines of their own, keywords in upper case', () => {
  expect(
    formatted(
      'select a.id, count(*) as n from orders a left join payments p on p.order_id=a.id where a.x>1 and p.y is not null group by a.id having count(*)>2;',
    ),
  ).toBe(`SELECT a.id, count(*) AS n
FROM orders a
LEFT JOIN payments p ON p.order_id = a.id
WHERE a.x > 1 AND p.y IS NOT NULL
GROUP BY a.id
HAVING count(*) > 2;
`);
});

test('names stay as they were typed, whatever words they are', () => {
  expect(formatted('select Timestamp, date, "Group", Sum(value) as Key from window')).toBe(
    'SELECT Timestamp, date, "Group", Sum(value) AS Key\nFROM window\n',
  );
});

test('queries in parentheses are indented, short ones stay on their line', () => {
  expect(
    formatted(
      'with busy as (select customer, count(*) as n from orders group by customer) select * from (select customer, n, row_number() over (order by n desc) as place from busy) where place<=3 and customer in (select id from vips)',
    ),
  ).toBe(`WITH busy AS (
  SELECT customer, count(*) AS n
  FROM orders
  GROUP BY customer
)
SELECT *
FROM (
  SELECT customer, n, row_number() OVER (ORDER BY n DESC) AS place
  FROM busy
)
WHERE place <= 3 AND customer IN (SELECT id FROM vips)
`);
});

test('options stand one a line when there are more than two', () => {
  expect(
    formatted(
      "create table s (a int) with (connector='http', type='source'); create table t (id bigint not null, at timestamp not null, body json, watermark for at as at - interval '5 seconds') with (connector='http', format='json', type='source')",
    ),
  ).toBe(`CREATE TABLE s (a INT) WITH (connector = 'http', type = 'source');

CREATE TABLE t (
  id BIGINT NOT NULL,
  at TIMESTAMP NOT NULL,
  body JSON,
  WATERMARK FOR at AS at - INTERVAL '5 seconds'
) WITH (
  connector = 'http',
  format = 'json',
  type = 'source'
)
`);
});

test('long lists and conditions are broken', () => {
  const names = Array.from({ length: 12 }, (_, at) => `column_number_${at}`);
  expect(formatted(`select ${names.join(',')} from t`)).toBe(
    `SELECT\n${names.map((name) => `  ${name}`).join(',\n')}\nFROM t\n`,
  );
  expect(formatted(`select 1 from t where ${names.join(' and ')}`)).toBe(
    `SELECT 1\nFROM t\nWHERE ${names.map((name, at) => (at === 0 ? name : `\n  AND ${name}`)).join('')}\n`,
  );
});

test('comments stay where they were', () => {
  expect(
    formatted(`-- what this is


-- and more
select a -- the first
     , b /* the second */, c
from t -- all of it
-- only new ones
where a > 1;
-- the end`),
  ).toBe(`-- what this is

-- and more
SELECT
  a, -- the first
  b /* the second */,
  c
FROM t -- all of it
-- only new ones
WHERE a > 1;
-- the end
`);
});

test('a minus before a negative number does not become a comment', () => {
  expect(formatted('select - -1, 3 - -2, -(-x), ~ -x')).toBe(
    'SELECT - -1, 3 - -2, -(- x), ~ -x\n'.replace('- x', '-x'),
  );
});

test('a text with errors is left alone, and all of them are answered', () => {
  const result = formatSql('selec a from t;\nselect b form t c d;\n');
  expect(result.tag).toBe('refused');
  if (result.tag === 'refused') {
    expect(result.errors.map(({ code }) => code)).toEqual(['SYNTAX', 'SYNTAX']);
    expect(result.errors.every(({ span }) => span !== undefined)).toBe(true);
  }
});

test('an empty text stays empty', () => {
  expect(formatted('')).toBe('');
  expect(formatted('  \n ')).toBe('');
  expect(formatted('-- only this')).toBe('-- only this\n');
});

test('a hostile text takes a bounded time', () => {
  const deep = `SELECT ${'('.repeat(60)}1${')'.repeat(60)}`;
  const long = `SELECT ${Array.from({ length: 20_000 }, (_, at) => `a${at}`).join(' + ')}`;
  const many = `SELECT ${Array.from({ length: 20_000 }, (_, at) => `a${at}`).join(', ')} FROM t`;
  for (const text of [deep, long, many]) {
    const before = performance.now();
    formatSql(text);
    expect(performance.now() - before).toBeLessThan(2000);
  }
});
