/** Payments by card. In every stretch of some seconds one card is used three times in different cities: it was copied. */
import { TEXT, TIMESTAMP } from '../../batch/types.ts';
import { drawAt, drawBelow, drawRank, ranksOf } from './draw.ts';
import {
  bytesOf,
  type Dataset,
  field,
  listOf,
  MONEY,
  money,
  putDigits,
  stepOf,
  text,
  whole,
} from './fields.ts';

const CITIES = listOf(
  'Lisbon,Berlin,Chicago,Toronto,Osaka,Lyon,Porto Alegre,Leeds,Seville,Malmö,Kraków,Denver,Pune,Nairobi,Lima,Seoul',
);
const MERCHANTS = listOf(
  'corner grocery,petrol station,book shop,pharmacy,train tickets,coffee bar,shoe shop,hardware store,cinema,electronics,hotel,florist',
);
const MERCHANT_RANKS = ranksOf(MERCHANTS.length);
/** So many that honest cards hardly ever come three times within seconds. */
const CARDS = 40_000;
/** Cards that are copied, one after the other; their owners do not use them. */
const VICTIMS = 50_000;
/** One theft in so many seconds; its three payments lie within nine. */
const STRETCH_SECONDS = 15;
const HALF_SECONDS = 4;

/** `4929 0000 0000 0000`: written anew for each row. */
const NUMBER = bytesOf('4929 0000 0000 0000');

function writeNumber(seed: number, card: number): void {
  putDigits(NUMBER, 9, drawBelow(seed, card, 30, 10_000), 4);
  putDigits(NUMBER, 14, Math.floor(card / 10) % 10_000, 4);
  putDigits(NUMBER, 19, (card % 10) * 1000 + drawBelow(seed, card, 31, 1000), 4);
}

/** The rows of a theft, counted within its stretch. */
type Theft = { card: number; rows: readonly [number, number, number]; city: number };

function theftOf(seed: number, stretch: number, size: number, half: number): Theft {
  const first = drawBelow(seed, stretch, 32, Math.max(1, size - 2 * half));
  const second = first + 1 + drawBelow(seed, stretch, 33, half);
  const third = second + 1 + drawBelow(seed, stretch, 34, half);
  return {
    card: CARDS + ((drawBelow(seed, 0, 35, VICTIMS) + stretch * 7919) % VICTIMS),
    rows: [first, second, third],
    city: drawBelow(seed, stretch, 36, CITIES.length),
  };
}

export const CARDS_DATASET: Dataset = {
  schema: [
    field('card', TEXT),
    field('merchant', TEXT),
    field('city', TEXT),
    field('amount', MONEY),
    field('ts', TIMESTAMP),
  ],
  rowsPerSecond: 20,
  historySeconds: 120,
  make(beginning) {
    const { seed, startMicros, rowsPerSecond } = beginning;
    const step = stepOf(beginning);
    const half = Math.max(1, Math.floor(HALF_SECONDS * rowsPerSecond));
    const size = Math.max(2 * half + 1, Math.floor(STRETCH_SECONDS * rowsPerSecond));
    let lastStretch = -1;
    let theft: Theft | null = null;
    return {
      write(row, columns) {
        const stretch = Math.floor(row / size);
        if (theft === null || stretch !== lastStretch) {
          theft = theftOf(seed, stretch, size, half);
          lastStretch = stretch;
        }
        const use = theft.rows.indexOf(row - stretch * size);
        const card = use < 0 ? drawBelow(seed, row, 37, CARDS) : theft.card;
        // An honest card stays at home; a copied one is five cities further each time.
        const city = use < 0 ? drawAt(seed, card, 38) : theft.city + use * 5;
        const spread = drawBelow(seed, row, 40, 100);
        const cents = 150 + spread * spread + drawBelow(seed, row, 41, 100);
        const at = startMicros + Math.floor(row * step);
        writeNumber(seed, card);
        text(columns, 0, NUMBER);
        text(columns, 1, MERCHANTS[drawRank(seed, row, 39, MERCHANT_RANKS)] as Uint8Array);
        text(columns, 2, CITIES[city % CITIES.length] as Uint8Array);
        money(columns, 3, use < 0 ? cents : cents * 4);
        whole(columns, 4, at);
        return at;
      },
    };
  },
};
