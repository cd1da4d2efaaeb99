/** Pipelines that call functions of the user's own, ahead of windows, behind updating results, and one that gives rows. */
import { fileTable, onlySink, type Pipeline, sink } from './pipeline.ts';
import { foldChanges, linesOf, ndjson, rowsOf, windowsOf } from './rows.ts';

/** A row of 13 is an error; what it says of time counts all the same. */
export function calledAhead(seed: string, rows: number): Pipeline {
  const input = rowsOf(seed, rows);
  // Rows that windows do not count either, since 0 % 7 = 0.
  const counted = input.map((row) => (row.v === 13 ? { ...row, v: 0 } : row));
  const { windows, late } = windowsOf(counted);
  return {
    name: 'a function ahead of windows',
    sql: `${fileTable('t')}${sink('out')}
      CREATE FUNCTION twice(v BIGINT) RETURNS BIGINT LANGUAGE javascript AS $$
        if (v === 13n) throw new Error('unlucky');
        return v * 2n;
      $$;
      INSERT INTO out SELECT k, window.start AS s, n, total FROM (
        SELECT k, tumble(interval '10 seconds') AS window, count(*) AS n, sum(twice(v)) AS total
        FROM t WHERE v % 7 <> 0 GROUP BY k, window);`,
    files: { t: ndjson(input) },
    stateless: false,
    late,
    errors: input.filter(({ v }) => v === 13).length,
    answer: (cluster) =>
      onlySink(cluster, linesOf(windows.map((each) => ({ ...each, total: each.total * 2 })))),
  };
}

/** What is taken back has to be what it was. */
export function calledBehind(seed: string, rows: number): Pipeline {
  const input = rowsOf(seed, rows);
  const counts = new Map<string, number>();
  for (const { k } of input) counts.set(k, (counts.get(k) ?? 0) + 1);
  return {
    name: 'a function behind an updating result',
    sql: `${fileTable('t')}CREATE TABLE out WITH (connector = 'r2', path = 'out', format = 'debezium_json', type = 'sink');
      CREATE FUNCTION shout(k TEXT, n BIGINT) RETURNS TEXT LANGUAGE javascript AS $$ return k.toUpperCase() + n; $$;
      INSERT INTO out SELECT k, shout(k, n) AS loud, shout(shout(k, n), n) AS louder FROM (SELECT k, count(*) AS n FROM t GROUP BY k);`,
    files: { t: ndjson(input) },
    stateless: false,
    answer: (cluster) => ({
      committed: foldChanges(cluster.rows()),
      expected: linesOf(
        [...counts].map(([k, n]) => ({
          k,
          loud: `${k.toUpperCase()}${n}`,
          louder: `${k.toUpperCase()}${n}${n}`,
        })),
      ),
    }),
  };
}

export function calledForRows(seed: string, rows: number): Pipeline {
  const input = rowsOf(seed, rows);
  const expected = input.flatMap(({ k, v }) =>
    v > 0 ? Array.from({ length: v % 3 }, (_, part) => ({ k, v, part })) : [],
  );
  return {
    name: 'a function that gives rows',
    sql: `${fileTable('t')}${sink('out')}
      CREATE FUNCTION parts(v BIGINT) RETURNS TABLE (part INT) LANGUAGE javascript AS $$
        for (let part = 0; part < Number(v % 3n); part++) yield part;
      $$;
      INSERT INTO out SELECT k, v, p.part FROM t, LATERAL parts(t.v) AS p WHERE v > 0;`,
    files: { t: ndjson(input) },
    stateless: true,
    answer: (cluster) => onlySink(cluster, linesOf(expected)),
  };
}
