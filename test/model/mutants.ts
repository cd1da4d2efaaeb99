/**
 * The protocol with one guard removed.
 *
 * A mutant wraps the product's workflows, never changes them: it swallows, alters, delays or fakes single requests and answers.
 * The model must find a violation in each, otherwise it would not notice if the product lost that guard. Each comes with bounds
 * in which the violation is found and with the rules that may be the first to break.
 */
import { currentGenerationCodec } from '../../src/lineage/codec.ts';
import { readCheckpoint, readCurrent, readRecord } from '../../src/lineage/context.ts';
import type { LineageContext } from '../../src/lineage/context.ts';
import { isMine } from '../../src/lineage/derive.ts';
import { planDeletion, resolveFloor } from '../../src/lineage/resolve.ts';
import { deleteAll, listAll, putIfMatches } from '../../src/lineage/store.ts';
import type { Lineage, StoreAnswer, StoreOp } from '../../src/lineage/store.ts';
import type { Incarnation, Tip } from '../../src/lineage/types.ts';
import { contextOf, nextWork, PATHS } from '../harness/lineage-leader.ts';
import type { LeaderPlan, LeaderState, Work } from '../harness/lineage-leader.ts';
import { PROGRAMS } from './actors.ts';
import type { Programs } from './actors.ts';
import type { Exploration } from './explorer.ts';
import { controller, generations, leader } from './plans.ts';

/** Answers a request in its own way, or passes it on. */
type Tamper = (op: StoreOp) => Lineage<StoreAnswer>;

function* tampered<T>(workflow: Lineage<T>, tamper: Tamper): Lineage<T> {
  let next = workflow.next();
  while (next.done !== true) next = workflow.next(yield* tamper(next.value));
  return next.value;
}

function inPhases(
  phases: readonly LeaderState['phase'][],
  tamper: (plan: LeaderPlan) => Tamper,
): Programs {
  const work = (plan: LeaderPlan, state: LeaderState): Work => {
    const whole = nextWork(plan, state);
    if (whole.tag !== 'store' || !phases.includes(state.phase)) return whole;
    return { tag: 'store', workflow: () => tampered(whole.workflow(), tamper(plan)) };
  };
  return { ...PROGRAMS, work };
}

function mineAnswer(generation: number, incarnation: Incarnation): StoreAnswer {
  const body = currentGenerationCodec.encode({
    version: 1,
    generation,
    incarnation,
    floor: 0,
    writeId: '',
    updatedAtMs: 0,
  });
  return { tag: 'found', body, etag: '' };
}

const isCurrentPut = (op: StoreOp): op is Extract<StoreOp, { op: 'put' }> =>
  op.op === 'put' && op.key === PATHS.current;

/** Overwrites O1 whatever it holds: reads its etag right before. */
function* overwrite(op: StoreOp): Lineage<StoreAnswer> {
  if (!isCurrentPut(op)) return yield op;
  const present = yield { op: 'get', key: op.key };
  if (present.tag !== 'found') return yield op;
  return yield { ...op, condition: { tag: 'matches', etag: present.etag } };
}

const isRecordPut = (op: StoreOp): op is Extract<StoreOp, { op: 'put' }> =>
  op.op === 'put' && PATHS.parse(op.key)?.tag === 'record';

const isCurrentGet = (op: StoreOp): boolean => op.op === 'get' && op.key === PATHS.current;

/** An unclear answer to a put of this kind is taken for success. */
const trusting = (tag: 'current' | 'record' | 'manifest' | 'file') =>
  function* trust(op: StoreOp): Lineage<StoreAnswer> {
    const answer = yield op;
    const doubtful = op.op === 'put' && PATHS.parse(op.key)?.tag === tag;
    return doubtful && answer.tag === 'unknown' ? { tag: 'stored', etag: '' } : answer;
  };

/** Changes what a leader makes of the end of a work: `change` sees the state before and after. */
function afterwards(change: (before: LeaderState, after: LeaderState) => LeaderState): Programs {
  const work = (plan: LeaderPlan, state: LeaderState): Work => {
    const whole = nextWork(plan, state);
    if (whole.tag === 'sink') return { ...whole, then: change(state, whole.then) };
    if (whole.tag === 'ended') return whole;
    return {
      tag: 'store',
      *workflow() {
        return change(state, yield* whole.workflow());
      },
    };
  };
  return { ...PROGRAMS, work };
}

/** Step 10 with its first two parts exchanged: floor, then plan, then delete. */
function* collectFloorFirst(ctx: LineageContext, tip: Tip, keep: number): Lineage<void> {
  const current = yield* readCurrent(PATHS);
  if (current.tag !== 'found' || !isMine(current.value, ctx.generation, ctx.me)) return;
  const floor = resolveFloor(current.value, tip, keep);
  if (floor === null) return;
  const after = { ...current.value, floor, writeId: ctx.nextWriteId() };
  const body = currentGenerationCodec.encode(after);
  if ((yield* putIfMatches(PATHS.current, body, current.etag)).tag !== 'stored') return;
  const record = yield* readRecord(PATHS, floor);
  if (record.tag !== 'found') return;
  const checkpoint = yield* readCheckpoint(PATHS, record.value);
  if (checkpoint.tag !== 'tip') return;
  const kept = new Set(checkpoint.manifest.files.map((file) => file.key));
  const listed = yield* listAll(PATHS.prefix);
  if (listed.tag !== 'keys') return;
  yield* deleteAll(planDeletion(listed.keys, PATHS, floor, kept, ctx.generation));
}

export type Mutant = { programs: Programs; bounds: Exploration; breaks: RegExp };

/** Two generations with so many epochs each; `keep`: collection. */
const two = (
  first: number,
  second: number,
  {
    keep = null,
    losses = 0,
    delays = 0,
  }: { keep?: number | null; losses?: number; delays?: number } = {},
): Exploration => ({
  actors: generations([first, second], { keep }),
  losses,
  delays,
  future: false,
});

/** A leader and a later start of the same object. */
const resumed: Exploration = {
  actors: [leader(1, { epochs: 2 }), leader(1, { startNo: 2, epochs: 2 })],
  losses: 0,
  delays: 0,
  future: false,
};

export const MUTANTS: Record<string, Mutant> = {
  'the allocation is overwritten': {
    programs: {
      ...PROGRAMS,
      allocate: (name, expected) => tampered(PROGRAMS.allocate(name, expected), overwrite),
    },
    bounds: {
      actors: [
        leader(1, { epochs: 1 }),
        controller('a', 1),
        controller('b', 1),
        leader(2, { epochs: 1, after: 1 }),
      ],
      losses: 0,
      delays: 0,
    },
    breaks: /O1 does not grow/,
  },

  'the acquisition is overwritten': {
    programs: inPhases(['open'], () => overwrite),
    bounds: two(2, 1),
    breaks: /O1 does not grow/,
  },

  'an older start acquires again': {
    programs: inPhases(
      ['open'],
      (plan) =>
        function* stubborn(op) {
          const answer = yield op;
          if (!isCurrentGet(op) || answer.tag !== 'found') return answer;
          const read = currentGenerationCodec.decode(answer.body);
          if (read.tag === 'broken' || read.value.generation !== plan.generation) return answer;
          const { incarnation } = read.value;
          if (incarnation === null || incarnation.startNo <= plan.me.startNo) return answer;
          const body = currentGenerationCodec.encode({ ...read.value, incarnation: null });
          return { ...answer, body };
        },
    ),
    bounds: resumed,
    breaks: /O1 does not grow/,
  },

  'the floor is overwritten': {
    programs: inPhases(['collect'], () => overwrite),
    bounds: two(2, 1, { keep: 0 }),
    breaks: /O1 does not grow/,
  },

  'a record is overwritten': {
    programs: inPhases(
      ['publish', 'fence'],
      () =>
        function* blind(op) {
          if (!isRecordPut(op)) return yield op;
          const present = yield { op: 'get', key: op.key };
          if (present.tag !== 'found') return yield op;
          return yield { ...op, condition: { tag: 'matches', etag: present.etag } };
        },
    ),
    bounds: two(2, 1),
    breaks: /^I1/,
  },

  'a claim that exists is taken for mine': {
    programs: inPhases(
      ['publish', 'fence'],
      () =>
        function* credulous(op) {
          const answer = yield op;
          return isRecordPut(op) && answer.tag === 'refused' ? { tag: 'stored', etag: '' } : answer;
        },
    ),
    bounds: two(2, 1),
    breaks: /^(I2|I3|I4|L1)/,
  },

  'a claim without an answer is taken for made': {
    programs: inPhases(['publish', 'fence'], () => trusting('record')),
    bounds: two(2, 1, { delays: 1 }),
    breaks: /^I[1-8]/,
  },

  'an acquisition without an answer is taken for made': {
    programs: inPhases(['open'], () => trusting('current')),
    bounds: two(1, 1, { delays: 1 }),
    breaks: /^L[13]/,
  },

  'a floor without an answer is taken for moved': {
    programs: inPhases(['collect'], () => trusting('current')),
    bounds: two(2, 1, { keep: 0, delays: 1 }),
    breaks: /^I1/,
  },

  'a manifest without an answer is taken for stored': {
    programs: inPhases(['publish', 'fence'], () => trusting('manifest')),
    bounds: two(1, 1, { delays: 1 }),
    breaks: /^I8/,
  },

  'a state file without an answer is taken for stored': {
    programs: inPhases(['write'], () => trusting('file')),
    bounds: two(1, 1, { delays: 1 }),
    breaks: /^I8/,
  },

  'no verify after a claim': {
    programs: inPhases(
      ['publish'],
      (plan) =>
        function* blind(op) {
          return isCurrentGet(op) ? mineAnswer(plan.generation, plan.me) : yield op;
        },
    ),
    bounds: two(2, 3, { keep: 0 }),
    breaks: /^(I2|I6|I7)/,
  },

  'verify before the claim instead of after it': {
    programs: inPhases(['publish'], (plan) => {
      let verified: StoreAnswer | null = null;
      return function* early(op) {
        if (isRecordPut(op) && verified === null)
          verified = yield { op: 'get', key: PATHS.current };
        if (isCurrentGet(op)) return verified ?? mineAnswer(plan.generation, plan.me);
        return yield op;
      };
    }),
    bounds: two(2, 3, { keep: 0 }),
    breaks: /^(I2|I6|I7)/,
  },

  'no verify in recovery': {
    programs: inPhases(['open'], (plan) => {
      let reads = 0;
      return function* once(op) {
        const faked = isCurrentGet(op) && ++reads > 1;
        return faked ? mineAnswer(plan.generation, plan.me) : yield op;
      };
    }),
    bounds: two(0, 3, { keep: 0 }),
    breaks: /broken lineage|^I/,
  },

  'no verify after a fence': {
    programs: inPhases(
      ['fence'],
      (plan) =>
        function* blind(op) {
          return isCurrentGet(op) ? mineAnswer(plan.generation, plan.me) : yield op;
        },
    ),
    bounds: two(1, 3, { keep: 0 }),
    breaks: /^I/,
  },

  'deletes without moving the floor': {
    programs: inPhases(
      ['collect'],
      () =>
        function* floorless(op) {
          return isCurrentPut(op) ? { tag: 'stored', etag: '' } : yield op;
        },
    ),
    bounds: two(2, 1, { keep: 0 }),
    breaks: /^(I1|I8)/,
  },

  'the floor is moved after the deletion': {
    programs: inPhases(['collect'], () => {
      let floor: StoreOp | null = null;
      return function* late(op) {
        if (isCurrentPut(op)) {
          floor = op;
          return { tag: 'stored', etag: '' };
        }
        const answer = yield op;
        if (op.op === 'delete' && floor !== null) yield floor;
        return answer;
      };
    }),
    bounds: two(2, 1, { keep: 0 }),
    breaks: /^(I1|I8)/,
  },

  'files are deleted without a look at the kept manifest': {
    programs: inPhases(['collect'], () => {
      const hidden = new Set<string>();
      return function* heedless(op) {
        const answer = yield op;
        const file = (key: string): boolean => PATHS.parse(key)?.tag === 'file';
        if (answer.tag === 'keys') for (const key of answer.keys) if (file(key)) hidden.add(key);
        if (op.op !== 'delete') return answer;
        const names = [...op.keys, ...hidden].filter((key) => {
          const name = PATHS.parse(key);
          return (
            name?.tag === 'file' &&
            op.keys.some((other) => {
              const doomed = PATHS.parse(other);
              return doomed?.tag === 'manifest' && doomed.epoch === name.epoch;
            })
          );
        });
        return yield { op: 'delete', keys: names.filter((key) => !op.keys.includes(key)) };
      };
    }),
    bounds: two(3, 1, { keep: 0 }),
    breaks: /^I8/,
  },

  'the kept manifest is read after the floor has moved': {
    programs: {
      ...PROGRAMS,
      work(plan, state) {
        const whole = nextWork(plan, state);
        const { tip } = state;
        if (state.phase !== 'collect' || tip === null || plan.keep === null) return whole;
        const { keep } = plan;
        return {
          tag: 'store',
          *workflow() {
            yield* collectFloorFirst(contextOf(plan), tip, keep);
            return { ...state, phase: 'write' };
          },
        };
      },
    },
    bounds: {
      actors: [
        leader(1, { epochs: 2, forgetful: true }),
        controller('2', 1),
        leader(2, { epochs: 1, keep: 1, after: 1 }),
        controller('3', 2, 1),
        leader(3, { epochs: 1, keep: 2, after: 3 }),
      ],
      losses: 0,
      delays: 0,
      future: false,
    },
    breaks: /^I8/,
  },

  'a nonce that is not fresh': {
    programs: PROGRAMS,
    bounds: {
      ...resumed,
      actors: resumed.actors.map((actor) =>
        actor.tag === 'leader'
          ? { ...actor, plan: { ...actor.plan, me: { ...actor.plan.me, nonce: 'n1' } } }
          : actor,
      ),
    },
    breaks: /throws: .*holds (something else|another draft)/,
  },

  'nothing is redone before the fence': {
    programs: {
      ...PROGRAMS,
      work(plan, state) {
        if (state.phase !== 'redo' || state.tip === null) return nextWork(plan, state);
        return nextWork(plan, { ...state, phase: 'fence', tip: { ...state.tip, committed: true } });
      },
    },
    bounds: two(1, 1),
    breaks: /^I2/,
  },

  'the next epoch does not wait for the commit': {
    programs: afterwards((_, after) =>
      after.phase === 'commit' && after.tip !== null
        ? { ...after, phase: 'write', tip: { ...after.tip, committed: true } }
        : after,
    ),
    bounds: two(2, 1),
    breaks: /^I2/,
  },

  'marked before the sink has answered': {
    programs: {
      ...PROGRAMS,
      work(plan, state) {
        return nextWork(plan, state.phase === 'redo' ? { ...state, phase: 'mark' } : state);
      },
    },
    bounds: two(1, 1),
    breaks: /^I4/,
  },

  'no fence claim': {
    programs: afterwards((_, after) =>
      after.phase === 'fence' ? { ...after, phase: 'write' } : after,
    ),
    bounds: two(1, 1),
    breaks: /^I6/,
  },

  'a leader that loses the fence retires': {
    programs: afterwards((before, after) => {
      const adopted =
        before.phase === 'fence' && (after.phase === 'redo' || after.phase === 'fence');
      return adopted ? { ...after, phase: 'fenced', note: 'lost the fence' } : after;
    }),
    bounds: two(2, 1),
    breaks: /^L1/,
  },

  'the epoch after a lost fence is claimed without adopting its checkpoint': {
    programs: afterwards((before, after) => {
      const adopted =
        before.phase === 'fence' && (after.phase === 'redo' || after.phase === 'fence');
      if (!adopted || before.tip === null || after.tip === null) return after;
      const tip = { ...before.tip, epoch: after.tip.epoch, committed: true };
      return { ...after, phase: 'fence', tip };
    }),
    bounds: two(2, 1),
    breaks: /^I[23]/,
  },

  'nothing listed is taken for a new lineage': {
    programs: inPhases(
      ['open'],
      () =>
        function* forgetful(op) {
          return op.op === 'list' ? { tag: 'keys', keys: [], truncated: false } : yield op;
        },
    ),
    bounds: two(1, 1),
    breaks: /^I10|^L/,
  },

  'a hole is taken for the end': {
    programs: inPhases(
      ['open'],
      () =>
        function* shortened(op) {
          const answer = yield op;
          if (answer.tag !== 'keys' || answer.keys[0] === undefined) return answer;
          const first = PATHS.parse(answer.keys[0]);
          if (first?.tag !== 'record') return answer;
          const keys = answer.keys.filter((key, at) => key === PATHS.record(first.epoch + at));
          return { ...answer, keys };
        },
    ),
    bounds: { ...two(2, 1), decay: true },
    breaks: /^I(6|10)/,
  },

  'a marker that is gone is written again without a look at the owner': {
    programs: inPhases(
      ['mark', 'complete'],
      (plan) =>
        function* blind(op) {
          return isCurrentGet(op) ? mineAnswer(plan.generation, plan.me) : yield op;
        },
    ),
    bounds: { ...two(1, 3, { keep: 0, losses: 1, delays: 1 }), future: true },
    breaks: /^L2/,
  },

  'a sink that looks only at the newest commit': {
    programs: { ...PROGRAMS, takes: (epoch, lastEpoch) => epoch !== lastEpoch },
    bounds: two(2, 2, { delays: 1 }),
    breaks: /^I[25]/,
  },

  'a sink that takes every call': {
    programs: { ...PROGRAMS, takes: () => true },
    bounds: two(1, 1),
    breaks: /^I5/,
  },
};
