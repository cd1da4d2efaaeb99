/** Scenarios whose level is the leader's reducer; numbers are those of the list of lineage scenarios. */
import { describe, expect, test } from 'vitest';
import { spreadItems } from '../../src/leader/commits.ts';
import type { SinkItem } from '../../src/lineage/types.ts';
import { LeaderScript, specFor, tipOf } from '../harness/leader-script.ts';

const REDOING = 'start p=2\nopened epoch=5 generation=1 uncommitted items=a:1,b:1\ndeployed all';
const RUNNING = `${REDOING}\ncommitted 0 sinks=a\ncommitted 1 sinks=b\nmarked\nbegun`;
const COMMITTING = `${RUNNING}\nafter 10\ncheckpointed all epoch=7 items=a:1,b:1\ncanonical`;

function play(text: string): LeaderScript {
  const script = new LeaderScript();
  script.run(text);
  return script;
}

/** Markers that were asked for. */
const marks = ({ effects }: LeaderScript): number =>
  effects.filter((effect) => effect.tag === 'lineage' && effect.operation.tag === 'complete-commit')
    .length;

test.each([
  [4, 2],
  [2, 4],
])(
  'scenario 19: items staged by %i hosts are all redone by %i, each once, and marked',
  (before, after) => {
    const items: SinkItem[] = ['a', 'b'].flatMap((sink) =>
      Array.from({ length: before }, (_, subtask) => ({
        sink,
        subtask,
        index: 0,
        payload: subtask,
      })),
    );
    const shares = spreadItems(items, after);
    expect(shares.every(({ index }) => index < after)).toBe(true);
    expect(shares.flatMap((share) => share.items).toSorted(byName)).toEqual(items.toSorted(byName));

    const script = play(
      `start p=${after}\nopened epoch=5 generation=1 uncommitted items=a:${before},b:${before}\ndeployed all`,
    );
    const sent = script.sent('commit');
    const names = sent.flatMap(({ envelope: { command } }) =>
      command.tag === 'commit' ? command.items.map((item) => `${item.sink}${item.index}`) : [],
    );
    expect(names.length).toBe(2 * before);
    expect(new Set(names).size).toBe(2 * before);
    expect(marks(script)).toBe(0);
    script.run('committed 0 sinks=a\ncommitted 1 sinks=b');
    expect(marks(script)).toBe(1);
  },
);

function byName(left: SinkItem, right: SinkItem): number {
  return left.sink < right.sink ? -1 : left.sink > right.sink ? 1 : left.subtask - right.subtask;
}

describe('scenario 20: a stop that arrives during the redo', () => {
  test.each(['checkpoint', 'graceful'])(
    'scenario 20: %s waits for every acknowledgement',
    (mode) => {
      const script = play(`${REDOING}\nstop ${mode}\ncommitted 0 sinks=a`);
      expect(marks(script)).toBe(0);
      expect(script.outcome).toBe(null);
      script.run('committed 1 sinks=b');
      expect(marks(script)).toBe(1);
      script.run('marked');
      expect(script.outcome).toEqual({ tag: 'stopped', epoch: 5 });
    },
  );

  test('scenario 20: immediate marks nothing, whatever is acknowledged later', () => {
    const script = play(`${REDOING}\nstop immediate\ncommitted 0 sinks=a\ncommitted 1 sinks=b`);
    expect(script.outcome).toMatchObject({ tag: 'stopped' });
    expect(marks(script)).toBe(0);
  });
});

test.each([
  ['is reset', 'host-lost 1'],
  ['is silent', 'heartbeat 0\nafter 1\n'.repeat(30)],
  ['comes back as another', 'deployed 1 host=h9'],
])(
  'scenario 21: a worker that %s during the redo is noticed and nothing is marked',
  (how, words) => {
    const script = play(`${REDOING}\ncommitted 0 sinks=a`);
    if (how === 'comes back as another') {
      // Before the sources have begun a new incarnation may restore; what it was told before it has not heard.
      script.run('answer 1 unknown-incarnation sequence=2');
    } else script.run(words);
    expect(script.outcome).toMatchObject({ tag: 'failed', report: { code: 'HOST_LOST' } });
    expect(marks(script)).toBe(0);
  },
);

test('scenario 22: a redo of items without payload waits for the sink all the same', () => {
  const script = play('start p=2\nopened epoch=5 generation=1 uncommitted items=a:1\ndeployed all');
  expect(script.sent('commit').length).toBe(1);
  script.run('after 1\nheartbeat all');
  expect(marks(script)).toBe(0);
  script.run('committed 0 sinks=a');
  expect(marks(script)).toBe(1);
});

test('scenario 23: sources are told to begin after the redo is marked and fenced, not before', () => {
  const script = play(REDOING);
  expect(script.sent('begin').length).toBe(0);
  for (const words of ['committed 0 sinks=a', 'committed 1 sinks=b', 'marked']) {
    script.run(words);
    expect(script.sent('begin').length, words).toBe(0);
  }
  script.run('begun');
  expect(script.sent('begin').length).toBe(2);
});

test('scenario 26: one of two sinks fails for good: no next epoch, and the next generation redoes both', () => {
  const script = play(`${COMMITTING}\ncommitted 0 sinks=a`);
  const barriers = script.sent('barrier').length;
  for (let minute = 0; minute < 60 && script.outcome === null; minute++)
    script.run('pass 1\nheartbeat all\nafter 1');
  expect(script.outcome).toMatchObject({ tag: 'failed', report: { code: 'COMMIT_TIMEOUT' } });
  expect(script.sent('barrier').length).toBe(barriers);
  expect(marks(script)).toBe(1);

  const next = play(
    'start p=2\nopened epoch=7 generation=1 uncommitted items=a:1,b:1\ndeployed all',
  );
  expect(next.sent('commit').length).toBe(2);
});

test('scenario 31: a stop while a checkpoint is in flight is followed by a final one of its own', () => {
  const script = play(`${RUNNING}\nafter 10\nstop checkpoint\ncheckpointed all epoch=7 items=a:1`);
  script.run('canonical\ncommitted 0 sinks=a\nmarked');
  expect(script.outcome).toBe(null);
  const last = script.sent('barrier').at(-1)?.envelope.command;
  expect(last).toMatchObject({ tag: 'barrier', epoch: 8, stopping: true });
  script.run('checkpointed all epoch=8\ncanonical\nstopped 0\nstopped 1');
  expect(script.outcome).toEqual({ tag: 'stopped', epoch: 8 });
});

test('scenario 32: fenced during the final checkpoint is fenced, never stopped', () => {
  const script = play(`${RUNNING}\nstop checkpoint\ncheckpointed all epoch=7 items=a:1\nfenced`);
  expect(script.outcome).toEqual({ tag: 'fenced' });
});

test('scenario 34: a bounded input ends with a final checkpoint that is committed before it is finished', () => {
  const script = play(`${RUNNING}\ndrained 0\nafter 10\ncheckpointed all epoch=7 items=a:1`);
  script.run('canonical\ncommitted 0 sinks=a\nmarked');
  // One host has an unbounded input: checkpoints go on.
  expect(script.outcome).toBe(null);
  script.run('drained 1\nafter 10');
  script.run('checkpointed all epoch=8 items=a:1\ncanonical');
  expect(script.outcome).toBe(null);
  script.run('committed 0 sinks=a');
  expect(script.outcome).toBe(null);
  script.run('marked');
  expect(script.outcome).toEqual({ tag: 'finished', epoch: 8 });
});

/** A leader that finds state of `operator` at the tip; its plan has an operator `sum`. */
function opens(operator: string, reset = false): LeaderScript {
  const script = new LeaderScript();
  const spec = specFor({ reset });
  const operators = [
    { id: 'sum', spec: { tag: 'window' } },
  ] as unknown as typeof spec.graph.operators;
  script.apply({ tag: 'start', nowMs: 0, spec: { ...spec, graph: { ...spec.graph, operators } } });
  const file = {
    operator,
    table: 'totals',
    subtask: 0,
    key: 'k',
    size: 1,
    hash: '0'.repeat(32),
    rows: 1,
    keyRange: { lower: 0, upper: 4294967296 },
    layer: 0,
  };
  const outcome = { tag: 'opened', tip: tipOf(5, 1, { files: [file] }), floor: 0 } as const;
  const id = script.operation?.id ?? 0;
  script.apply({ tag: 'lineage-done', nowMs: 0, id, result: { tag: 'open', outcome } });
  return script;
}

test('scenario 38: state of an operator that the plan does not have is refused before anything is changed', () => {
  const script = opens('top');
  expect(script.outcome).toMatchObject({
    tag: 'failed',
    report: { code: 'LINEAGE_BROKEN', retry: 'never' },
  });
  expect(script.sent('deploy').length).toBe(0);
  expect(script.sent('commit').length).toBe(0);
  const operations = script.effects.flatMap((each) =>
    each.tag === 'lineage' ? [each.operation.tag] : [],
  );
  expect(operations).toEqual(['open']);
});

test('scenario 38: a plan with the operators of the state takes it over, and its hash is recorded', () => {
  const script = opens('sum');
  expect(script.sent('deploy').length).toBe(2);
  script.run('deployed all');
  expect(script.operation?.operation).toMatchObject({
    tag: 'fence',
    options: { info: { planHash: 'plan' } },
  });
});

test('scenario 38: a restart without state may have any plan', () => {
  expect(opens('top', true).outcome).toBe(null);
});

test('scenario 46: a host that was created again fails the generation, and what it says counts for nothing', () => {
  const script = play(`${RUNNING}\nafter 10\ncheckpointed 0 epoch=7 items=a:1`);
  script.run('checkpointed 1 epoch=7 items=a:1 host=h9');
  expect(script.state.activity.tag).toBe('collecting');
  script.run('answer 1 unknown-incarnation sequence=9');
  expect(script.outcome).toMatchObject({ tag: 'failed', report: { code: 'HOST_LOST' } });
});

test('scenario 47: a leader that is reset in the middle of a commit completes it without another generation', () => {
  const script = play(`${COMMITTING}\ncommitted 0 sinks=a\nwake`);
  script.run('opened epoch=7 generation=2 uncommitted items=a:1,b:1\ndeployed all');
  expect(script.sent('deploy').length).toBe(2);
  script.run('committed 0 sinks=a\ncommitted 1 sinks=b\nmarked\nbegun');
  expect(script.outcome).toBe(null);
  expect(script.state).toMatchObject({ phase: 'running', committedEpoch: 8 });
});

test.each(['deployed', 'heartbeat', 'checkpointed', 'committed', 'stopped', 'failed', 'drained'])(
  'scenario 48: a late %s of another generation is ignored',
  (report) => {
    const script = play(`${RUNNING}\nafter 10`);
    const before = JSON.stringify(script.state);
    const effects = script.run(`${report} 0 generation=1 epoch=7 sinks=a`);
    expect(effects.join()).toContain('reply stale');
    expect(JSON.stringify(script.state)).toBe(before);
  },
);

test('scenario 49: a host that never answers costs the attempt; no attempt is used twice, the third fails', () => {
  const script = play(`${RUNNING}\nafter 10`);
  for (let second = 0; second < 4000 && script.outcome === null; second++)
    script.run('pass 1\nheartbeat all\nafter 0');
  expect(script.outcome).toMatchObject({ tag: 'failed', report: { code: 'CHECKPOINT_TIMEOUT' } });
  const attempts = script
    .sent('barrier')
    .filter(({ index }) => index === 0)
    .map(({ envelope: { command } }) => (command.tag === 'barrier' ? command.attempt : 0));
  expect(attempts).toEqual([1, 2, 3]);
});

test('crash point 11: a final checkpoint that is claimed and not committed is redone before it is stopped', () => {
  const script = play(`${RUNNING}\nstop checkpoint\ncheckpointed all epoch=7 items=a:1\ncanonical`);
  expect(script.outcome).toBe(null);
  script.run('wake\nopened epoch=7 generation=2 uncommitted items=a:1\ndeployed all');
  expect(script.outcome).toBe(null);
  expect(script.sent('commit').at(-1)?.envelope.command).toMatchObject({ epoch: 7 });
});

test('crash point 12: a leader that was retired says fenced, before and after a reset, never stopped', () => {
  const script = play(`${RUNNING}\nafter 10\ncheckpointed all epoch=7 items=a:1\nfenced`);
  expect(script.outcome).toEqual({ tag: 'fenced' });
  script.run('stop checkpoint\nwake\nstop immediate');
  expect(script.outcome).toEqual({ tag: 'fenced' });
});
