/** A shop: clicks on its pages, its orders, and the payments that belong to them. */
import { INT64, TEXT, TIMESTAMP } from '../../batch/types.ts';
import { drawBelow, drawRank, ranksOf, shuffledPlace } from './draw.ts';
import {
  type Beginning,
  type Dataset,
  field,
  listOf,
  MONEY,
  money,
  stepOf,
  text,
  whole,
} from './fields.ts';

const PAGES = listOf('home,search,category,product,basket,checkout');
const COUNTRIES = listOf('US,DE,GB,FR,BR,IN,JP,CA,NL,ES,SE,PL');
const PRODUCTS = listOf(
  'wool blanket,oak chair,reading lamp,tea pot,garden hose,desk clock,linen shirt,rain jacket,bread knife,cast iron pan,' +
    'picture frame,floor mat,coffee mill,hiking socks,travel mug,chess set,bird house,canvas bag,desk fan,soap dish,' +
    'wall mirror,plant pot,pillow case,bottle opener',
);
const USER_RANKS = ranksOf(500);
const PRODUCT_RANKS = ranksOf(PRODUCTS.length);
const COUNTRY_RANKS = ranksOf(COUNTRIES.length);
/** Clicks come up to so much later than they were made. */
const CLICK_DELAY_MICROS = 1_500_000;

/** In cents, from 4.95 to 254.95. */
const priceOf = (product: number): number => 495 + ((product * 7919) % 251) * 100;

/** Of a hundred clicks so many are on each page. */
const PAGE_SHARES = [30, 50, 68, 88, 96, 100];

export const CLICKS: Dataset = {
  schema: [
    field('user_id', INT64),
    field('page', TEXT),
    field('product', TEXT),
    field('country', TEXT),
    field('price', MONEY),
    field('ts', TIMESTAMP),
  ],
  rowsPerSecond: 20,
  historySeconds: 120,
  make(beginning) {
    const { seed, startMicros } = beginning;
    const step = stepOf(beginning);
    return {
      write(row, columns) {
        const user = drawRank(seed, row, 0, USER_RANKS);
        const product = drawRank(seed, row, 1, PRODUCT_RANKS);
        const share = drawBelow(seed, row, 2, 100);
        const at =
          startMicros + Math.floor(row * step) - drawBelow(seed, row, 3, CLICK_DELAY_MICROS);
        whole(columns, 0, 1000 + user);
        text(columns, 1, PAGES[PAGE_SHARES.findIndex((upTo) => share < upTo)] as Uint8Array);
        text(columns, 2, PRODUCTS[product] as Uint8Array);
        text(columns, 3, COUNTRIES[drawRank(seed, user, 4, COUNTRY_RANKS)] as Uint8Array);
        money(columns, 4, priceOf(product));
        whole(columns, 5, at);
        return at;
      },
    };
  },
};

const FIRST_ORDER = 10_001;
const CUSTOMERS = 400;
const QUANTITY_RANKS = ranksOf(4);

/** What orders and payments both tell of an order. */
const quantityOf = (seed: number, order: number): number =>
  1 + drawRank(seed, order, 11, QUANTITY_RANKS);
const productOf = (seed: number, order: number): number => drawRank(seed, order, 12, PRODUCT_RANKS);
const amountOf = (seed: number, order: number): number =>
  quantityOf(seed, order) * priceOf(productOf(seed, order));

export const ORDERS: Dataset = {
  schema: [
    field('order_id', INT64),
    field('customer', INT64),
    field('product', TEXT),
    field('quantity', INT64),
    field('amount', MONEY),
    field('ts', TIMESTAMP),
  ],
  rowsPerSecond: 10,
  historySeconds: 120,
  make(beginning) {
    const { seed, startMicros } = beginning;
    const step = stepOf(beginning);
    return {
      write(row, columns) {
        const at = startMicros + Math.floor(row * step);
        whole(columns, 0, FIRST_ORDER + row);
        whole(columns, 1, 1 + drawBelow(seed, row, 10, CUSTOMERS));
        text(columns, 2, PRODUCTS[productOf(seed, row)] as Uint8Array);
        whole(columns, 3, quantityOf(seed, row));
        money(columns, 4, amountOf(seed, row));
        whole(columns, 5, at);
        return at;
      },
    };
  },
};

const METHODS = listOf('card,transfer,wallet,invoice');
const METHOD_RANKS = ranksOf(METHODS.length);
/** Of so many orders one is never paid. */
const UNPAID_ONE_OF = 25;
/** A payment comes within twice this after its order. */
const HALF_DELAY_SECONDS = 10;

/**
 * Payments in the order of their time. Orders are dealt to blocks of ten seconds; each block is paid ten seconds later, in
 * shuffled order, so that no rows before have to be known.
 */
function paidOrder(beginning: Beginning, payment: number): { place: number; order: number } {
  const { seed, rowsPerSecond } = beginning;
  const paid = UNPAID_ONE_OF - 1;
  const group = Math.floor(payment / paid);
  const within = payment % paid;
  const left = drawBelow(seed, group, 20, UNPAID_ONE_OF);
  const place = group * UNPAID_ONE_OF + (within < left ? within : within + 1);
  const size = blockOf(rowsPerSecond);
  const block = Math.floor(place / size);
  return { place, order: block * size + shuffledPlace(seed, block, place % size, size) };
}

const blockOf = (rowsPerSecond: number): number =>
  Math.max(1, Math.floor(HALF_DELAY_SECONDS * rowsPerSecond));

export const PAYMENTS: Dataset = {
  schema: [
    field('payment_id', INT64),
    field('order_id', INT64),
    field('method', TEXT),
    field('amount', MONEY),
    field('ts', TIMESTAMP),
  ],
  rowsPerSecond: 10,
  historySeconds: 120,
  pace: (rowsPerSecond) => ({
    rowsPerSecond: (rowsPerSecond * (UNPAID_ONE_OF - 1)) / UNPAID_ONE_OF,
    delaySeconds: blockOf(rowsPerSecond) / rowsPerSecond,
  }),
  make(beginning) {
    const { seed, startMicros, rowsPerSecond } = beginning;
    const step = stepOf(beginning);
    const delay = blockOf(rowsPerSecond);
    return {
      write(row, columns) {
        const { place, order } = paidOrder(beginning, row);
        const at = startMicros + Math.floor((place + delay) * step);
        whole(columns, 0, 500_001 + row);
        whole(columns, 1, FIRST_ORDER + order);
        text(columns, 2, METHODS[drawRank(seed, row, 21, METHOD_RANKS)] as Uint8Array);
        money(columns, 3, amountOf(seed, order));
        whole(columns, 4, at);
        return at;
      },
    };
  },
};
