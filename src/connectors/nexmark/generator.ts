/**
 * The Nexmark auction data, one event at a time, drawn into reusable fields: no objects, no strings.
 *
 * Of every 50 events the first is a person, three are auctions and 46 are bids. Ids start at 1000; half of the bids go
 * to a hot auction, three quarters come from a hot bidder, three quarters of the auctions from a hot seller.
 * `draw(n)` draws event number n and must be called for 0, 1, 2, … in order, because every event consumes randomness.
 *
 * Invariants: the rows of a seed are pinned by hash in the tests, since expected query results hang on them.
 * Source: the data rules of the Nexmark benchmark (nexmark/nexmark), with hot bidders at +1 and ids counted once.
 */
import { assert } from '../../base/assert.ts';
import { NexmarkRandom, Scratch, type NexmarkRandomState } from './random.ts';

export type NexmarkKind = 'person' | 'auction' | 'bid';

const EVENTS_PER_ROUND = 50;
const PERSONS_PER_ROUND = 1;
const AUCTIONS_PER_ROUND = 3;
const ID_BASE = 1000;
const CATEGORY_BASE = 10;
const POOL_BYTES = 1 << 20;
const CHANNELS = 10_000;
/** 2026-01-01T00:00:00Z. */
const BASE_MS = 1_767_225_600_000;
const SPACE = 32;
const UNDERSCORE = 95;

const encoder = new TextEncoder();
const texts = (list: string): Uint8Array[] => list.split(',').map((text) => encoder.encode(text));
const FIRST_NAMES = texts('Peter,Paul,Luke,John,Saul,Vicky,Kate,Julie,Sarah,Deiter,Walter');
const LAST_NAMES = texts('Shultz,Abrams,Spencer,White,Bartels,Walton,Smith,Jones,Noris');
const CITIES = texts(
  'Phoenix,Los Angeles,San Francisco,Boise,Portland,Bend,Redmond,Seattle,Kent,Cheyenne',
);
const STATES = texts('AZ,CA,ID,OR,WA,WY');
const HOT_CHANNELS = texts('Google,Facebook,Baidu,Apple');
const MAIL_END = encoder.encode('.com');
const NOTHING = new Uint8Array(0);

/** What a seed fixes before the first event. */
type Prelude = {
  seed: number;
  /** Letters that `extra` values are cut from. */
  pool: Uint8Array;
  hotUrls: Uint8Array[];
  channels: Uint8Array[];
  urls: Uint8Array[];
  state: NexmarkRandomState;
};

function makePrelude(seed: number): Prelude {
  const random = new NexmarkRandom(seed);
  const pool = new Uint8Array(POOL_BYTES);
  for (let at = 0; at < POOL_BYTES; at++) pool[at] = 97 + random.below(26);
  const hotUrls = HOT_CHANNELS.map(() => encoder.encode(drawUrl(random)));
  const channels: Uint8Array[] = [];
  const urls: Uint8Array[] = [];
  for (let index = 0; index < CHANNELS; index++) {
    let url = drawUrl(random);
    if (random.below(10) > 0) url += `&channel_id=${(index * 2654435761) >>> 1}`;
    channels.push(encoder.encode(`channel-${index}`));
    urls.push(encoder.encode(url));
  }
  return { seed, pool, hotUrls, channels, urls, state: random.state };
}

function drawUrl(random: NexmarkRandom): string {
  const path = new Scratch(16);
  let url = 'https://www.nexmark.com';
  for (let part = 0; part < 3; part++) {
    path.clear();
    path.putWord(random, 5, UNDERSCORE);
    url += `/${String.fromCharCode(...path.bytes.subarray(0, path.end))}`;
  }
  return `${url}/item.htm?query=1`;
}

/** Several partitions of one host, and every restart, use the same megabyte. */
let lastPrelude: Prelude | null = null;

function preludeOf(seed: number): Prelude {
  if (lastPrelude?.seed !== seed) lastPrelude = makePrelude(seed);
  return lastPrelude;
}

export type NexmarkOptions = {
  seed: number;
  /** Events per second of event time. */
  eventsPerSecond: number;
  /** Events of this many neighbours come in a fixed shuffled order; 1: in order. */
  outOfOrder: number;
};

export class NexmarkGenerator {
  readonly #options: NexmarkOptions;
  readonly #prelude: Prelude;
  readonly #random: NexmarkRandom;

  // The event drawn last; which fields mean something depends on `kind`.
  kind: NexmarkKind = 'person';
  atMs = 0;
  /** Of a person or auction. */
  id = 0;
  readonly name = new Scratch(32);
  readonly email = new Scratch(32);
  readonly creditCard = new Scratch(32);
  city: Uint8Array = NOTHING;
  state: Uint8Array = NOTHING;
  readonly itemName = new Scratch(32);
  readonly description = new Scratch(128);
  initialBid = 0;
  reserve = 0;
  expiresMs = 0;
  seller = 0;
  category = 0;
  auction = 0;
  bidder = 0;
  price = 0;
  channel: Uint8Array = NOTHING;
  url: Uint8Array = NOTHING;
  /** `extra` is `pool[extraStart, extraEnd)`. */
  extraStart = 0;
  extraEnd = 0;

  constructor(options: NexmarkOptions) {
    assert(options.outOfOrder >= 1 && options.eventsPerSecond > 0, 'options were checked');
    this.#options = options;
    this.#prelude = preludeOf(options.seed);
    this.#random = new NexmarkRandom(options.seed);
    this.#random.state = this.#prelude.state;
  }

  get pool(): Uint8Array {
    return this.#prelude.pool;
  }

  /** Where the randomness stands; set it back together with the event number. */
  get position(): NexmarkRandomState {
    return this.#random.state;
  }

  set position(state: NexmarkRandomState) {
    this.#random.state = state;
  }

  /** Event time of event `event`, in microseconds since 1970; whole milliseconds. */
  #timeMs(event: number): number {
    return BASE_MS + Math.floor((event * 1e6) / this.#options.eventsPerSecond / 1000);
  }

  draw(index: number): void {
    const group = this.#options.outOfOrder;
    const event = group === 1 ? index : Math.floor(index / group) * group + ((953 * index) % group);
    this.atMs = this.#timeMs(event);
    const turn = event % EVENTS_PER_ROUND;
    if (turn < PERSONS_PER_ROUND) this.#drawPerson(event);
    else if (turn < PERSONS_PER_ROUND + AUCTIONS_PER_ROUND) this.#drawAuction(event);
    else this.#drawBid(event);
  }

  #drawPerson(event: number): void {
    const random = this.#random;
    this.kind = 'person';
    this.id = lastPerson(event) + ID_BASE;
    this.name.clear();
    this.name.put(pick(FIRST_NAMES, random));
    this.name.putByte(SPACE);
    this.name.put(pick(LAST_NAMES, random));
    this.email.clear();
    this.email.putWord(random, 7, SPACE);
    this.email.putByte(64);
    this.email.putWord(random, 5, SPACE);
    this.email.put(MAIL_END);
    this.#drawCreditCard();
    this.city = pick(CITIES, random);
    this.state = pick(STATES, random);
    const size = 8 + this.name.size + this.email.size + this.creditCard.size + this.city.length + 2;
    this.#drawExtra(size, 200);
  }

  #drawCreditCard(): void {
    this.creditCard.clear();
    for (let block = 0; block < 4; block++) {
      if (block > 0) this.creditCard.putByte(SPACE);
      const digits = this.#random.below(10_000);
      for (let unit = 1000; unit >= 1; unit /= 10)
        this.creditCard.putByte(48 + (Math.floor(digits / unit) % 10));
    }
  }

  #drawAuction(event: number): void {
    const random = this.#random;
    this.kind = 'auction';
    this.id = lastAuction(event) + ID_BASE;
    const hot = random.below(4) > 0;
    this.seller =
      (hot ? Math.floor(lastPerson(event) / 100) * 100 : this.#anyPerson(event)) + ID_BASE;
    this.category = CATEGORY_BASE + random.below(5);
    this.initialBid = random.price();
    const horizonMs =
      this.#timeMs(event + Math.floor((100 * EVENTS_PER_ROUND) / AUCTIONS_PER_ROUND)) - this.atMs;
    this.expiresMs = this.atMs + 1 + random.below(Math.max(horizonMs * 2, 1));
    this.itemName.clear();
    this.itemName.putWord(random, 20, SPACE);
    this.description.clear();
    this.description.putWord(random, 100, SPACE);
    this.reserve = this.initialBid + random.price();
    this.#drawExtra(8 + this.itemName.size + this.description.size + 40, 500);
  }

  #drawBid(event: number): void {
    const random = this.#random;
    const prelude = this.#prelude;
    this.kind = 'bid';
    const hotAuction = random.below(2) > 0;
    this.auction =
      (hotAuction ? Math.floor(lastAuction(event) / 100) * 100 : this.#anyAuction(event)) + ID_BASE;
    const hotBidder = random.below(4) > 0;
    this.bidder =
      (hotBidder ? Math.floor(lastPerson(event) / 100) * 100 + 1 : this.#anyPerson(event)) +
      ID_BASE;
    this.price = random.price();
    if (random.below(2) > 0) {
      const index = random.below(HOT_CHANNELS.length);
      this.channel = HOT_CHANNELS[index] as Uint8Array;
      this.url = prelude.hotUrls[index] as Uint8Array;
    } else {
      const index = random.below(CHANNELS);
      this.channel = prelude.channels[index] as Uint8Array;
      this.url = prelude.urls[index] as Uint8Array;
    }
    this.#drawExtra(32, 100);
  }

  /** One of the last hundred auctions or of the ten to come. */
  #anyAuction(event: number): number {
    const newest = lastAuction(event);
    const oldest = Math.max(newest - 100, 0);
    return oldest + this.#random.below(newest - oldest + 1 + 10);
  }

  /** One of the last thousand people or of the ten to come. */
  #anyPerson(event: number): number {
    const count = lastPerson(event) + 1;
    const active = Math.min(count, 1000);
    return count - active + this.#random.below(active + 10);
  }

  /** Padding that brings a row of `size` bytes to `average` bytes, give or take a fifth of the padding. */
  #drawExtra(size: number, average: number): void {
    this.extraStart = 0;
    this.extraEnd = 0;
    if (size > average) return;
    const missing = average - size;
    const spread = Math.round(missing * 0.2);
    const length = missing - spread + (spread === 0 ? 0 : this.#random.below(2 * spread));
    this.extraStart = this.#random.below(POOL_BYTES - length);
    this.extraEnd = this.extraStart + length;
  }
}

function pick(list: readonly Uint8Array[], random: NexmarkRandom): Uint8Array {
  return list[random.below(list.length)] as Uint8Array;
}

function lastPerson(event: number): number {
  const round = Math.floor(event / EVENTS_PER_ROUND);
  return round * PERSONS_PER_ROUND + Math.min(event % EVENTS_PER_ROUND, PERSONS_PER_ROUND - 1);
}

function lastAuction(event: number): number {
  const round = Math.floor(event / EVENTS_PER_ROUND);
  const turn = event % EVENTS_PER_ROUND;
  // Before the round's first auction, the newest one is the last of the round before.
  if (turn < PERSONS_PER_ROUND) return round * AUCTIONS_PER_ROUND - 1;
  return round * AUCTIONS_PER_ROUND + Math.min(turn - PERSONS_PER_ROUND, AUCTIONS_PER_ROUND - 1);
}
