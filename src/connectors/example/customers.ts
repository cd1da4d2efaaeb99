/**
 * Changes of a table of customers, as Debezium reads them: 60 rows that are there, then updates, deletions and creations in
 * turn, so that the table stays about as large as it was.
 *
 * Sixty lanes take turns. A customer of a lane lives for ten changes: created, updated eight times, deleted; then the
 * lane's next customer is created. Of each lane the first change finds its customer in the midst of its life.
 */
import { INT64, TEXT, TIMESTAMP } from '../../batch/types.ts';
import { drawBelow } from './draw.ts';
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

const LANES = 60;
const LIFE = 10;
const FIRST_NAMES = listOf(
  'Amina,Bruno,Chiara,Diego,Elif,Farid,Greta,Hana,Ivo,Jolana,Kofi,Lena,Mateo,Nora,Omar,Priya,Quentin,Rosa,Søren,Tomás,Uma,Viktor,Wanda,Zoë',
);
const LAST_NAMES = listOf(
  'Abara,Bergström,Costa,Dvořák,Eriksen,Fontaine,García,Horvat,Ito,Jansen,Kaya,Lind,Moreau,Novak,Okoye,Petrov,Rossi,Schäfer,Tanaka,Weber',
);
const CITIES = listOf('Lyon,Utrecht,Porto,Graz,Bergen,Kraków,Bristol,Valencia,Turku,Leipzig');
const PLANS = listOf('free,plus,pro');

/** Which customer a lane has at its change number `turn`, and how far its life is. */
function lifeOf(seed: number, lane: number, turn: number): { customer: number; age: number } {
  const passed = turn + drawBelow(seed, lane, 70, LIFE - 1);
  const life = Math.floor(passed / LIFE);
  return { customer: life * LANES + lane, age: passed - life * LIFE };
}

const NAME = new Uint8Array(64);
const EMAIL = bytesOf('customer00000000@example.com');

function writeName(seed: number, customer: number): number {
  const first = FIRST_NAMES[drawBelow(seed, customer, 71, FIRST_NAMES.length)] as Uint8Array;
  const last = LAST_NAMES[drawBelow(seed, customer, 72, LAST_NAMES.length)] as Uint8Array;
  NAME.set(first, 0);
  NAME[first.length] = 32;
  NAME.set(last, first.length + 1);
  return first.length + 1 + last.length;
}

/** From 0 up, more with every change. */
function spentOf(seed: number, customer: number, age: number): number {
  let cents = 0;
  for (let change = 1; change <= age; change++)
    cents += drawBelow(seed, customer, 80 + change, 9_000) + 499;
  return cents;
}

export const CUSTOMERS: Dataset = {
  schema: [
    field('id', INT64),
    field('name', TEXT),
    field('email', TEXT),
    field('city', TEXT),
    field('plan', TEXT),
    field('spent', MONEY),
    field('updated_at', TIMESTAMP),
  ],
  rowsPerSecond: 5,
  historySeconds: 60,
  changesOf: 'id',
  make(beginning) {
    const { seed, startMicros } = beginning;
    const step = stepOf(beginning);
    const ageOf = (row: number): number => lifeOf(seed, row % LANES, Math.floor(row / LANES)).age;
    return {
      takesAway: (row) => ageOf(row) === LIFE - 1,
      write(row, columns) {
        const { customer, age } = lifeOf(seed, row % LANES, Math.floor(row / LANES));
        const deleted = age === LIFE - 1;
        // A deletion tells the row as the change before has left it.
        const seen = deleted ? age - 1 : age;
        const at = startMicros + Math.floor(row * step);
        const moved = seen > 4 ? 1 : 0;
        const plan = Math.min(
          PLANS.length - 1,
          Math.floor((seen + drawBelow(seed, customer, 73, 5)) / 4),
        );
        putDigits(EMAIL, 16, customer, 8);
        whole(columns, 0, 1 + customer);
        text(columns, 1, NAME, writeName(seed, customer));
        text(columns, 2, EMAIL);
        text(
          columns,
          3,
          CITIES[
            (drawBelow(seed, customer, 74, CITIES.length) + moved) % CITIES.length
          ] as Uint8Array,
        );
        text(columns, 4, PLANS[plan] as Uint8Array);
        money(columns, 5, spentOf(seed, customer, seen));
        whole(columns, 6, deleted ? startMicros + Math.floor((row - LANES) * step) : at);
        return at;
      },
    };
  },
};
