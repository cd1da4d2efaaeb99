/** One sentence per behaviour: every phase against loss, reset, deadline, stop and fencing; duplicates; stops; bounds. */
import { describe, expect, test } from 'vitest';
import { nextEpoch } from '../../src/leader/epochs.ts';
import { LeaderScript } from '../harness/leader-script.ts';

/** Directives that bring a new leader into each situation. `redoing` and later start from an uncommitted tip of epoch 5. */
const DEPLOYED = 'start p=2\nopened epoch=5 generation=1 uncommitted items=a:1,b:1\ndeployed all';
const REDONE = `${DEPLOYED}\ncommitted 0 sinks=a\ncommitted 1 sinks=b\nmarked`;
const RUNNING = `${REDONE}\nbegun`;
const COLLECTED = `${RUNNING}\nafter 10\ncheckpointed all epoch=7 items=a:1`;
const SITUATIONS: Record<string, { script: string; epoch: number }> = {
  opening: { script: 'start p=2', epoch: 0 },
  deploying: {
    script: 'start p=2\nopened epoch=5 generation=1 uncommitted items=a:1,b:1',
    epoch: 5,
  },
  redoing: { script: DEPLOYED, epoch: 5 },
  'marking the redo': { script: `${DEPLOYED}\ncommitted 0 sinks=a\ncommitted 1 sinks=b`, epoch: 5 },
  fencing: { script: REDONE, epoch: 5 },
  running: { script: RUNNING, epoch: 6 },
  collecting: { script: `${RUNNING}\nafter 10`, epoch: 6 },
  publishing: { script: COLLECTED, epoch: 6 },
  committing: { script: `${COLLECTED}\ncanonical`, epoch: 7 },
  marking: { script: `${COLLECTED}\ncanonical\ncommitted 0 sinks=a`, epoch: 7 },
};
const NAMES = Object.keys(SITUATIONS);
const BEGUN = ['running', 'collecting', 'publishing', 'committing', 'marking'];

function at(name: string): LeaderScript {
  const script = new LeaderScript();
  script.run(SITUATIONS[name]?.script ?? '');
  return script;
}

function failure(script: LeaderScript): string {
  return script.outcome?.tag === 'failed'
    ? script.outcome.report.code
    : `outcome ${script.outcome?.tag}`;
}

/** Answers whatever a leader that has been stopped waits for, until it ends. */
function finish(script: LeaderScript): void {
  for (let turn = 0; turn < 20 && script.outcome === null; turn++) {
    const { activity } = script.state;
    const { epoch } = script.state;
    if (activity.tag === 'deploying') script.run('deployed all');
    else if (activity.tag === 'committing')
      for (const { sink, index } of activity.missing)
        script.run(`committed ${index} sinks=${sink}`);
    else if (activity.tag === 'collecting') script.run(`checkpointed all epoch=${epoch + 1}`);
    else if (activity.tag === 'stopping-hosts') script.run('stopped 0\nstopped 1');
    else if (activity.tag === 'storing') {
      const answer = {
        open: 'opened epoch=5 generation=1 uncommitted items=a:1,b:1',
        fence: 'begun',
        publish: 'canonical',
        'complete-commit': 'marked',
        collect: '',
      };
      script.run(answer[activity.operation.tag]);
    }
  }
}

describe('a lost host', () => {
  test.each(NAMES.filter((name) => name !== 'opening'))('fails the generation while %s', (name) => {
    const script = at(name);
    const effects = script.run('host-lost 1');
    expect(failure(script)).toBe('HOST_LOST');
    expect(effects[0]).toMatch(/^persist ended/);
    expect(effects.slice(-2)).toEqual(['nudge', 'ended']);
  });

  test('that was never spoken to is nobody to lose', () => {
    const script = at('opening');
    script.run('host-lost 1');
    expect(script.outcome).toBeNull();
  });

  test.each(BEGUN)('is noticed by its new incarnation while %s', (name) => {
    const script = at(name);
    script.run('deployed 1 host=h7');
    expect(failure(script)).toBe('HOST_LOST');
  });

  test('is noticed by its answer', () => {
    const script = at('running');
    script.run('answer 0 unknown-incarnation');
    expect(failure(script)).toBe('HOST_LOST');
  });

  test('is noticed by its silence, and not earlier', () => {
    const script = at('running');
    script.run('after 9\nheartbeat 0\nafter 9\nheartbeat 0\nafter 9\nheartbeat 0');
    expect(script.outcome).toBeNull();
    script.run('after 3');
    expect(script.outcome).toMatchObject({
      tag: 'failed',
      report: { code: 'HOST_LOST', message: 'host 1 was lost: silent for 30000 ms' },
    });
  });

  test('is not suspected by a leader whose own alarm was late', () => {
    const script = at('running');
    script.run('after 300');
    expect(script.outcome).toBeNull();
  });

  test('that is being stopped counts as stopped', () => {
    const script = at('running');
    script.run('stop checkpoint\ncheckpointed all epoch=7\ncanonical\nstopped 0\nhost-lost 1');
    expect(script.outcome).toEqual({ tag: 'stopped', epoch: 7 });
  });
});

describe('a failed host', () => {
  test.each([['never'], ['']])('ends the generation with its own report (%s)', (retry) => {
    const script = at('committing');
    script.run(`failed 1 ${retry}`);
    const wanted = retry === 'never' ? 'never' : 'backoff';
    expect(script.outcome).toMatchObject({
      tag: 'failed',
      report: { code: 'SINK_FAILED', retry: wanted },
    });
    expect(script.status.errors).toMatchObject([
      { operator: 'sink-1', subtask: 1, code: 'SINK_FAILED' },
    ]);
  });
});

describe('a reset leader', () => {
  test.each(NAMES)('opens the lineage again when it was %s', (name) => {
    const script = at(name);
    const effects = script.run('wake');
    expect(effects.filter((effect) => effect.startsWith('lineage'))).toEqual(['lineage open']);
    expect(script.state.phase).toBe('opening');
    const adopted = effects.filter((effect) => effect.includes('adopt'));
    expect(adopted.length).toBe(BEGUN.includes(name) ? 2 : 0);
  });

  test.each(BEGUN)('costs no generation when it was %s', (name) => {
    const script = at(name);
    script.run('wake\nopened epoch=6 generation=2\ndeployed all\nbegun\nafter 10');
    expect(script.outcome).toBeNull();
    expect(script.sent('barrier').at(-1)?.envelope.command).toMatchObject({ epoch: 8, attempt: 1 });
    expect(script.sent('deploy').length).toBe(2);
  });

  test.each(NAMES.filter((name) => !BEGUN.includes(name)))(
    'deploys afresh when it was %s',
    (name) => {
      const script = at(name);
      const before = script.sent('deploy').length;
      script.run('wake\nopened epoch=5 generation=1');
      expect(script.sent('deploy').length).toBe(before + 2);
      expect(script.sent('deploy').at(-1)?.envelope).toMatchObject({ leader: 'l2', host: null });
    },
  );

  test('loses the generation when a host is another one by then', () => {
    const script = at('running');
    script.run('wake\nanswer 1 unknown-incarnation');
    expect(failure(script)).toBe('HOST_LOST');
  });

  test('adopts a checkpoint of its own generation without deploying', () => {
    const script = at('publishing');
    script.run(
      'wake\ndeployed all\nopened epoch=6 generation=2\nadopted epoch=7 generation=2 uncommitted items=a:1\ncommitted 0 sinks=a\nmarked\nbegun',
    );
    expect(script.state.phase).toBe('running');
    expect(script.sent('deploy').length).toBe(2);
    expect(script.sent('settled').at(-1)?.envelope.command).toEqual({
      tag: 'settled',
      epoch: 7,
      attempt: 1,
    });
  });

  test.each(NAMES)('still knows that it was told to stop while %s', (name) => {
    const script = at(name);
    script.run('stop checkpoint n1\nwake');
    if (BEGUN.includes(name)) script.run('deployed all\nopened epoch=6 generation=2');
    finish(script);
    expect(script.outcome?.tag).toBe('stopped');
    expect(script.status.stopNonce).toBe('n1');
  });

  test('that was only letting its hosts go ends as it was going to', () => {
    const script = at('running');
    script.run('stop checkpoint\ncheckpointed all epoch=7\ncanonical');
    expect(script.outcome).toBeNull();
    expect(script.run('wake').slice(-2)).toEqual(['nudge', 'ended']);
    expect(script.outcome).toEqual({ tag: 'stopped', epoch: 7 });
  });

  test('that had ended stays ended', () => {
    const script = at('running');
    script.run('stop immediate');
    expect(script.run('wake')).toEqual([]);
    expect(script.outcome).toEqual({ tag: 'stopped', epoch: 6 });
    expect(script.run('start p=2')).toEqual([]);
    expect(script.run('heartbeat 0')).toEqual(['reply stale']);
  });
});

describe('a deadline', () => {
  test.each([
    ['opening', 60, 'STORE_FAILED'],
    ['deploying', 60, 'START_TIMEOUT'],
    ['redoing', 120, 'COMMIT_TIMEOUT'],
    ['fencing', 60, 'STORE_FAILED'],
    ['publishing', 60, 'STORE_FAILED'],
    ['committing', 120, 'COMMIT_TIMEOUT'],
    ['marking', 120, 'STORE_FAILED'],
  ])('fails the generation that is %s for %i s', (name, seconds, code) => {
    const script = at(name);
    const beats = script.state.hosts[0]?.ready ? 'heartbeat all\n' : '';
    for (let passed = 0; passed < seconds - 5; passed += 5) script.run(`${beats}after 5`);
    expect(script.outcome).toBeNull();
    script.run(`${beats}after 5`);
    expect(failure(script)).toBe(code);
  });

  test('is kept without an alarm too, by whatever comes instead', () => {
    const script = at('running');
    expect(script.run('pass 10\nheartbeat 0').slice(0, 2)).toEqual([
      expect.stringContaining('send 0 barrier 7.1'),
      expect.stringContaining('send 1 barrier 7.1'),
    ]);
    for (let passed = 0; passed < 60; passed += 5) script.run('pass 5\nheartbeat 0\nheartbeat 1');
    expect(script.sent('barrier').at(-1)?.envelope.command).toMatchObject({ epoch: 7, attempt: 2 });
  });

  test('is kept when the alarm comes early: it asks for another', () => {
    const script = at('running');
    expect(script.run('after 9.999')).toEqual([expect.stringMatching(/^wake-at \+1 ms/)]);
    expect(script.run('after 0.001')[0]).toContain('barrier');
  });

  test('supersedes a checkpoint attempt twice and then fails the generation', () => {
    const script = at('collecting');
    for (let passed = 0; passed < 175; passed += 5) script.run('heartbeat all\nafter 5');
    const attempts = script
      .sent('barrier')
      .map(({ envelope }) => envelope.command.tag === 'barrier' && envelope.command.attempt);
    expect(attempts).toEqual([1, 1, 2, 2, 3, 3]);
    expect(script.outcome).toBeNull();
    script.run('heartbeat all\nafter 5');
    expect(failure(script)).toBe('CHECKPOINT_TIMEOUT');
  });
});

describe('a stop with a checkpoint', () => {
  test.each(NAMES)('arrives at a committed checkpoint when it comes while %s', (name) => {
    const script = at(name);
    script.run('stop checkpoint n1');
    finish(script);
    expect(script.outcome?.tag).toBe('stopped');
    expect(script.status.committedEpoch).toBe(script.status.epoch);
  });

  test('needs no deployment when the tip is committed', () => {
    const script = at('opening');
    script.run('stop checkpoint\nopened epoch=5 generation=1');
    expect(script.outcome).toEqual({ tag: 'stopped', epoch: 5 });
    expect(script.sent('deploy')).toEqual([]);
  });

  test('asked for twice is the same', () => {
    const script = at('collecting');
    script.run('stop checkpoint n1');
    expect(script.run('stop checkpoint n1')).toEqual([]);
  });

  test('lets a second stop take no milder course', () => {
    const script = at('collecting');
    script.run('stop graceful n1\nstop checkpoint n2');
    expect(script.state.stop).toEqual({ mode: 'graceful', nonce: 'n2' });
  });

  test('of a leader that was never started keeps a late start from running', () => {
    const script = new LeaderScript();
    script.run('stop checkpoint n1');
    expect(script.outcome).toEqual({ tag: 'stopped', epoch: 0 });
    expect(script.run('start p=2')).toEqual([]);
  });
});

describe('a graceful stop', () => {
  test('waits for the running checkpoint and for what is in flight, but takes no other checkpoint', () => {
    const script = at('collecting');
    script.run('stop graceful\ncheckpointed all epoch=7\ncanonical\nstopped 0');
    expect(script.outcome).toBeNull();
    script.run('stopped 1');
    expect(script.outcome).toEqual({ tag: 'stopped', epoch: 7 });
    expect(script.sent('barrier').length).toBe(2);
  });

  test('does not wait for ever', () => {
    const script = at('running');
    script.run('stop graceful');
    for (let passed = 0; passed < 60; passed += 5) script.run('heartbeat all\nafter 5');
    expect(script.outcome).toEqual({ tag: 'stopped', epoch: 6 });
  });
});

describe('an immediate stop', () => {
  test.each(NAMES)('is immediate while %s', (name) => {
    const script = at(name);
    script.run('stop checkpoint n1\nstop immediate n2');
    expect(script.outcome).toEqual({ tag: 'stopped', epoch: SITUATIONS[name]?.epoch });
  });
});

describe('fencing', () => {
  test.each(['opening', 'fencing', 'publishing'])(
    'ends the generation silently while %s',
    (name) => {
      const script = at(name);
      const commits = script.sent('commit').length;
      const effects = script.run('fenced');
      expect(script.outcome).toEqual({ tag: 'fenced' });
      expect(
        effects
          .filter((effect) => effect.startsWith('send'))
          .every((effect) => effect.includes('stop immediate')),
      ).toBe(true);
      expect(script.sent('commit').length).toBe(commits);
    },
  );

  test('is also learnt by collecting garbage', () => {
    const script = at('marking');
    script.run('marked\ncollected fenced');
    expect(script.outcome).toEqual({ tag: 'fenced' });
  });

  test('by a newer start of the same leader is learnt from the lineage, when a host knows it', () => {
    const script = at('running');
    expect(script.run('answer 0 stale-leader sequence=9')).toEqual(['lineage open']);
    script.run('fenced');
    expect(script.outcome).toEqual({ tag: 'fenced' });
  });

  test('is not believed of a host that heard an older start late: the owner takes it back', () => {
    const script = at('collecting');
    script.run('answer 0 stale-leader sequence=9\nanswer 1 stale-leader sequence=9');
    expect(script.operation?.operation.tag).toBe('open');
    expect(script.sent('adopt')).toEqual([]);
    script.run('opened epoch=6 generation=2');
    expect(script.sent('adopt').length).toBe(2);
    script.run('answer 1 stale-leader sequence=4\ndeployed all\nbegun\nafter 10');
    expect(script.sent('barrier').at(-1)?.envelope.command).toMatchObject({ epoch: 8 });
    expect(script.sent('deploy').length).toBe(2);
  });

  test('is not looked for while an epoch may have been claimed', () => {
    const script = at('publishing');
    script.run('answer 0 stale-leader sequence=9');
    expect(script.operation?.operation.tag).toBe('publish');
    script.run('canonical');
    expect(script.operation?.operation.tag).toBe('open');
  });
});

describe('the lineage', () => {
  test.each(['opening', 'marking the redo', 'fencing', 'publishing', 'marking'])(
    'is asked again when the store was silent while %s',
    (name) => {
      const script = at(name);
      const operation = script.operation?.operation;
      expect(script.run('unavailable')).toEqual([expect.stringMatching(/^wake-at \+1000/)]);
      script.run('after 0.5');
      expect(script.operation).toBeNull();
      script.run('after 0.5');
      expect(script.operation).toMatchObject({ operation });
    },
  );

  test.each(['opening', 'fencing', 'publishing', 'marking'])(
    'that is broken needs a human while %s',
    (name) => {
      const script = at(name);
      script.run('broken');
      expect(script.outcome).toMatchObject({
        tag: 'failed',
        report: { code: 'LINEAGE_BROKEN', retry: 'never' },
      });
    },
  );

  test('that gave the epoch to another while it is ours costs the generation', () => {
    const script = at('publishing');
    script.run('lost-while-mine epoch=7');
    expect(script.outcome).toMatchObject({
      tag: 'failed',
      report: { code: 'INTERNAL', retry: 'backoff' },
    });
  });
});

describe('stale and repeated messages', () => {
  test.each(['generation=1', 'leader=l0', 'host=h9'])('of another %s change nothing', (other) => {
    const script = at('collecting');
    const before = JSON.stringify(script.state);
    expect(script.run(`checkpointed 0 epoch=7 ${other}`)).toEqual(['reply stale']);
    expect(JSON.stringify(script.state)).toBe(before);
  });

  test('a lower attempt, another epoch and a second report do not count', () => {
    const script = at('collecting');
    script.run(
      'checkpointed 0 epoch=7\ncheckpointed 0 epoch=7\ncheckpointed 1 epoch=6\ncheckpointed 1 epoch=7 attempt=2\ncheckpointed 1 epoch=7 attempt=0',
    );
    expect(script.state.activity.tag).toBe('collecting');
    script.run('checkpointed 1 epoch=7');
    expect(script.state.activity.tag).toBe('storing');
  });

  test('a repeated acknowledgement, one of another host and one of another epoch do not count', () => {
    const script = at('redoing');
    script.run(
      'committed 1 sinks=a\ncommitted 0 sinks=a epoch=4\ncommitted 0 sinks=b\ncommitted 1 sinks=b\ncommitted 1 sinks=b',
    );
    expect(script.state.activity).toMatchObject({
      tag: 'committing',
      missing: [{ sink: 'a', index: 0 }],
    });
  });

  test('a repeated `deployed` does not stand for a second deployment', () => {
    const script = at('deploying');
    script.run(
      'deployed 0 sequence=100\ndeployed 1 sequence=200\ncommitted 0 sinks=a\ncommitted 1 sinks=b\nmarked\nadopted epoch=6 generation=1',
    );
    script.run('deployed 0 sequence=100\ndeployed 1 sequence=200');
    expect(script.state.phase).toBe('deploying');
    script.run('deployed 0 sequence=101\ndeployed 1 sequence=201');
    expect(script.state.phase).toBe('fencing');
  });

  test('a repeated start is the same start', () => {
    const script = at('deploying');
    expect(script.run('start p=4')).toEqual([]);
    expect(script.state.hosts.length).toBe(2);
  });
});

describe('a checkpoint that is asked for', () => {
  test('begins at once when nothing is under way, and is like any other', () => {
    const script = at('running');
    expect(nextEpoch(script.state)).toBe(7);
    expect(script.run('flush').filter((effect) => effect.includes('barrier'))).toHaveLength(2);
    expect(nextEpoch(script.state)).toBe(7);
    script.run('checkpointed all epoch=7 items=a:1\ncanonical\ncommitted 0 sinks=a\nmarked');
    expect(script.status.recent.at(-1)).toMatchObject({ epoch: 7, kind: 'scheduled', attempt: 1 });
    expect(nextEpoch(script.state)).toBe(8);
  });

  test.each(['collecting', 'publishing', 'committing', 'marking'])(
    'is the one under way while %s, and no other follows it',
    (name) => {
      const script = at(name);
      expect(nextEpoch(script.state)).toBe(7);
      expect(script.run('flush\nflush')).toEqual([]);
      expect(nextEpoch(script.state)).toBe(7);
      expect(script.state.flushWanted).toBe(false);
    },
  );

  test('waits until hosts know that the last one is settled', () => {
    const script = at('marking');
    script.run('mute\nmarked');
    expect(script.state.activity.tag).toBe('settling');
    expect(script.run('flush').filter((effect) => effect.includes('barrier'))).toEqual([]);
    expect(nextEpoch(script.state)).toBe(8);
  });

  test.each(['opening', 'deploying', 'redoing', 'fencing'])(
    'does not come while %s: sources do not read',
    (name) => {
      const script = at(name);
      expect(nextEpoch(script.state)).toBeNull();
      expect(script.run('flush')).toEqual([]);
      expect(script.state.flushWanted).toBe(false);
    },
  );

  test('does not come once the generation has ended or lets its hosts go', () => {
    const script = at('running');
    script.run('stop checkpoint\ncheckpointed all epoch=7\ncanonical');
    expect(nextEpoch(script.state)).toBeNull();
    finish(script);
    expect(script.run('flush')).toEqual([]);
    expect(nextEpoch(script.state)).toBeNull();
  });
});

describe('bounded input', () => {
  test('is final only from a barrier that was sent after every host had drained', () => {
    const script = at('collecting');
    script.run('drained 0\ndrained 1\ncheckpointed all epoch=7 drained');
    expect(script.operation?.operation).toMatchObject({
      tag: 'publish',
      draft: { finished: false },
    });
    script.run('canonical\ncheckpointed all epoch=8 drained');
    expect(script.operation?.operation).toMatchObject({
      tag: 'publish',
      draft: { finished: true },
    });
    script.run('canonical');
    expect(script.outcome).toEqual({ tag: 'finished', epoch: 8 });
  });

  test('that was finished before is finished at once', () => {
    const script = new LeaderScript();
    script.run('start p=2\nopened epoch=5 generation=1 finished');
    expect(script.outcome).toEqual({ tag: 'finished', epoch: 5 });
    expect(script.sent('deploy')).toEqual([]);
  });

  test('that was finished but not committed is redone first', () => {
    const script = new LeaderScript();
    script.run(
      'start p=2\nopened epoch=5 generation=1 finished uncommitted items=a:1\ndeployed all\ncommitted 0 sinks=a',
    );
    expect(script.outcome).toBeNull();
    script.run('marked');
    expect(script.outcome).toEqual({ tag: 'finished', epoch: 5 });
  });

  test('that is stopped when drained is finished', () => {
    const script = at('running');
    script.run('drained 0\ndrained 1');
    finish(script);
    expect(script.outcome).toEqual({ tag: 'finished', epoch: 7 });
  });
});

describe('a reset of state', () => {
  test('that an earlier generation has honoured is not repeated', () => {
    const script = new LeaderScript();
    script.run('start p=1 reset reset-from=2\nopened epoch=9 generation=2\ndeployed 0');
    expect(script.operation?.operation).toMatchObject({ tag: 'fence', options: { reset: false } });
  });

  test('that no generation has honoured yet is due, even for a finished lineage', () => {
    const script = new LeaderScript();
    script.run('start p=1 reset reset-from=2\nopened epoch=9 generation=1 finished\ndeployed 0');
    expect(script.operation?.operation).toMatchObject({ tag: 'fence', options: { reset: true } });
    script.run('begun\ndeployed 0');
    expect(script.operation?.operation).toMatchObject({
      tag: 'fence',
      tip: { epoch: 10 },
      options: { reset: false },
    });
    script.run('begun\nafter 10');
    expect(script.sent('barrier')[0]?.envelope.command).toMatchObject({ epoch: 12 });
  });
});

describe('status', () => {
  test('shows the running checkpoint and remembers finished ones', () => {
    const script = at('collecting');
    script.run('checkpointed 0 epoch=7');
    expect(script.status.checkpoint).toMatchObject({
      epoch: 7,
      kind: 'scheduled',
      alignedMs: null,
      hosts: [{ index: 0 }],
    });
    script.run('checkpointed 1 epoch=7\ncanonical');
    expect(script.status.checkpoint).toBeNull();
    expect(script.status.recent).toMatchObject([
      { epoch: 7, alignedMs: 10_000, publishedMs: 10_000, committedMs: 10_000 },
    ]);
    expect(script.status).toMatchObject({
      generation: 2,
      phase: 'running',
      epoch: 7,
      committedEpoch: 7,
      runningSinceMs: 0,
    });
  });

  test('is plain JSON', () => {
    const { status } = at('committing');
    expect(JSON.parse(JSON.stringify(status))).toEqual(status);
  });
});
