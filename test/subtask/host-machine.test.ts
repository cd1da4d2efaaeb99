/** The host's machine alone: who may command it, what it refuses, how it fails. */
import { describe, expect, test } from 'vitest';
import { must } from '../../src/base/assert.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import type {
  CommandEnvelope,
  GenerationSpec,
  HostCommand,
  RuntimeSettings,
} from '../../src/protocol/messages.ts';
import { InputChannel } from '../../src/subtask/input-channel.ts';
import type { HostEffect, HostStep } from '../../src/subtask/host-events.ts';
import { HostMachine } from '../../src/subtask/host-machine.ts';
import { TEST_SETTINGS } from '../harness/cluster.ts';

const SQL = `CREATE TABLE n WITH (connector = 'impulse', event_rate = 1000, message_count = 5000);
CREATE TABLE out WITH (connector = 'r2', path = 'out', format = 'json', type = 'sink');
INSERT INTO out SELECT counter, count(*) AS n FROM n GROUP BY counter, tumble(interval '1 hour');`;

function specOf(parallelism: number, settings: Partial<RuntimeSettings> = {}): GenerationSpec {
  const { graph, errors } = planSql(SQL, DECLARATIONS, { defaultSink: 'preview' });
  return {
    protocol: 1,
    pipelineId: 'pl',
    jobId: 'job',
    name: 'test',
    generation: 4,
    graph: must(graph, JSON.stringify(errors)),
    parallelism,
    checkpointIntervalMs: 1_000,
    settings: { ...TEST_SETTINGS, ...settings },
    pipelineCreatedMs: 0,
    reason: 'test',
    reset: false,
    codeVersion: 'test',
  };
}

let sequence = 0;

function command(
  machine: HostMachine,
  body: HostCommand,
  change: Partial<CommandEnvelope> = {},
): HostStep {
  const envelope: CommandEnvelope = {
    pipelineId: 'pl',
    generation: 4,
    leader: 'L1',
    leaderStart: 1,
    host: 'H',
    sequence: sequence++,
    command: body,
    ...change,
  };
  return machine.handle({ tag: 'command', envelope, requestId: 1 }, 1_000);
}

const answerOf = (step: HostStep): unknown =>
  step.effects.flatMap((effect) => (effect.tag === 'answer' ? [effect.answer.tag] : []))[0];

const reportsOf = (step: HostStep): string[] =>
  step.effects.flatMap((effect) => (effect.tag === 'report' ? [effect.report.tag] : []));

function deployed(parallelism = 1, settings: Partial<RuntimeSettings> = {}): HostMachine {
  const machine = new HostMachine('H');
  const step = command(
    machine,
    { tag: 'deploy', spec: specOf(parallelism, settings), index: 0, checkpoint: null },
    { host: null },
  );
  expect(answerOf(step)).toBe('accepted');
  expect(reportsOf(step)).toContain('deployed');
  return machine;
}

const delivery = (fromHost: string, first: number): Parameters<HostMachine['handle']>[0] => ({
  tag: 'delivery',
  requestId: 9,
  delivery: {
    pipelineId: 'pl',
    generation: 4,
    edge: must(
      specOf(2).graph.edges.find((edge) => edge.kind === 'shuffle'),
      'shuffle edge',
    ).id,
    from: 1,
    to: 0,
    fromHost,
    sequence: first,
    frames: [{ tag: 'watermark', value: 5 }],
  },
});

const deliveryAnswer = (effects: readonly HostEffect[]): string | undefined =>
  effects.flatMap((effect) => (effect.tag === 'answer-delivery' ? [effect.answer.tag] : []))[0];

describe('who may command a host', () => {
  test('a host that was never deployed says that it is another incarnation', () => {
    expect(answerOf(command(new HostMachine('H'), { tag: 'begin' }))).toBe('unknown-incarnation');
  });

  test('a command for another incarnation or generation has no effect', () => {
    const machine = deployed();
    expect(answerOf(command(machine, { tag: 'begin' }, { host: 'old' }))).toBe(
      'unknown-incarnation',
    );
    expect(answerOf(command(machine, { tag: 'begin' }, { generation: 5 }))).toBe(
      'unknown-incarnation',
    );
    expect(machine.phase).toBe('ready');
  });

  test('only the leader it follows is obeyed, and a resumed leader is followed once it adopts', () => {
    const machine = deployed();
    expect(answerOf(command(machine, { tag: 'begin' }, { leader: 'L2' }))).toBe('stale-leader');
    expect(
      reportsOf(command(machine, { tag: 'adopt', drained: false }, { leader: 'L2' })),
    ).toContain('deployed');
    expect(answerOf(command(machine, { tag: 'begin' }, { leader: 'L2' }))).toBe('accepted');
    expect(answerOf(command(machine, { tag: 'stop', mode: 'immediate' }, { leader: 'L1' }))).toBe(
      'stale-leader',
    );
    expect(machine.phase).toBe('running');
  });

  test('a stopped host is no use to a leader that resumes, and says so', () => {
    const machine = deployed();
    expect(reportsOf(command(machine, { tag: 'stop', mode: 'immediate' }))).toEqual(['stopped']);
    expect(answerOf(command(machine, { tag: 'stop', mode: 'immediate' }))).toBe('accepted');
    expect(answerOf(command(machine, { tag: 'adopt', drained: false }))).toBe(
      'unknown-incarnation',
    );
  });
});

describe('what a host takes from other hosts', () => {
  test('frames in order and without gap; what it has taken in already is only answered again', () => {
    const machine = deployed(2);
    expect(deliveryAnswer(machine.handle(delivery('P', 0), 1_000).effects)).toBe('accepted');
    expect(deliveryAnswer(machine.handle(delivery('P', 2), 1_000).effects)).toBe('refused');
    expect(deliveryAnswer(machine.handle(delivery('P', 0), 1_000).effects)).toBe('accepted');
    expect(deliveryAnswer(machine.handle(delivery('P', 1), 1_000).effects)).toBe('accepted');
  });

  test('a delivery that repeats a part of what was taken in is refused', () => {
    const channel = new InputChannel('e', 1, 0);
    const frame = { tag: 'watermark', value: 1 } as const;
    const send = (sequence: number, frames: number): string | undefined =>
      channel.receive(
        {
          pipelineId: 'pl',
          generation: 1,
          edge: 'e',
          from: 1,
          to: 0,
          fromHost: 'P',
          sequence,
          frames: Array.from({ length: frames }, () => frame),
        },
        1,
      )?.tag;
    expect([send(0, 2), send(0, 2), send(1, 2), send(0, 3), send(2, 1)]).toEqual([
      'accepted',
      'accepted',
      'refused',
      'refused',
      'accepted',
    ]);
    const taken: unknown[] = [];
    while (!channel.empty) taken.push(channel.shift());
    expect(taken).toHaveLength(3);
  });

  test('frames of a host that was created again fail the generation', () => {
    const machine = deployed(2);
    machine.handle(delivery('P', 0), 1_000);
    const step = machine.handle(delivery('Q', 1), 1_000);
    expect(reportsOf(step)).toEqual(['failed']);
    expect(machine.phase).toBe('stopped');
  });

  test('a peer that is not the one the leader names fails the generation', () => {
    const machine = deployed(2);
    machine.handle(delivery('P', 0), 1_000);
    expect(reportsOf(command(machine, { tag: 'begin', hosts: ['H', 'other'] }))).toEqual([
      'failed',
    ]);
  });
});

describe('how a host fails', () => {
  test('state beyond the budget ends in an error that names the operator and the way out', () => {
    const machine = deployed(1, { stateBytesMax: 20_000 });
    command(machine, { tag: 'begin' });
    const failures: HostEffect[] = [];
    for (let at = 2_000; at < 20_000 && failures.length === 0; at += 200) {
      const { effects } = machine.handle({ tag: 'run' }, at);
      failures.push(
        ...effects.filter((effect) => effect.tag === 'report' && effect.report.tag === 'failed'),
      );
    }
    const [failure] = failures;
    if (failure?.tag !== 'report' || failure.report.tag !== 'failed') throw new Error('no failure');
    expect(failure.report.report.code).toBe('STATE_TOO_LARGE');
    expect(failure.report.report.retry).toBe('never');
    expect(failure.report.report.detail).toContain('window-aggregate');
    expect(failure.report.report.hint).toContain('parallelism');
  });

  test('an effect that failed for good is reported once, and the host does nothing more', () => {
    const machine = deployed();
    command(machine, { tag: 'begin' });
    machine.handle({ tag: 'run' }, 2_000);
    command(machine, { tag: 'barrier', epoch: 2, attempt: 1, stopping: false });
    const step = machine.handle({ tag: 'run' }, 2_000);
    const put = step.effects.find((effect) => effect.tag === 'put-file');
    if (put?.tag !== 'put-file') throw new Error('no state file');
    const report = {
      code: 'STORE_FAILED',
      domain: 'external',
      retry: 'backoff',
      message: 'no',
    } as const;
    expect(
      reportsOf(machine.handle({ tag: 'effect-failed', requestId: put.requestId, report }, 2_000)),
    ).toEqual(['failed']);
    expect(machine.handle({ tag: 'run' }, 3_000)).toMatchObject({ effects: [], busy: false });
  });

  test('a checkpoint is reported only when its last state file is stored', () => {
    const machine = deployed();
    command(machine, { tag: 'begin' });
    machine.handle({ tag: 'run' }, 2_000);
    const cut = command(machine, { tag: 'barrier', epoch: 2, attempt: 1, stopping: false });
    expect(reportsOf(cut)).not.toContain('checkpointed');
    expect(cut.cut).toBe(true);
    const encoded = machine.handle({ tag: 'run' }, 2_000);
    expect(reportsOf(encoded)).not.toContain('checkpointed');
    const put = encoded.effects.find((effect) => effect.tag === 'put-file');
    if (put?.tag !== 'put-file') throw new Error('no state file');
    expect(reportsOf(machine.handle({ tag: 'run' }, 2_010))).not.toContain('checkpointed');
    expect(
      reportsOf(machine.handle({ tag: 'file-put', requestId: put.requestId }, 2_020)),
    ).toContain('checkpointed');
  });
});
