/** `@electric-sql/d2mini`: incremental views in JavaScript. Rows are read as `node` reads them, in batches of 1,000. */
import { writeFileSync } from 'node:fs';
import type { Job } from '../job.ts';
import type { Peer } from './engine.ts';
import { readChunks } from './node.ts';
import { importPeer } from './peers.ts';
import type { Row } from './row-programs.ts';

const BATCH_ROWS = 1_000;

type Changes = [Row, number][];
type Multiset = { getInner(): Changes };
type Operator = (stream: Stream) => Stream;
type Stream = { pipe(...operators: Operator[]): Stream };
type Input = Stream & { sendData(data: Multiset): void };
type Api = {
  D2: new () => { newInput(): Input; finalize(): void; run(): void };
  MultiSet: new (changes: Changes) => Multiset;
  map(of: (row: Row) => Row): Operator;
  output(take: (changes: Multiset) => void): Operator;
  join(other: Stream, type: 'inner'): Operator;
  groupBy(key: (row: Row) => Row, aggregates: Record<string, unknown>): Operator;
  groupByOperators: { count(): unknown; avg(value: (row: Row) => number): unknown };
};

type Program = { table: string; keep: (row: Row) => boolean }[];

const PROGRAMS: Readonly<
  Record<string, { feeds: Program; build: (api: Api, inputs: Input[]) => Stream }>
> = {
  updating: {
    feeds: [{ table: 'bids', keep: () => true }],
    build: ({ groupBy, groupByOperators: { count, avg }, map }, [bids]) =>
      (bids as Input).pipe(
        groupBy(({ auction }) => ({ auction }), { n: count(), mean: avg(({ price }) => price) }),
        map(([, row]) => row),
      ),
  },
  join: {
    feeds: [
      { table: 'auctions', keep: ({ category }) => category === 10 },
      { table: 'bids', keep: () => true },
    ],
    build: ({ join, map }, [auctions, bids]) =>
      (bids as Input).pipe(map(({ auction, price }) => [auction, price])).pipe(
        join((auctions as Input).pipe(map(({ id, seller }) => [id, seller])), 'inner'),
        map(([auction, [price, seller]]) => ({ auction, price, seller })),
      ),
  },
};

async function evaluate(
  api: Api,
  job: Job,
  directory: string,
  take: (row: Row, times: number) => void,
): Promise<void> {
  const program = PROGRAMS[job.name];
  if (program === undefined) throw new Error(`${job.name} has no program for d2mini`);
  const graph = new api.D2();
  const inputs = program.feeds.map(() => graph.newInput());
  program.build(api, inputs).pipe(
    api.output((changes) => {
      for (const [row, times] of changes.getInner()) take(row, times);
    }),
  );
  graph.finalize();
  for (const [at, { table, keep }] of program.feeds.entries()) {
    let batch: Changes = [];
    const send = (): void => {
      (inputs[at] as Input).sendData(new api.MultiSet(batch));
      graph.run();
      batch = [];
    };
    await readChunks(`${directory}/${table}.ndjson`, (row) => {
      if (!keep(row)) return;
      batch.push([row, 1]);
      if (batch.length === BATCH_ROWS) send();
    });
    send();
  }
}

export async function d2mini(): Promise<Peer> {
  const api = await importPeer<Api>('@electric-sql/d2mini');
  let directory = '';
  return {
    prepare: async (_job, of) => {
      directory = of;
    },
    run: async (job) => {
      let rows = 0;
      await evaluate(api, job, directory, (_row, times) => void (rows += times));
      return rows;
    },
    keep: async (job, path) => {
      const rows = new Map<string, number>();
      await evaluate(api, job, directory, (row, times) => {
        const line = JSON.stringify(row);
        rows.set(line, (rows.get(line) ?? 0) + times);
      });
      const lines = [...rows].flatMap(([line, times]) => Array<string>(times).fill(line));
      writeFileSync(path, lines.length === 0 ? '' : `${lines.join('\n')}\n`);
    },
  };
}
