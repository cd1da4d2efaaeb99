/** A pipeline of MATCH_RECOGNIZE, with the answer of a matcher that tries the pattern over all rows of a key at once. */
import type { Pattern } from '../../src/sql/ast-match.ts';
import { type Condition, type MatchRow, oracle, type Seen } from '../operators/match-oracle.ts';
import { fileTable, onlySink, type Pipeline, sink } from './pipeline.ts';
import { linesOf, ndjson, rowsOf, timeOf } from './rows.ts';

const WITHIN_MS = 4_000;

const span = { start: { line: 1, column: 1 }, end: { line: 1, column: 1 } };
const variable = (name: string): Pattern => ({
  tag: 'variable',
  name: { name, quoted: false, text: name, span },
  span,
});
const PATTERN: Pattern = {
  tag: 'sequence',
  parts: [
    variable('a'),
    {
      tag: 'repeat',
      pattern: variable('b'),
      least: 1,
      most: null,
      reluctant: false,
      span,
    },
    variable('c'),
  ],
  span,
};

const valueAt = ({ rows, start }: Seen, place: number): number => rows[start + place]?.v ?? 0;

/** The rows of b so far, the row in hand among them. */
const ofB = (seen: Seen): number[] =>
  seen.labels.flatMap((label, place) => (label === 'b' ? [valueAt(seen, place)] : []));

const CONDITIONS = new Map<string, Condition>([
  ['a', (seen) => valueAt(seen, seen.labels.length - 1) < 100],
  [
    'b',
    (seen) => {
      const values = ofB(seen);
      return values.length < 2 || (values.at(-1) as number) > (values.at(-2) as number);
    },
  ],
  ['c', (seen) => valueAt(seen, seen.labels.length - 1) < Math.max(...ofB(seen)) - 200],
]);

export function matched(seed: string, rows: number): Pipeline {
  const input = rowsOf(seed, rows, 0);
  const keys = [...new Set(input.map(({ k }) => k))];
  const lines = keys.flatMap((key) => {
    const own = input
      .filter(({ k }) => k === key)
      .map((row): MatchRow => ({ id: 0, k: key, v: row.v, ts: timeOf(row) }))
      .sort((left, right) => left.ts - right.ts || (left.v ?? 0) - (right.v ?? 0));
    const found = oracle(own, PATTERN, CONDITIONS, { to: 'last', variable: 'b' }, WITHIN_MS);
    return found.map(({ start, labels }, at) => {
      const values = labels.map((_, place) => own[start + place]?.v ?? 0);
      const ascent = values.slice(1, -1).reduce((sum, value) => sum + value, 0);
      return {
        k: key,
        number: at + 1,
        v: values[0],
        n: values.length,
        ascent,
        last: values.at(-1),
      };
    });
  });
  return {
    name: 'matched',
    sql: `${fileTable('t')}${sink('out', ', file_bytes_max = 65536')}
      INSERT INTO out SELECT * FROM t MATCH_RECOGNIZE (
        PARTITION BY k ORDER BY ts, v
        MEASURES match_number() AS number, a.v AS v, count(*) AS n, sum(b.v) AS ascent, c.v AS last
        AFTER MATCH SKIP TO LAST b
        PATTERN (a b+ c) WITHIN INTERVAL '4 seconds'
        DEFINE a AS v < 100, b AS b.v > coalesce(LAST(b.v, 1), -1000), c AS c.v < max(b.v) - 200);`,
    files: { t: ndjson(input) },
    stateless: false,
    late: 0,
    answer: (cluster) => onlySink(cluster, linesOf(lines)),
  };
}
