/**
 * Rows that make very many: a hot key of a join, lists that are unnested. Taken by the batch they held the host for minutes, in which
 * nothing was answered and no barrier passed, and gigabytes of garbage piled up.
 */
import { expect, test } from 'vitest';
import { must } from '../../src/base/assert.ts';
import { LIMITS } from '../../src/base/limits.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import type { HostCommand, HostReport, OperatorMetrics } from '../../src/protocol/messages.ts';
import type { HostEffect } from '../../src/subtask/host-events.ts';
import { HostMachine } from '../../src/subtask/host-machine.ts';
import { Pace } from '../../src/subtask/pace.ts';
import { TEST_SETTINGS } from '../harness/cluster.ts';

const source = (name: string, rows: number): string =>
  `CREATE TABLE ${name} WITH (connector = 'impulse', event_rate = 1000000000, message_count = ${rows}, type = 'source');\n`;
const SINK = `CREATE TABLE o WITH (connector = 'blackhole', type = 'sink');\n`;

/** A host of its own that answers itself what it asks for. */
class Host {
  readonly #machine = new HostMachine('H');
  #nowMs = 10_000;
  #metrics: OperatorMetrics[] = [];
  readonly reports: HostReport[] = [];
  /** Files on their way to where they are stored. */
  readonly staging: Extract<HostEffect, { tag: 'stage' }>[] = [];

  constructor(sql: string) {
    const { graph, errors } = planSql(sql, DECLARATIONS, { defaultSink: 'preview' });
    const spec = {
      protocol: 1 as const,
      pipelineId: 'pl',
      jobId: 'job',
      name: 'test',
      generation: 4,
      graph: must(graph, JSON.stringify(errors)),
      parallelism: 1,
      checkpointIntervalMs: 1_000,
      settings: { ...TEST_SETTINGS, batchRows: 1024, heartbeatIntervalMs: 1 },
      pipelineCreatedMs: 0,
      reason: 'test',
      reset: false,
      codeVersion: 'test',
    };
    this.command({ tag: 'deploy', spec, index: 0, checkpoint: null }, null);
    this.command({ tag: 'begin' });
  }

  command(command: HostCommand, host: string | null = 'H'): void {
    const envelope = {
      pipelineId: 'pl',
      generation: 4,
      leader: 'L1',
      leaderStart: 1,
      host,
      sequence: 0,
      command,
    };
    this.#take(
      this.#machine.handle({ tag: 'command', envelope, requestId: 1 }, this.#nowMs).effects,
    );
  }

  /** One turn; false when there was nothing to do. */
  run(): boolean {
    this.#nowMs += 10;
    const step = this.#machine.handle({ tag: 'run' }, this.#nowMs);
    this.#take(step.effects);
    return step.busy;
  }

  #take(effects: readonly HostEffect[]): void {
    for (const effect of effects) {
      if (effect.tag === 'put-file') {
        const { requestId } = effect;
        this.#take(this.#machine.handle({ tag: 'file-put', requestId }, this.#nowMs).effects);
      } else if (effect.tag === 'stage') this.staging.push(effect);
      else if (effect.tag === 'pre-commit') {
        const { requestId } = effect;
        this.#take(this.#machine.handle({ tag: 'pre-committed', requestId }, this.#nowMs).effects);
      } else if (effect.tag === 'report') {
        this.reports.push(effect.report);
        if (effect.report.tag === 'heartbeat') this.#metrics = effect.report.metrics;
      }
    }
  }

  /** The store confirms all that is on its way. */
  store(): void {
    for (const { requestId, request } of this.staging.splice(0)) {
      const { key, rows, bytes } = request;
      const staged = { key, uploadId: null, etag: 'e', size: bytes.length, rows };
      this.#take(this.#machine.handle({ tag: 'staged', requestId, staged }, this.#nowMs).effects);
    }
  }

  count(operator: string, what: 'rowsIn' | 'rowsOut'): number {
    return must(
      this.#metrics.find(({ operator: id }) => id.startsWith(operator)),
      operator,
    )[what];
  }

  reported<T extends HostReport['tag']>(tag: T): Extract<HostReport, { tag: T }> | undefined {
    return this.reports.find((report) => report.tag === tag) as
      | Extract<HostReport, { tag: T }>
      | undefined;
  }
}

/** Turns until all is done, the most rows that `operator` made in one of them, and the barrier that passed after the third. */
function work(host: Host, operator: string): { turns: number; most: number } {
  let turns = 0;
  let most = 0;
  for (let before = 0; host.reported('drained') === undefined; turns++) {
    if (turns === 3)
      host.command({
        tag: 'barrier',
        epoch: 2,
        attempt: 1,
        stopping: false,
        final: false,
      } as HostCommand);
    host.run();
    const after = host.count(operator, 'rowsOut');
    most = Math.max(most, after - before);
    before = after;
    expect(turns).toBeLessThan(5_000);
  }
  return { turns, most };
}

test('a hot key of a join is worked off in turns, and a barrier between them cuts where all of a row has been made', () => {
  const host = new Host(
    source('a', 1500) +
      source('b', 1400) +
      SINK +
      'INSERT INTO o SELECT a.counter AS x, b.counter AS y FROM a JOIN b ON a.counter * 0 = b.counter * 0;',
  );
  const { turns, most } = work(host, 'join');
  expect(host.count('join', 'rowsOut')).toBe(1500 * 1400);
  expect(turns).toBeGreaterThan(20);
  expect(most).toBeLessThan(3 * LIMITS.unitRowsMax);
  const cut = must(host.reported('checkpointed'), 'a checkpoint');
  const counted = (operator: string, what: string): number => {
    const found = cut.broadcast.find(
      (each) => each.operator.startsWith(operator) && each.table === 'counters',
    );
    return (must(found, operator).value as Record<string, number>)[what] as number;
  };
  const read = counted('source-1', 'rowsIn') * counted('source-2', 'rowsIn');
  expect(read).toBeGreaterThan(LIMITS.unitRowsMax);
  expect(counted('join', 'rowsOut')).toBe(read);
});

test('a condition beside the key that few pairs meet is work too', () => {
  const host = new Host(
    source('a', 1500) +
      source('b', 1400) +
      SINK +
      'INSERT INTO o SELECT a.counter AS x, b.counter AS y FROM a JOIN b ON a.counter * 0 = b.counter * 0 AND a.counter + b.counter < 3;',
  );
  const { turns } = work(host, 'join');
  expect(host.count('join', 'rowsOut')).toBe(6);
  expect(turns).toBeGreaterThan(20);
});

test('long lists are unnested in turns, each element once', () => {
  const host = new Host(
    source('a', 300) +
      SINK +
      'INSERT INTO o SELECT x FROM (SELECT unnest(array_resize(make_array(counter), 10000, counter)) AS x FROM a);',
  );
  const { turns, most } = work(host, 'unnest');
  expect(host.count('unnest', 'rowsOut')).toBe(3_000_000);
  expect(turns).toBeGreaterThan(20);
  expect(most).toBeLessThan(3 * LIMITS.unitRowsMax);
});

test('a sink of very many folders closes a bounded number of files at a time, and a barrier has every row', () => {
  const host = new Host(
    source('a', 1000) +
      `CREATE TABLE o (k BIGINT, a BIGINT) PARTITIONED BY (k) WITH (connector = 'r2', path = 'o', format = 'json', type = 'sink');
      INSERT INTO o SELECT counter AS k, counter AS a FROM a;`,
  );
  for (let turns = 0; turns < 400; turns++) {
    if (turns === 1) host.command({ tag: 'barrier', epoch: 2, attempt: 1, stopping: false });
    const busy = host.run();
    expect(host.staging.length).toBeLessThan(3 * LIMITS.stagingFilesMax);
    if (!busy) host.store();
  }
  const cut = must(host.reported('checkpointed'), 'a checkpoint');
  const rows = cut.items.map(({ payload }) => (payload as { rows: number }).rows);
  expect(rows.reduce((sum, each) => sum + each, 0)).toBe(1000);
  expect(host.count('sink', 'rowsIn')).toBe(1000);
});

test('the pace falls to what one piece of work holds and rises again by doubling, never below a row', () => {
  const pace = new Pace(8192);
  pace.note(8192, 1);
  expect(pace.rows).toBe(8192);
  pace.note(8192, 64);
  expect(pace.rows).toBe(128);
  pace.note(128, 1000);
  expect(pace.rows).toBe(1);
  pace.note(1, 0.1);
  pace.note(2, 0.1);
  expect(pace.rows).toBe(4);
  pace.note(0, 5);
  expect(pace.rows).toBe(4);
});
