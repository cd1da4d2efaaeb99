import { beforeEach, describe, expect, test } from 'vitest';
import { EngineError } from '../../src/base/errors.ts';
import { recordFailure } from '../../src/catalog/jobs.ts';
import type { LineageView } from '../../src/lineage/read.ts';
import type {
  CheckpointSummary,
  LeaderStatus,
  OperatorMetrics,
} from '../../src/protocol/messages.ts';
import { EVENTS, type Json, World } from './world.ts';

let world: World;
let id: string;
let jobId: string;
let job: string;
beforeEach(async () => {
  world = new World();
  id = (await world.create(EVENTS, { parallelism: 2 })).id;
  jobId = await world.jobId(id);
  job = `/api/v1/pipelines/${id}/jobs/${jobId}`;
});

const T = 1_700_000_000_000;

const summary = (epoch: number, rest: Partial<CheckpointSummary> = {}): CheckpointSummary => ({
  epoch,
  attempt: 1,
  kind: 'scheduled',
  startedMs: T + epoch * 1000,
  alignedMs: T + epoch * 1000 + 10,
  publishedMs: T + epoch * 1000 + 20,
  committedMs: T + epoch * 1000 + 30,
  bytes: 100,
  rows: 4,
  items: 1,
  hosts: [
    {
      index: 1,
      bytes: 60,
      alignMs: 1,
      snapshotMs: 2,
      uploadMs: 3,
      reportedMs: T + epoch * 1000 + 9,
    },
  ],
  ...rest,
});

const leader = (rest: Partial<LeaderStatus> = {}): LeaderStatus => ({
  codeVersion: '1',
  generation: 2,
  incarnation: null,
  phase: 'running',
  outcome: null,
  epoch: 9,
  committedEpoch: 8,
  startedMs: T,
  runningSinceMs: T,
  hosts: [],
  checkpoint: null,
  recent: [],
  metrics: [],
  errors: [],
  stopNonce: null,
  ...rest,
});

const metric = (
  operator: string,
  subtask: number,
  rest: Partial<OperatorMetrics> = {},
): OperatorMetrics => ({
  operator,
  subtask,
  rowsIn: 7,
  rowsOut: 5,
  bytesIn: 70,
  bytesOut: 50,
  batchesIn: 1,
  batchesOut: 1,
  errors: 0,
  late: 1,
  filtered: 2,
  watermark: 12,
  stateBytes: 8,
  stateRows: 2,
  backpressure: 0.5,
  ...rest,
});

function lineage(): LineageView {
  const ref = (epoch: number) => ({ ref: `g/${epoch}/manifest`, hash: `h${epoch}` });
  const checkpoint = (
    epoch: number,
    generation: number,
    kind: 'data' | 'fence',
    bytes: number,
  ) => ({
    epoch,
    committed: epoch < 9,
    record: {
      version: 1 as const,
      epoch,
      checkpoint: ref(epoch),
      parent: ref(epoch - 1),
      generation,
      nonce: 'n',
    },
    manifest: {
      version: 1 as const,
      kind,
      epoch,
      generation,
      nonce: 'n',
      attempt: 1,
      data: null,
      parent: ref(epoch - 1),
      planHash: 'p',
      parallelism: 2,
      files: [
        {
          operator: 'sink-3',
          table: 't',
          subtask: 1,
          key: 'k',
          size: bytes,
          hash: 'h',
          rows: 3,
          keyRange: { lower: 0, upper: 1 },
          layer: 0,
        },
      ],
      broadcast: [{ operator: 'source-1', table: 'offsets', subtask: 0, value: 1 }],
      inputs: null,
      needsCommit: true,
      items: [],
      finished: false,
      createdAtMs: T + epoch * 1000,
    },
  });
  return {
    current: {
      version: 1,
      generation: 2,
      incarnation: null,
      floor: 7,
      writeId: 'w',
      updatedAtMs: T,
    },
    checkpoints: [
      checkpoint(7, 1, 'data', 10),
      checkpoint(8, 2, 'fence', 10),
      checkpoint(9, 2, 'data', 60),
    ],
    generations: [
      {
        version: 1,
        generation: 2,
        incarnation: { objectId: 'o', startNo: 1, nonce: 'n' },
        baseEpoch: 7,
        baseRef: null,
        planHash: 'p',
        codeVersion: '1',
        parallelism: 2,
        reason: 'recovery: HOST_LOST',
        operators: null,
        createdAtMs: T,
      },
    ],
    others: [
      { ref: 'g/8/lost', epoch: 8, generation: 1, nonce: 'm', state: 'lost' },
      { ref: 'g/10/early', epoch: 10, generation: 2, nonce: 'n', state: 'unclaimed' },
    ],
    unreadable: [],
  };
}

describe('a job', () => {
  test('has the shape of its pipeline, and a failure with all it says', async () => {
    const failure = new EngineError('SOURCE_MISSING', 'there is no object a.json', {
      hint: 'put it there',
    }).report;
    await world.observe(id, {
      state: 'Failed',
      generation: 3,
      restarts: 2,
      failure,
      startMs: T,
      finishMs: T + 5,
      epoch: 4,
      committedEpoch: 4,
    });
    const { body } = await world.call('GET', `/api/v1/pipelines/${id}/jobs`);
    expect(body.data).toEqual([
      {
        id: jobId,
        pipeline_id: id,
        state: 'Failed',
        running_desired: true,
        run_id: 3,
        generation: 3,
        rows: null,
        reason: 'created',
        epoch: 4,
        committed_epoch: 4,
        restarts: 2,
        start_time: T * 1000,
        finish_time: (T + 5) * 1000,
        tasks: 4,
        created_at: world.nowMs * 1000,
        failure_reason: {
          error: 'there is no object a.json',
          message: 'there is no object a.json',
          hint: 'put it there',
          code: 'SOURCE_MISSING',
          domain: 'user',
          retry: 'never',
        },
      },
    ]);
    expect((await world.call('GET', '/api/v1/jobs')).body).toEqual(body);
  });

  test("knows the epoch of its leader before the catalogue does, and no other leader's", async () => {
    await world.observe(id, { state: 'Running', generation: 2, epoch: 3, committedEpoch: 3 });
    const read = async () => (await world.call('GET', `/api/v1/pipelines/${id}/jobs`)).body.data[0];
    world.status = leader();
    expect(await read()).toMatchObject({ epoch: 9, committed_epoch: 8 });
    expect((await world.call('GET', '/api/v1/jobs')).body.data[0]).toMatchObject({
      epoch: 9,
      committed_epoch: 8,
    });
    world.status = leader({ generation: 1 });
    expect(await read()).toMatchObject({ epoch: 3, committed_epoch: 3 });
    world.status = null;
    expect(await read()).toMatchObject({ epoch: 3, committed_epoch: 3 });
  });

  test('is found under its own pipeline only', async () => {
    const other = await world.create(EVENTS);
    const answer = await world.call('GET', `/api/v1/pipelines/${other.id}/jobs/${jobId}/errors`);
    expect(answer).toMatchObject({
      status: 404,
      body: { suggestion: await world.jobId(other.id) },
    });
  });

  test('lists what its operators report and why its generations ended, newest first', async () => {
    await world.observe(id, { state: 'Running', generation: 2 });
    for (let generation = 1; generation <= 3; generation++) {
      await recordFailure(
        world.database,
        jobId,
        generation,
        new EngineError('HOST_LOST', `host ${generation} was lost`).report,
        T + generation,
      );
    }
    world.status = leader({
      errors: [
        {
          atMs: T + 10,
          operator: 'source-1',
          subtask: 1,
          message: 'bad row',
          detail: 'row 7',
          code: 'PARSE_ERROR',
          domain: 'user',
        },
      ],
    });
    const first = (await world.call('GET', `${job}/errors?limit=2`)).body;
    expect(first.data).toMatchObject([
      {
        operator_id: 'source-1',
        task_index: 1,
        level: 'error',
        message: 'bad row',
        details: 'row 7',
        error_domain: 'user',
        code: 'PARSE_ERROR',
        created_at: (T + 10) * 1000,
      },
      {
        operator_id: null,
        message: 'host 3 was lost',
        generation: 3,
        code: 'HOST_LOST',
        error_domain: 'internal',
      },
      { message: 'host 2 was lost' },
    ]);
    expect(first.hasMore).toBe(true);
    const second = (
      await world.call('GET', `${job}/errors?limit=2&starting_after=${first.data.at(-1).id}`)
    ).body;
    expect(second).toMatchObject({ data: [{ message: 'host 1 was lost' }], hasMore: false });
  });

  test('shows its checkpoints from the lineage, with the times of the leader that cut them', async () => {
    await world.observe(id, { state: 'Running', generation: 2 });
    world.lineage = { tag: 'read', view: lineage() };
    world.status = leader({
      recent: [summary(7), summary(9)],
      checkpoint: summary(10, { alignedMs: null, publishedMs: null, committedMs: null }),
    });
    const { data } = (await world.call('GET', `${job}/checkpoints`)).body;
    expect(
      data.map(({ epoch, generation, checkpoint_type: type, committed, bytes }: Json) => [
        epoch,
        generation,
        type,
        committed,
        bytes,
      ]),
    ).toEqual([
      [10, 2, 'scheduled', false, 100],
      [9, 2, 'scheduled', false, 60],
      [8, 2, 'fence', true, 10],
      [7, 1, 'scheduled', true, 10],
    ]);
    expect(data[0]).toMatchObject({
      finish_time: null,
      backend: 'r2',
      events: [{ event: 'Checkpointing', finish_time: null }, { event: 'CheckpointingOperators' }],
    });
    expect(data[1].events.map((event: Json) => event.event)).toEqual([
      'Checkpointing',
      'CheckpointingOperators',
      'WritingMetadata',
      'Committing',
    ]);
    expect(data[3].events).toEqual([]);
  });

  test('shows its checkpoints while the leader or the lineage is missing', async () => {
    await world.observe(id, { state: 'Running', generation: 2 });
    expect((await world.call('GET', `${job}/checkpoints`)).body).toEqual({ data: [] });
    world.lineage = { tag: 'read', view: lineage() };
    expect((await world.call('GET', `${job}/checkpoints`)).body.data).toHaveLength(3);
    world.lineage = {
      tag: 'unavailable',
      report: new EngineError('STORE_FAILED', 'no answer').report,
    };
    expect(await world.call('GET', `${job}/checkpoints`)).toMatchObject({
      status: 503,
      body: { code: 'STORE_FAILED' },
    });
  });

  test('shows what each operator and subtask wrote', async () => {
    await world.observe(id, { state: 'Running', generation: 2 });
    world.lineage = { tag: 'read', view: lineage() };
    world.status = leader({ recent: [summary(9)] });
    const { data } = (await world.call('GET', `${job}/checkpoints/9/operator_checkpoint_groups`))
      .body;
    const at = (ms: number): number => (T + 9000 + ms) * 1000;
    expect(data).toMatchObject([
      {
        operator_id: 'sink-3',
        bytes: 60,
        rows: 3,
        started_metadata_write: at(10),
        finish_time: at(20),
        subtasks: [
          {
            index: 1,
            bytes: 60,
            event_spans: [
              { event: 'Alignment', start_time: at(3), finish_time: at(4) },
              { event: 'Sync', start_time: at(4), finish_time: at(6) },
              { event: 'Async', start_time: at(6), finish_time: at(9) },
            ],
          },
        ],
      },
      { operator_id: 'source-1', bytes: 0, subtasks: [{ index: 0, bytes: 0, event_spans: [] }] },
    ]);
    expect(
      (await world.call('GET', `${job}/checkpoints/77/operator_checkpoint_groups`)).status,
    ).toBe(404);
    expect(
      (await world.call('GET', `${job}/checkpoints/x/operator_checkpoint_groups`)).status,
    ).toBe(400);
  });

  test('rows of a job are counted from reports, and are unknown, not zero, before the first', async () => {
    await world.observe(id, { state: 'Running', generation: 2 });
    const rows = async (): Promise<unknown> =>
      (await world.call('GET', `/api/v1/pipelines/${id}/jobs`)).body.data[0].rows;
    world.status = leader({ metrics: [] });
    expect(await rows()).toBeNull();
    world.status = leader({ metrics: [metric('source-1', 0), metric('source-1', 1)] });
    expect(await rows()).toMatchObject({ in: 14 });
  });

  test('counts for every node, by subtask', async () => {
    await world.observe(id, { state: 'Running', generation: 2 });
    world.status = leader({
      metrics: [metric('source-1', 1, { rowsIn: 9, watermark: 'end' }), metric('source-1', 0)],
    });
    const { data } = (await world.call('GET', `${job}/operator_metric_groups`)).body;
    const nodes = (await world.call('GET', `/api/v1/pipelines/${id}`)).body.graph.nodes;
    expect(data.map((group: Json) => [group.node_id, group.operator_id])).toEqual(
      nodes.map((node: Json) => [node.node_id, node.operator]),
    );
    const group = (name: string) =>
      data[0].metric_groups.find((candidate: Json) => candidate.name === name).subtasks;
    expect(group('messages_recv')).toEqual([
      { index: 0, metrics: [{ time: world.nowMs * 1000, value: 7 }] },
      { index: 1, metrics: [{ time: world.nowMs * 1000, value: 9 }] },
    ]);
    expect(group('backpressure')[0].metrics[0].value).toBe(0.5);
    expect(data[0].watermarks).toEqual([
      { index: 0, watermark: 12 },
      { index: 1, watermark: 'end' },
    ]);
    expect(data[1].watermarks).toEqual([]);
  });

  test('has a lineage with what is canonical, what lost and what is open', async () => {
    expect((await world.call('GET', `/api/v1/pipelines/${id}/lineage`)).body).toMatchObject({
      generation: null,
      epochs: [],
    });
    world.lineage = { tag: 'read', view: lineage() };
    const { body } = await world.call('GET', `/api/v1/pipelines/${id}/lineage`);
    expect(
      body.epochs.map((epoch: Json) => [
        epoch.epoch,
        epoch.parent_epoch,
        epoch.kind,
        epoch.committed,
      ]),
    ).toEqual([
      [9, 8, 'data', false],
      [8, 7, 'fence', true],
      [7, null, 'data', true],
    ]);
    expect(body).toMatchObject({
      generation: 2,
      floor: 7,
      unclaimed: [{ ref: 'g/10/early', epoch: 10 }],
      generations: [{ generation: 2, reason: 'recovery: HOST_LOST', base_epoch: 7 }],
    });
    expect(body.epochs[1].others).toEqual([
      {
        ref: 'g/8/lost',
        generation: 1,
        nonce: 'm',
        state: 'lost',
        beaten: { by: 'record', ref: body.epochs[1].ref, generation: 2 },
      },
    ]);
    // The owner has not begun: whatever start wrote it may still claim its epoch.
    expect(body.unclaimed[0].beaten).toBeNull();
    const view = lineage();
    const incarnation = { objectId: 'o', startNo: 2, nonce: 'later' };
    world.lineage = {
      tag: 'read',
      view: { ...view, current: { ...view.current, generation: 3, incarnation } },
    };
    const later = (await world.call('GET', `/api/v1/pipelines/${id}/lineage`)).body;
    expect(later.unclaimed[0].beaten).toEqual({ by: 'generation', ref: null, generation: 3 });
  });
});
