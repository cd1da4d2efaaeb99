/**
 * The protocol with one thing removed.
 *
 * A mutant wraps the product's workflows, never changes them: it swallows, alters or fakes single requests and answers.
 * The model must find a violation in each, otherwise it would not notice if the product lost that thing.
 */
import { currentGenerationCodec } from '../../src/lineage/codec.ts';
import type { Lineage, StoreAnswer, StoreOp } from '../../src/lineage/store.ts';
import type { Incarnation } from '../../src/lineage/types.ts';
import { nextWork, PATHS } from '../harness/lineage-leader.ts';
import type { LeaderPlan, LeaderState, Work } from '../harness/lineage-leader.ts';
import { PROGRAMS } from './actors.ts';
import type { Programs } from './actors.ts';

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

export const MUTANTS: Record<string, Programs> = {
  'no verify after a claim': inPhases(
    ['publish'],
    (plan) =>
      function* blind(op) {
        return op.op === 'get' && op.key === PATHS.current
          ? mineAnswer(plan.generation, plan.me)
          : yield op;
      },
  ),

  'a claim that exists is taken for mine': inPhases(
    ['publish', 'fence'],
    () =>
      function* credulous(op) {
        const answer = yield op;
        const claim = op.op === 'put' && PATHS.parse(op.key)?.tag === 'record';
        return claim && answer.tag === 'refused' ? { tag: 'stored', etag: '' } : answer;
      },
  ),

  'deletes without moving the floor': inPhases(
    ['collect'],
    () =>
      function* floorless(op) {
        return isCurrentPut(op) ? { tag: 'stored', etag: '' } : yield op;
      },
  ),

  'the floor is overwritten': inPhases(['collect'], () => overwrite),

  'the acquisition is overwritten': inPhases(['open'], () => overwrite),

  'the allocation is overwritten': {
    ...PROGRAMS,
    allocate: (name, expected) => tampered(PROGRAMS.allocate(name, expected), overwrite),
  },

  'nothing is redone before the fence': {
    ...PROGRAMS,
    work(plan, state) {
      if (state.phase !== 'redo' || state.tip === null) return nextWork(plan, state);
      return nextWork(plan, { ...state, phase: 'fence', tip: { ...state.tip, committed: true } });
    },
  },

  'marked before the sink has answered': {
    ...PROGRAMS,
    work(plan, state) {
      return nextWork(plan, state.phase === 'redo' ? { ...state, phase: 'mark' } : state);
    },
  },

  'nothing listed is taken for a new lineage': inPhases(
    ['open'],
    () =>
      function* forgetful(op) {
        return op.op === 'list' ? { tag: 'keys', keys: [], truncated: false } : yield op;
      },
  ),
};
