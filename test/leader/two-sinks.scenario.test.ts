/** Scenario 26: two sinks in one pipeline, one of which fails in the middle of a commit. */
import { expect, test } from 'vitest';
import { LeaderScript } from '../harness/leader-script.ts';

/** Epoch 7 is canonical and waits for sink a on host 0 and sink b on host 1; a has answered. */
const HALF_COMMITTED = `start p=2
opened epoch=5 generation=1
deployed all
begun
after 10
checkpointed all epoch=7 items=a:1,b:1
canonical
committed 0 sinks=a`;

const marks = (effects: readonly string[]): string[] =>
  effects.filter((effect) => effect.startsWith('lineage complete-commit'));

test('26: the epoch stays open while one sink fails: no marker, no next epoch, and the generation ends with the reason', () => {
  for (const [failing, code] of [
    ['failed 1', 'SINK_FAILED'],
    ['after 121', 'COMMIT_TIMEOUT'],
  ] as const) {
    const script = new LeaderScript();
    expect(marks(script.run(HALF_COMMITTED))).toEqual([]);
    const barriers = script.sent('barrier').length;
    const effects = script.run(failing === 'after 121' ? heartbeats(121) : failing);
    expect(script.outcome).toMatchObject({ tag: 'failed', report: { code } });
    expect(marks(effects)).toEqual([]);
    expect(script.sent('barrier')).toHaveLength(barriers);
    expect(script.status.committedEpoch).toBe(6);
  }
});

/** Time passes and hosts are heard of. */
const heartbeats = (seconds: number): string =>
  Array.from({ length: seconds }, () => 'after 1\nheartbeat 0\nheartbeat 1').join('\n');

test('26: every later generation commits both sinks again, under any parallelism, until both have answered', () => {
  for (const parallelism of [1, 2, 4]) {
    for (let generation = 0; generation < 3; generation++) {
      const script = new LeaderScript();
      script.run(
        `start p=${parallelism}\nopened epoch=7 generation=2 uncommitted items=a:1,b:1\ndeployed all`,
      );
      const commits = script.sent('commit').map((effect) => effect.envelope.command);
      const sinks = commits.flatMap((command) =>
        command.tag === 'commit' ? command.items.map((item) => item.sink) : [],
      );
      expect(sinks.sort()).toEqual(['a', 'b']);
      const hostOfB = parallelism === 1 ? 0 : 1;
      const first = script.run('committed 0 sinks=a');
      expect(marks(first)).toEqual([]);
      expect(script.sent('begin')).toEqual([]);
      if (generation < 2) {
        script.run(`failed ${hostOfB}`);
        expect(script.outcome).toMatchObject({ tag: 'failed', report: { code: 'SINK_FAILED' } });
      } else {
        expect(marks(script.run(`committed ${hostOfB} sinks=b`))).toHaveLength(1);
        script.run('marked\nbegun');
        expect(script.sent('begin')).toHaveLength(parallelism);
      }
    }
  }
});
