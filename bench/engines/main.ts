/** The process of one engine: `node bench/engines/main.ts ENGINE FOLDER`, told what to do over the channel of `fork`. */
import { JOBS } from '../jobs.ts';
import { clickhouse } from './clickhouse.ts';
import { d2mini } from './d2mini.ts';
import { duckdb } from './duckdb.ts';
import type { FromPeer, Peer, ToPeer } from './engine.ts';
import { node, readChunks, readLines } from './node.ts';

const PEERS: Readonly<Record<string, (folder: string) => Promise<Peer>>> = {
  duckdb,
  clickhouse,
  d2mini,
  node: async () => node(readChunks),
  'node-lines': async () => node(readLines),
};

const make = PEERS[process.argv[2] ?? ''];
if (make === undefined) throw new Error(`there is no engine "${process.argv[2]}"`);
const peer = await make(process.argv[3] ?? '');
let job = JOBS[0];

async function obey(message: ToPeer): Promise<number> {
  if (message.tag === 'prepare') {
    job = JOBS.find(({ name }) => name === message.job);
    if (job !== undefined) await peer.prepare(job, message.directory);
    return 0;
  }
  if (job === undefined) throw new Error('no such job');
  if (message.tag === 'run') return await peer.run(job);
  await peer.keep(job, message.path);
  return 0;
}

// Whoever asked is gone.
process.on('disconnect', () => process.exit());
process.on('message', (message: ToPeer) => {
  const began = performance.now();
  obey(message).then(
    (rows) => tell({ tag: 'done', rows, ms: performance.now() - began }),
    (error: unknown) => tell({ tag: 'failed', message: (error as Error).message }),
  );
});

function tell(answer: FromPeer): void {
  process.send?.(answer);
}
