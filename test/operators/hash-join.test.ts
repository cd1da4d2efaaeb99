/** Joins against a nested loop over rows, which shares nothing with the operator. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BOOLEAN, INT64, TEXT, type Schema } from '../../src/batch/types.ts';
import type { RecordBatch } from '../../src/batch/record-batch.ts';
import { rowsOf } from '../../src/batch/values.ts';
import type { Expr } from '../../src/expr/expr.ts';
import type { JoinSpec } from '../../src/graph/graph.ts';
import { HashJoin } from '../../src/operators/hash-join.ts';
import { timeAt } from '../../src/operators/times.ts';
import type { JoinKind, JoinTime } from '../../src/plan/logical.ts';
import { column, INPUT, inputBatch, Subtasks, type InputRow } from './harness.ts';

const KINDS: readonly JoinKind[] = ['inner', 'left', 'right', 'full', 'semi', 'anti'];
const WIDTH = INPUT.length;
/** The left value is below the right one. */
const BELOW: Expr = {
  tag: 'call',
  fn: 'less',
  args: [column(1, INT64), column(WIDTH + 1, INT64)],
  type: BOOLEAN,
};

type Change = { port: 0 | 1; row: InputRow; retract: boolean };
type Case = {
  kind: JoinKind;
  time: JoinTime;
  residual: boolean;
  nullsMeet: boolean;
  updating: [boolean, boolean];
};

const outputOf = (kind: JoinKind): Schema => {
  const named = (side: string): Schema =>
    INPUT.map((field) => ({ ...field, name: `${side}${field.name}` }));
  return kind === 'semi' || kind === 'anti' ? named('l') : [...named('l'), ...named('r')];
};

const specOf = ({ kind, time, residual, nullsMeet, updating }: Case): JoinSpec => ({
  tag: 'join',
  kind,
  keys: [[column(0, TEXT)], [column(0, TEXT)]],
  nullsMeet: [nullsMeet],
  residual: residual ? BELOW : null,
  updating,
  eventTime: [true, true],
  time,
});

const values = (row: InputRow | null): string[] =>
  row === null ? INPUT.map(() => 'null') : [row.k, row.v, row.flag, row.t, row.mark].map(String);

/** The join of rows at rest. */
function expected(
  { kind, time, residual, nullsMeet }: Case,
  left: readonly InputRow[],
  right: readonly InputRow[],
): string[] {
  const meets = (one: InputRow, other: InputRow): boolean => {
    if (one.k === null || other.k === null ? !(nullsMeet && one.k === other.k) : one.k !== other.k)
      return false;
    if (residual && !(one.v !== null && other.v !== null && one.v < other.v)) return false;
    const apart = Number(other.t - one.t);
    if (time.tag === 'interval')
      return apart >= (time.lowMicros ?? -Infinity) && apart <= (time.highMicros ?? Infinity);
    return time.tag !== 'any' || time.ttlMicros === null || Math.abs(apart) <= time.ttlMicros;
  };
  const rows: string[] = [];
  const add = (one: InputRow | null, other: InputRow | null): number =>
    rows.push([...values(one), ...values(other)].join('|'));
  for (const one of left) {
    const partners = right.filter((other) => meets(one, other));
    if (kind === 'semi' || kind === 'anti') {
      if (partners.length > 0 === (kind === 'semi')) rows.push(values(one).join('|'));
      continue;
    }
    for (const other of partners) add(one, other);
    if (partners.length === 0 && (kind === 'left' || kind === 'full')) add(one, null);
  }
  if (kind === 'right' || kind === 'full')
    for (const other of right) if (!left.some((one) => meets(one, other))) add(null, other);
  return rows.sort();
}

/** What stands when every retraction takes one equal row back; a retraction of nothing throws. */
function standing(batches: readonly RecordBatch[], schema: Schema): string[] {
  const counts = new Map<string, number>();
  for (const batch of batches) {
    rowsOf(batch, schema).forEach((row, at) => {
      const key = Object.values(row).map(String).join('|');
      const count = (counts.get(key) ?? 0) + (batch.retract?.[at] === 1 ? -1 : 1);
      if (count < 0) throw new Error(`retracted what was never emitted: ${key}`);
      counts.set(key, count);
    });
  }
  return [...counts].flatMap(([key, count]) => Array.from({ length: count }, () => key)).sort();
}

type Draw = { port: 0 | 1; k: string | null; v: bigint | null; late: number; undo: number };

const rowArbitrary: fc.Arbitrary<Draw> = fc.record({
  port: fc.constantFrom<0 | 1>(0, 1),
  k: fc.constantFrom<string | null>('a', 'b', 'c', null),
  v: fc.option(fc.bigInt({ min: 0n, max: 2n })),
  late: fc.integer({ min: 0, max: 6 }),
  undo: fc.nat({ max: 99 }),
});
const rowsArbitrary = fc.array(rowArbitrary, { maxLength: 70 });

/** Appends in nearly the order of time, and retractions of rows of a side that may be taken back. */
function changesOf(draws: readonly Draw[], updating: readonly [boolean, boolean]): Change[] {
  const alive: [InputRow[], InputRow[]] = [[], []];
  return draws.map(({ port, k, v, late, undo }, at): Change => {
    const mine = alive[port];
    if (updating[port] && undo < 40 && mine.length > 0) {
      const [row] = mine.splice(undo % mine.length, 1);
      return { port, row: row as InputRow, retract: true };
    }
    const row = { k, v, flag: null, t: BigInt(Math.max(0, at * 2 - late)), mark: 0n };
    mine.push(row);
    return { port, row, retract: false };
  });
}

const restOf = (changes: readonly Change[], port: 0 | 1): InputRow[] => {
  const rows: InputRow[] = [];
  for (const { port: side, row, retract } of changes) {
    if (side !== port) continue;
    if (retract)
      rows.splice(
        rows.findIndex((other) => values(other).join() === values(row).join()),
        1,
      );
    else rows.push(row);
  }
  return rows;
};

type Action = 0 | 'checkpoint' | 1 | 2 | 3;
const actionsArbitrary = fc.array(fc.constantFrom<Action>(0, 'checkpoint', 'checkpoint', 1, 2, 3), {
  minLength: 1,
  maxLength: 5,
});
const sizesArbitrary = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 });

/** Sends the changes in batches, with checkpoints and restarts in between; `after` is told how many have been sent. */
function drive(
  join: Subtasks,
  changes: readonly Change[],
  sizes: readonly number[],
  actions: readonly Action[],
  after: (sent: number) => void,
): void {
  let from = 0;
  for (let turn = 0; from < changes.length; turn++) {
    const port = (changes[from] as Change).port;
    const most = sizes[turn % sizes.length] as number;
    let to = from + 1;
    while (to < changes.length && to - from < most && changes[to]?.port === port) to++;
    const part = changes.slice(from, to);
    const batch = inputBatch(part.map(({ row }) => row));
    const { t } = Object.fromEntries(INPUT.map((field, at) => [field.name, batch.columns[at]]));
    const retract = part.some((change) => change.retract)
      ? Uint8Array.from(part, (change) => Number(change.retract))
      : null;
    join.send({ ...batch, eventTime: t as RecordBatch['eventTime'], retract }, port);
    from = to;
    const action = actions[turn % actions.length] as Action;
    if (action === 'checkpoint') join.checkpoint();
    else if (action !== 0) join.restart(action);
    after(from);
  }
}

const updatingArbitrary = fc.tuple(fc.boolean(), fc.boolean());

describe.each(KINDS)('%s join', (kind) => {
  test('of rows that come and go is at any time the join of the rows at rest', () => {
    fc.assert(
      fc.property(
        rowsArbitrary,
        updatingArbitrary,
        fc.boolean(),
        fc.boolean(),
        sizesArbitrary,
        actionsArbitrary,
        (draws, updating, residual, nullsMeet, sizes, actions) => {
          const what: Case = {
            kind,
            time: { tag: 'any', ttlMicros: null },
            residual,
            nullsMeet,
            updating,
          };
          const join = new Subtasks(() => new HashJoin(specOf(what), [INPUT, INPUT]), [0], 2);
          const changes = changesOf(draws, updating);
          drive(join, changes, sizes, actions, (sent) => {
            const told = changes.slice(0, sent);
            expect(standing(join.output.batches, outputOf(kind))).toEqual(
              expected(what, restOf(told, 0), restOf(told, 1)),
            );
          });
          if (!updating[0] && !updating[1] && (kind === 'inner' || kind === 'semi'))
            expect(join.output.batches.every((batch) => batch.retract === null)).toBe(true);
        },
      ),
      { numRuns: 60, seed: 7 },
    );
  });

  test('within bounds of time gives each row once, when it is sure, and keeps nothing in the end', () => {
    fc.assert(
      fc.property(
        rowsArbitrary,
        fc.integer({ min: -9, max: 9 }),
        fc.integer({ min: 0, max: 12 }),
        fc.boolean(),
        sizesArbitrary,
        actionsArbitrary,
        (draws, lowMicros, span, residual, sizes, actions) => {
          const time: JoinTime = { tag: 'interval', lowMicros, highMicros: lowMicros + span };
          const what: Case = { kind, time, residual, nullsMeet: false, updating: [false, false] };
          const join = new Subtasks(() => new HashJoin(specOf(what), [INPUT, INPUT]), [0], 2);
          const changes = changesOf(draws, [false, false]);
          let seen = 0;
          let watermark = -Infinity;
          // What is emitted must not be late downstream, which knows the watermark before.
          const check = (): void => {
            for (; seen < join.output.batches.length; seen++) {
              const { rows, eventTime, retract } = join.output.batches[seen] as RecordBatch;
              expect(retract).toBeNull();
              for (let row = 0; row < rows; row++)
                expect(timeAt(eventTime?.words as Int32Array, row)).toBeGreaterThanOrEqual(
                  watermark,
                );
            }
          };
          drive(join, changes, sizes, actions, (sent) => {
            check();
            const next = sent * 2 - 8;
            join.watermark(next);
            check();
            watermark = Math.max(watermark, next);
          });
          join.watermark(Infinity);
          check();
          expect(join.output.lateRows).toEqual([]);
          expect(standing(join.output.batches, outputOf(kind))).toEqual(
            expected(what, restOf(changes, 0), restOf(changes, 1)),
          );
          expect(join.operators.map((operator) => operator.stateRows())).toEqual(
            join.operators.map(() => 0),
          );
        },
      ),
      { numRuns: 60, seed: 8 },
    );
  });
});

test('with a time to live, rows further apart never meet, whenever they come, and are dropped', () => {
  fc.assert(
    fc.property(
      rowsArbitrary,
      fc.integer({ min: 1, max: 20 }),
      sizesArbitrary,
      actionsArbitrary,
      (draws, ttlMicros, sizes, actions) => {
        const what: Case = {
          kind: 'inner',
          time: { tag: 'any', ttlMicros },
          residual: false,
          nullsMeet: false,
          updating: [false, false],
        };
        const join = new Subtasks(() => new HashJoin(specOf(what), [INPUT, INPUT]), [0], 2);
        const changes = changesOf(draws, [false, false]);
        drive(join, changes, sizes, actions, (sent) => join.watermark(sent * 2 - 8));
        expect(standing(join.output.batches, outputOf('inner'))).toEqual(
          expected(what, restOf(changes, 0), restOf(changes, 1)),
        );
        join.watermark(Infinity);
        expect(join.operators.map((operator) => operator.stateRows())).toEqual(
          join.operators.map(() => 0),
        );
      },
    ),
    { numRuns: 60, seed: 9 },
  );
});

test('a row behind the watermark is late in a join by interval, and meets nobody', () => {
  const what: Case = {
    kind: 'left',
    time: { tag: 'interval', lowMicros: 0, highMicros: 5 },
    residual: false,
    nullsMeet: false,
    updating: [false, false],
  };
  const join = new Subtasks(() => new HashJoin(specOf(what), [INPUT, INPUT]), [0], 1);
  const send = (port: 0 | 1, t: bigint): void =>
    drive(
      join,
      [{ port, row: { k: 'a', v: 1n, flag: null, t, mark: 0n }, retract: false }],
      [1],
      [0],
      () => {},
    );
  send(0, 10n);
  join.watermark(12);
  send(1, 11n);
  expect(join.output.lateRows).toMatchObject([{ code: 'LATE_ROW' }]);
  join.watermark(Infinity);
  expect(standing(join.output.batches, outputOf('left'))).toEqual([
    'a|1|null|10|0|null|null|null|null|null',
  ]);
});
