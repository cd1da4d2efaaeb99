/** The host's machine and its sinks: what is staged is looked for before the checkpoint that names it is reported. */
import { expect, test } from 'vitest';
import { must } from '../../src/base/assert.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import type { HostCommand } from '../../src/protocol/messages.ts';
import type { HostEffect, HostEvent, HostStep } from '../../src/subtask/host-events.ts';
import { HostMachine } from '../../src/subtask/host-machine.ts';
import { TEST_SETTINGS } from '../harness/cluster.ts';

const SQL = `CREATE TABLE n WITH (connector = 'impulse', event_rate = 1000, message_count = 5000);
CREATE TABLE a WITH (connector = 'r2', path = 'a', format = 'json', type = 'sink');
CREATE TABLE b WITH (connector = 'single_file', path = 'b', format = 'json', type = 'sink');
INSERT INTO a SELECT counter FROM n;
INSERT INTO b SELECT counter FROM n;`;

class Host {
  readonly machine = new HostMachine('H');
  readonly effects: HostEffect[] = [];
  #sequence = 0;

  constructor() {
    const { graph, errors } = planSql(SQL, DECLARATIONS, { defaultSink: 'preview' });
    const spec = {
      protocol: 1,
      pipelineId: 'pl',
      jobId: 'job',
      name: 'test',
      generation: 4,
      graph: must(graph, JSON.stringify(errors)),
      parallelism: 1,
      checkpointIntervalMs: 1_000,
      settings: TEST_SETTINGS,
      pipelineCreatedMs: 0,
      reason: 'test',
      reset: false,
      codeVersion: 'test',
    } as const;
    this.command({ tag: 'deploy', spec, index: 0, checkpoint: null }, null);
    this.command({ tag: 'begin' });
    for (let ms = 2_000; ms < 2_500; ms += 50) this.feed({ tag: 'run' }, ms);
  }

  command(command: HostCommand, host: string | null = 'H'): void {
    const envelope = {
      pipelineId: 'pl',
      generation: 4,
      leader: 'L',
      leaderStart: 1,
      host,
      sequence: this.#sequence++,
      command,
    };
    this.feed({ tag: 'command', envelope, requestId: 1 }, 2_500);
  }

  barrier(attempt: number): void {
    this.command({ tag: 'barrier', epoch: 2, attempt, stopping: true });
  }

  feed(event: HostEvent, nowMs = 2_600): HostStep {
    const step = this.machine.handle(event, nowMs);
    this.effects.push(...step.effects);
    return step;
  }

  all<Tag extends HostEffect['tag']>(tag: Tag): Extract<HostEffect, { tag: Tag }>[] {
    return this.effects.filter(
      (effect): effect is Extract<HostEffect, { tag: Tag }> => effect.tag === tag,
    );
  }

  /** Stores everything that is to be stored, and has not been. */
  store(): void {
    for (const { requestId } of this.all('put-file')) this.feed({ tag: 'file-put', requestId });
    for (const { requestId, request } of this.all('stage')) {
      const { key, bytes, rows, method } = request;
      const uploadId = method === 'multipart' ? 'u' : null;
      const staged = { key, uploadId, etag: 'e', size: bytes.length, rows };
      this.feed({ tag: 'staged', requestId, staged });
    }
  }

  get reports(): string[] {
    return this.all('report').map(({ report }) => report.tag);
  }
}

test('a checkpoint is reported only when every sink has found what it staged, under the token it will commit under', () => {
  const host = new Host();
  host.barrier(1);
  expect(host.all('stage').length).toBeGreaterThanOrEqual(2);
  expect(host.all('pre-commit')).toEqual([]);
  host.store();
  const asked = host.all('pre-commit');
  expect(asked.map(({ token }) => [token.lineage, token.epoch])).toEqual([
    ['pl/job', 2],
    ['pl/job', 2],
  ]);
  expect(new Set(asked.map(({ token }) => token.sink)).size).toBe(2);
  expect(asked.flatMap(({ items }) => items)).toHaveLength(host.all('stage').length);
  host.feed({ tag: 'pre-committed', requestId: asked[0]!.requestId });
  expect(host.reports).not.toContain('checkpointed');
  host.feed({ tag: 'pre-committed', requestId: asked[1]!.requestId });
  expect(host.reports).toContain('checkpointed');
  expect(host.all('pre-commit')).toHaveLength(2);

  host.command({ tag: 'commit', epoch: 2, items: asked.flatMap(({ items }) => items) });
  expect(host.all('commit').map(({ token }) => token)).toEqual(
    expect.arrayContaining(asked.map(({ token }) => token)),
  );
});

test('what is missing fails the generation before anything is reported, so no epoch is claimed with it', () => {
  const host = new Host();
  host.barrier(1);
  host.store();
  const [asked] = host.all('pre-commit');
  const report = { code: 'SINK_FAILED', domain: 'external', retry: 'backoff', message: 'gone' };
  host.feed({
    tag: 'effect-failed',
    requestId: asked!.requestId,
    report: report as Extract<HostEvent, { tag: 'effect-failed' }>['report'],
  });
  expect(host.reports).toContain('failed');
  expect(host.reports).not.toContain('checkpointed');
});

test('the next attempt looks again, and answers to the one before do not count for it', () => {
  const host = new Host();
  host.barrier(1);
  host.store();
  const first = host.all('pre-commit');
  host.barrier(2);
  host.store();
  const second = host.all('pre-commit').slice(first.length);
  expect(second.map(({ items }) => items)).toEqual(first.map(({ items }) => items));
  for (const { requestId } of first) host.feed({ tag: 'pre-committed', requestId });
  expect(host.reports).not.toContain('checkpointed');
  for (const { requestId } of second) host.feed({ tag: 'pre-committed', requestId });
  expect(host.reports.filter((tag) => tag === 'checkpointed')).toHaveLength(1);
});
