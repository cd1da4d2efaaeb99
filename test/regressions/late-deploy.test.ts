/**
 * A leader is reset while its first `deploy` is still on its way. The next start deploys and begins; then the late
 * `deploy` lands and takes the host back to where it began, so that rows are read twice. Found by the simulated
 * cluster (chaos-396: an answer came to a read that nobody had asked for).
 */
import { expect, test } from 'vitest';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { must } from '../../src/base/assert.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import type { CommandAnswer, GenerationSpec, HostCommand } from '../../src/protocol/messages.ts';
import { HostMachine } from '../../src/subtask/host-machine.ts';
import { TEST_SETTINGS } from '../harness/cluster.ts';

const SQL = `CREATE TABLE t (v BIGINT) WITH (connector = 'single_file', path = 'in', format = 'json', type = 'source');
CREATE TABLE s WITH (connector = 'r2', path = 'out', format = 'json', type = 'sink');
INSERT INTO s SELECT v FROM t;`;

const spec: GenerationSpec = {
  protocol: 1,
  pipelineId: 'pl',
  jobId: 'job',
  name: 'test',
  generation: 1,
  graph: must(planSql(SQL, DECLARATIONS, { defaultSink: 'preview' }).graph, 'graph'),
  parallelism: 1,
  checkpointIntervalMs: 1_000,
  settings: TEST_SETTINGS,
  pipelineCreatedMs: 0,
  reason: 'created',
  reset: false,
  codeVersion: 'test',
};

function send(
  machine: HostMachine,
  leaderStart: number,
  sequence: number,
  command: HostCommand,
): CommandAnswer['tag'] | undefined {
  const host = command.tag === 'deploy' ? null : 'H';
  const leader = `n${leaderStart}`;
  const envelope = {
    pipelineId: 'pl',
    generation: 1,
    leader,
    leaderStart,
    host,
    sequence,
    command,
  };
  const { effects } = machine.handle({ tag: 'command', envelope, requestId: 1 }, 0);
  return effects.flatMap((effect) => (effect.tag === 'answer' ? [effect.answer.tag] : []))[0];
}

const deploy: HostCommand = { tag: 'deploy', spec, index: 0, checkpoint: null };

test('a `deploy` of an earlier start of the leader has no effect on a host that has begun', () => {
  const machine = new HostMachine('H');
  expect(send(machine, 2, 1, deploy)).toBe('accepted');
  expect(send(machine, 2, 2, { tag: 'begin', hosts: ['H'] })).toBe('accepted');
  expect(send(machine, 1, 1, deploy)).toBe('stale-leader');
  expect(machine.phase).toBe('running');
  expect(machine.identity?.leader).toBe('n2');
});

test('a command that was sent ahead of the last deployment has no effect after it', () => {
  const machine = new HostMachine('H');
  expect(send(machine, 1, 3, deploy)).toBe('accepted');
  expect(send(machine, 1, 1, deploy)).toBe('stale-leader');
  expect(send(machine, 1, 2, { tag: 'begin', hosts: ['H'] })).toBe('stale-leader');
  expect(machine.phase).toBe('ready');
});

test('an earlier start that comes late does not take a host over', () => {
  const machine = new HostMachine('H');
  send(machine, 1, 1, deploy);
  send(machine, 1, 2, { tag: 'begin', hosts: ['H'] });
  expect(send(machine, 3, 1, { tag: 'adopt', drained: false })).toBe('accepted');
  expect(send(machine, 2, 1, { tag: 'adopt', drained: false })).toBe('stale-leader');
  expect(machine.identity?.leader).toBe('n3');
});
