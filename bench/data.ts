/**
 * The data of `npm run bench`: Nexmark bids, auctions and persons as NDJSON files, made by the project's own seeded
 * generator, the same bytes for every engine. Made once and kept under `.thalweg/bench`, which git ignores.
 */
import { once } from 'node:events';
import { createWriteStream, existsSync, statfsSync, type WriteStream } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { removeWithUs } from './leftovers.ts';
import type { Scratch } from '../src/connectors/nexmark/random.ts';
import { NexmarkGenerator } from '../src/connectors/nexmark/generator.ts';

export type InputName = 'bids' | 'auctions' | 'persons' | 'sparse_bids' | 'side_input';

export type DataSet = {
  directory: string;
  /** Rows of each file. */
  rows: Readonly<Record<InputName, number>>;
  bytes: Readonly<Record<InputName, number>>;
};

/** Another number: the files are made again. */
const VERSION = 2;
const SEED = 20_260_101;
const EVENTS_PER_SECOND = 10_000;
/** Event time that `sparse_bids` spans, whatever its number of rows: several times the longest window over it. */
const SPARSE_SECONDS = 10_800;
const SPARSE_SHARE = 1 / 4;
const SIDE_ROWS = 10_000;
const FLUSH_CHARACTERS = 1 << 20;

const decoder = new TextDecoder('latin1');
const text = (bytes: Uint8Array, start = 0, end = bytes.length): string =>
  decoder.decode(bytes.subarray(start, end));
const word = (scratch: Scratch): string => text(scratch.bytes, scratch.start, scratch.end);

let lastMs = Number.NaN;
let lastTime = '';
function time(ms: number): string {
  if (ms !== lastMs) {
    lastMs = ms;
    lastTime = new Date(ms).toISOString();
  }
  return lastTime;
}

const shared = new Map<Uint8Array, string>();
function sharedText(bytes: Uint8Array): string {
  let known = shared.get(bytes);
  if (known === undefined) {
    known = text(bytes);
    shared.set(bytes, known);
  }
  return known;
}

/** The generator's words are ASCII letters, digits and spaces: nothing in them needs an escape. */
function lineOf(event: NexmarkGenerator): string {
  const extra = text(event.pool, event.extraStart, event.extraEnd);
  switch (event.kind) {
    case 'bid':
      return `{"auction":${event.auction},"bidder":${event.bidder},"price":${event.price},"channel":"${sharedText(event.channel)}","url":"${sharedText(event.url)}","datetime":"${time(event.atMs)}","extra":"${extra}"}\n`;
    case 'auction':
      return `{"id":${event.id},"item_name":"${word(event.itemName)}","description":"${word(event.description)}","initial_bid":${event.initialBid},"reserve":${event.reserve},"datetime":"${time(event.atMs)}","expires":"${new Date(event.expiresMs).toISOString()}","seller":${event.seller},"category":${event.category},"extra":"${extra}"}\n`;
    case 'person':
      return `{"id":${event.id},"name":"${word(event.name)}","email_address":"${word(event.email)}","credit_card":"${word(event.creditCard)}","city":"${sharedText(event.city)}","state":"${sharedText(event.state)}","datetime":"${time(event.atMs)}","extra":"${extra}"}\n`;
  }
}

class Lines {
  rows = 0;
  bytes = 0;
  #text = '';
  readonly #file: WriteStream;

  constructor(path: string) {
    this.#file = createWriteStream(path);
  }

  /** True when `drain` should be waited for. */
  add(line: string): boolean {
    this.rows++;
    this.#text += line;
    return this.#text.length >= FLUSH_CHARACTERS;
  }

  async flush(): Promise<void> {
    this.bytes += this.#text.length;
    const room = this.#file.write(this.#text, 'latin1');
    this.#text = '';
    if (!room) await once(this.#file, 'drain');
  }

  async close(): Promise<void> {
    await this.flush();
    this.#file.end();
    await once(this.#file, 'close');
  }
}

/** Writes events until there are `bids` bids; kinds without a file are passed over. */
async function write(
  bids: number,
  eventsPerSecond: number,
  files: Partial<Record<'bid' | 'auction' | 'person', Lines>>,
): Promise<void> {
  const event = new NexmarkGenerator({ seed: SEED, eventsPerSecond, outOfOrder: 1 });
  for (let index = 0; (files.bid?.rows ?? 0) < bids; index++) {
    event.draw(index);
    const lines = files[event.kind];
    if (lines?.add(lineOf(event)) === true) await lines.flush();
  }
  for (const lines of Object.values(files)) await lines.close();
}

async function make(directory: string, bids: number): Promise<DataSet> {
  const lines = (name: InputName): Lines => new Lines(join(directory, `${name}.ndjson`));
  const [bid, auction, person] = [lines('bids'), lines('auctions'), lines('persons')];
  await write(bids, EVENTS_PER_SECOND, { bid, auction, person });
  const sparse = lines('sparse_bids');
  const sparseRows = Math.ceil(bids * SPARSE_SHARE);
  await write(sparseRows, (sparseRows * (50 / 46)) / SPARSE_SECONDS, { bid: sparse });
  const side = lines('side_input');
  for (let key = 0; key < SIDE_ROWS; key++) side.add(`{"key":${key},"value":"${key}"}\n`);
  await side.close();
  const files = {
    side_input: side,
    bids: bid,
    auctions: auction,
    persons: person,
    sparse_bids: sparse,
  };
  const each = (value: (of: Lines) => number): Record<InputName, number> =>
    Object.fromEntries(Object.entries(files).map(([name, of]) => [name, value(of)])) as Record<
      InputName,
      number
    >;
  return { directory, rows: each((of) => of.rows), bytes: each((of) => of.bytes) };
}

/** Of all files, and of one engine's longest answer beside them. */
const BYTES_PER_BID = 600;

/** A run that would fill the disk does not begin. */
function needRoom(parent: string, bids: number): void {
  const { bavail, bsize } = statfsSync(parent);
  const [needed, free] = [bids * BYTES_PER_BID, bavail * bsize];
  const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;
  if (needed > free)
    throw new Error(
      `${bids.toLocaleString('en-US')} bids need ${gigabytes(needed)} below ${parent}, where ${gigabytes(free)} are free: choose fewer with --rows`,
    );
}

/** The data with `bids` bids below `parent`, made unless it is there. */
export async function dataSet(parent: string, bids: number): Promise<DataSet> {
  const directory = join(parent, `nexmark-${VERSION}-${bids}`);
  const manifest = join(directory, 'manifest.json');
  if (existsSync(manifest))
    return { ...(JSON.parse(await readFile(manifest, 'utf8')) as DataSet), directory };
  needRoom(parent, bids);
  const draft = removeWithUs(`${directory}.${process.pid}`);
  await mkdir(draft, { recursive: true });
  const made = await make(draft, bids);
  await writeFile(join(draft, 'manifest.json'), JSON.stringify(made));
  // Another run may have made the same bytes meanwhile, and read them already.
  if (existsSync(manifest)) await rm(draft, { recursive: true, force: true });
  else {
    await rm(directory, { recursive: true, force: true });
    await rename(draft, directory);
  }
  return { ...made, directory };
}
