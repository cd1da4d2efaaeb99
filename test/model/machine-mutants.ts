/**
 * The leader with one guard removed, by wrapping the product's step and workflows; each with bounds and the rules that break.
 */
import type { LeaderEvent } from '../../src/leader/interface.ts';
import { stepLeader } from '../../src/leader/leader.ts';
import { contentOf } from '../../src/leader/opening.ts';
import type { LeaderState } from '../../src/leader/state.ts';
import { currentGenerationCodec } from '../../src/lineage/codec.ts';
import type { Lineage } from '../../src/lineage/store.ts';
import { PATHS } from '../harness/lineage-leader.ts';
import type { MachineExploration } from './machine-explorer.ts';
import { MACHINE, workflowOf } from './machine.ts';
import type { MachinePrograms } from './machine.ts';

type Stepped = ReturnType<typeof stepLeader>;
export type MachineMutant = {
  programs: MachinePrograms;
  bounds: MachineExploration;
  breaks: RegExp;
};

function stepping(
  change: (stepped: Stepped, event: LeaderEvent, before: LeaderState) => Stepped,
): MachinePrograms {
  return {
    ...MACHINE,
    step: (state, event) => change(stepLeader(state, event), event, state),
  };
}

/** Goes to the marker at once, though acknowledgements are missing. */
function marked({ state, effects }: Stepped): Stepped {
  if (state.activity.tag !== 'committing' || state.tip === null) return { state, effects };
  const id = state.lastOperationId + 1;
  const operation = { tag: 'complete-commit', tip: state.tip } as const;
  const { deadlineMs } = state.activity;
  return {
    state: {
      ...state,
      lastOperationId: id,
      activity: { tag: 'storing', id, operation, deadlineMs, retryAtMs: null },
    },
    effects: [...effects, { tag: 'lineage', id, operation }],
  };
}

const one: MachineExploration = { parallelism: [1], rows: 1, keep: 5, faults: {} };
const both: MachineExploration = { parallelism: [2, 2], rows: 1, keep: 5, faults: {} };

export const MACHINE_MUTANTS: Record<string, MachineMutant> = {
  'the marker waits for the first acknowledgement only': {
    programs: stepping((stepped, event) =>
      event.tag === 'report' && event.envelope.report.tag === 'committed'
        ? marked(stepped)
        : stepped,
    ),
    bounds: { ...both, parallelism: [2] },
    breaks: /^I4/,
  },

  'a stop during a commit or redo marks it': {
    programs: stepping((stepped, event) => (event.tag === 'stop' ? marked(stepped) : stepped)),
    bounds: { ...both, faults: { stops: 1 }, stopModes: ['checkpoint'] },
    breaks: /^I4/,
  },

  'a stop during a redo ends it as stopped': {
    programs: stepping((stepped, event) => {
      const { state } = stepped;
      if (event.tag !== 'stop' || state.activity.tag !== 'committing') return stepped;
      const outcome = { tag: 'stopped', epoch: state.epoch } as const;
      return {
        ...stepped,
        state: { ...state, phase: 'ended', outcome, activity: { tag: 'none' } },
      };
    }),
    bounds: { ...both, faults: { stops: 1 }, stopModes: ['checkpoint'] },
    breaks: /^I4/,
  },

  'sources begin before the redo': {
    programs: stepping(({ state, effects }) => ({
      state,
      effects: effects.flatMap((effect) => {
        if (effect.tag !== 'send' || effect.envelope.command.tag !== 'commit' || state.begun)
          return [effect];
        const command = { tag: 'begin' } as const;
        return [{ ...effect, envelope: { ...effect.envelope, command } }, effect];
      }),
    })),
    bounds: { ...both, parallelism: [1, 1] },
    breaks: /^I12/,
  },

  'hosts are not deployed again when the tip has changed under them': {
    programs: stepping((stepped, event) => {
      const { state } = stepped;
      const adopted =
        event.tag === 'lineage-done' &&
        event.result.tag === 'fence' &&
        event.result.outcome.tag === 'adopted';
      if (!adopted || state.tip === null || state.activity.tag !== 'deploying') return stepped;
      const hosts = state.hosts.map((host) => ({ ...host, ready: true }));
      const restoredFrom = contentOf(state.tip);
      const waiting = { ...state, hosts, restoredFrom, activity: { tag: 'none' } as const };
      const effects = stepped.effects.filter(
        (effect) => effect.tag !== 'send' || effect.envelope.command.tag !== 'deploy',
      );
      const next = stepLeader(waiting, { tag: 'tick', nowMs: 0 });
      return { state: next.state, effects: [...effects, ...next.effects] };
    }),
    bounds: { ...both, parallelism: [1, 1] },
    breaks: /^I(5|6|12)/,
  },

  'a barrier does not wait until hosts know that the last checkpoint is settled': {
    programs: stepping((stepped) => {
      const { state, effects } = stepped;
      const hosts = state.hosts.map((host) => ({ ...host, settling: null }));
      if (state.activity.tag !== 'settling') return { effects, state: { ...state, hosts } };
      const hasty: LeaderState = { ...state, hosts, activity: { tag: 'none' } };
      const next = stepLeader(hasty, { tag: 'tick', nowMs: 0 });
      return { state: next.state, effects: [...effects, ...next.effects] };
    }),
    bounds: { ...one, rows: 2 },
    breaks: /^I5/,
  },

  'a resumed leader settles the epoch of the fence, not that of its data': {
    programs: stepping(({ state, effects }) => ({
      state,
      effects: effects.map((effect) => {
        if (effect.tag !== 'send' || effect.envelope.command.tag !== 'settled') return effect;
        const epoch = state.tip?.epoch ?? 0;
        const command = { tag: 'settled', epoch, attempt: 3 } as const;
        return { ...effect, envelope: { ...effect.envelope, command } };
      }),
    })),
    bounds: { ...one, rows: 3, faults: { resets: 1 } },
    breaks: /^I5/,
  },

  'hosts forget what they have cut when any checkpoint is settled': {
    programs: { ...MACHINE, hosts: { forgets: () => true } },
    bounds: { ...one, rows: 2, faults: { resets: 1 } },
    breaks: /^I5/,
  },

  'hosts forget nothing when a checkpoint is settled': {
    programs: { ...MACHINE, hosts: { forgets: () => false } },
    bounds: { ...one, rows: 2 },
    breaks: /^I5/,
  },

  'a resumed leader does not fence again': {
    programs: stepping((stepped, event, before) => {
      const opened = event.tag === 'lineage-done' && event.result.tag === 'open';
      if (!opened || !before.begun) return stepped;
      return stepLeader({ ...before, fenced: true }, event);
    }),
    bounds: { ...one, rows: 2, faults: { resets: 1 } },
    breaks: /^I12/,
  },

  'a hole is not looked at again when the own floor has moved': {
    programs: {
      ...MACHINE,
      workflow: (ctx, operation) =>
        operation.tag === 'open' ? pinned(workflowOf(ctx, operation)) : workflowOf(ctx, operation),
    },
    bounds: { ...one, keep: 0, faults: { resets: 1 } },
    breaks: /^LINEAGE_BROKEN/,
  },
};

/** Once records are listed, O1's floor stays what it was before. */
function* pinned<T>(workflow: Lineage<T>): Lineage<T> {
  let floor: number | null = null;
  let listed = false;
  let next = workflow.next();
  while (next.done !== true) {
    const op = next.value;
    const answer = yield op;
    listed ||= op.op === 'list';
    if (op.op !== 'get' || op.key !== PATHS.current || answer.tag !== 'found') {
      next = workflow.next(answer);
      continue;
    }
    const read = currentGenerationCodec.decode(answer.body);
    if (read.tag === 'broken') throw new Error(read.message);
    if (!listed || floor === null) floor = read.value.floor;
    const body = currentGenerationCodec.encode({ ...read.value, floor });
    next = workflow.next({ ...answer, body });
  }
  return next.value;
}
