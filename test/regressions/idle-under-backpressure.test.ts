/**
 * With `idle_time`, a source that a slow sink held back for longer had "silent" partitions: event time ran ahead of rows
 * that lay ready, and they came late. Found by the simulated cluster (chaos-10312, chaos-12566).
 */
import { expect, test } from 'vitest';
import { must } from '../../src/base/assert.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import type { Source } from '../../src/connectors/connector.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { Node } from '../../src/subtask/node.ts';
import { SourceNode } from '../../src/subtask/source-node.ts';

const SQL = `CREATE TABLE t (ts TIMESTAMP NOT NULL, WATERMARK FOR ts AS ts) WITH (connector = 'http', partitions = 2,
  idle_time = '1 second', format = 'json', type = 'source'); SELECT ts FROM t;`;

function waitingSource(): { step: (nowMs: number) => void; tick: (nowMs: number) => boolean } {
  const { graph } = planSql(SQL, DECLARATIONS, { defaultSink: 'preview' });
  const operator = must(
    graph?.operators.find(({ spec }) => spec.tag === 'source'),
    'source',
  );
  if (operator.spec.tag !== 'source') throw new Error('not a source');
  const source: Source = {
    partitions: [0, 1],
    poll: () => ({ tag: 'wait', untilMs: null }),
    onRead: () => {},
    snapshot: () => ({}),
    restore: () => {},
  };
  const unused = (): never => {
    throw new Error('nothing is asked for');
  };
  const port = {
    read: unused,
    fail: unused,
    problems: unused,
    stage: unused,
    preview: unused,
    call: unused,
  };
  const body = new SourceNode(operator.id, operator.spec, source, port);
  const node = new Node(operator, body, 1, unused);
  body.attach(node);
  return {
    step: (nowMs) => void body.step(nowMs),
    tick: (nowMs) => {
      body.tick(nowMs);
      return node.idle;
    },
  };
}

test('a source that may move and finds nothing falls idle', () => {
  const { step, tick } = waitingSource();
  for (let nowMs = 0; nowMs <= 900; nowMs += 100) {
    step(nowMs);
    expect(tick(nowMs)).toBe(false);
  }
  step(1_000);
  expect(tick(1_000)).toBe(true);
});

test('a source that is held back does not fall idle, neither then nor at once when it may move again', () => {
  const { step, tick } = waitingSource();
  step(0);
  expect(tick(0)).toBe(false);
  for (let nowMs = 300; nowMs <= 5_000; nowMs += 100) expect(tick(nowMs)).toBe(false);
  for (let nowMs = 5_100; nowMs < 6_100; nowMs += 100) {
    step(nowMs);
    expect(tick(nowMs)).toBe(false);
  }
  step(6_200);
  expect(tick(6_200)).toBe(true);
});
