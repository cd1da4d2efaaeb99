/** The query as it runs to be looked at: one preview at a time, and one stream of what it does. */
import { signal } from '@preact/signals';
import type { z } from 'zod';
import type { Health } from '../../../api/observe/health-shapes.ts';
import type { PipelineStatus } from '../../../api/observe/status-shapes.ts';
import type { PipelineSchema } from '../../../api/pipelines/pipeline-shapes.ts';
import type { ErrorRow } from '../../../api/stream/detail-shapes.ts';
import type { ErrorsEvent, OutputEvent } from '../../../api/stream/event-shapes.ts';
import { api } from '../../api/client.ts';
import { openStream, type Stream } from '../../api/stream.ts';
import { Output } from '../../parts/results/output.ts';

type Pipeline = z.infer<typeof PipelineSchema>;

/** ended: by the reader, or because its sources did. */
export type PreviewPhase = 'none' | 'starting' | 'running' | 'ended' | 'failed';

const ERRORS_MOST = 1_000;

export class Preview {
  readonly phase = signal<PreviewPhase>('none');
  readonly pipeline = signal<Pipeline | null>(null);
  readonly outputs = signal<readonly Output[]>([]);
  readonly status = signal<PipelineStatus | null>(null);
  readonly health = signal<Health | null>(null);
  /** Rows that went wrong, newest first. */
  readonly errors = signal<readonly ErrorRow[]>([]);
  /** Why it could not start. */
  readonly failure = signal<unknown>(null);
  /** From the command to its first row, in milliseconds. */
  readonly firstRowMs = signal<number | null>(null);
  #stream: Stream | null = null;
  /** Of runs: what an earlier one still answers is dropped. */
  #turn = 0;

  async run(query: string, enableSinks: boolean): Promise<void> {
    this.end();
    const turn = ++this.#turn;
    const askedMs = performance.now();
    this.phase.value = 'starting';
    this.failure.value = null;
    this.health.value = null;
    this.status.value = null;
    this.firstRowMs.value = null;
    this.errors.value = [];
    try {
      const body = { query, enable_sinks: enableSinks };
      const pipeline = await api.post<Pipeline>('/pipelines/preview', body);
      if (turn === this.#turn) this.#follow(pipeline, askedMs);
      else await api.remove(`/pipelines/${pipeline.id}`);
    } catch (thrown) {
      if (turn !== this.#turn) return;
      this.failure.value = thrown;
      this.phase.value = 'failed';
      this.outputs.value = [];
    }
  }

  /** Its rows stay to be read. */
  end(): void {
    this.#turn++;
    this.#stream?.close();
    this.#stream = null;
    const { value: pipeline } = this.pipeline;
    this.pipeline.value = null;
    if (this.phase.value !== 'none') this.phase.value = 'ended';
    // The server deletes what nobody looks at, should this not arrive.
    if (pipeline !== null) api.remove(`/pipelines/${pipeline.id}`).catch(() => {});
  }

  #follow(pipeline: Pipeline, askedMs: number): void {
    const outputs = pipeline.sinks.map(
      ({ operator_id, table, updating }) => new Output(operator_id, table, updating),
    );
    this.outputs.value = outputs;
    this.pipeline.value = pipeline;
    this.phase.value = 'running';
    const path = `/pipelines/${pipeline.id}/events?topics=status,health,output,errors`;
    this.#stream = openStream(path, {
      output: (data) => {
        const event = JSON.parse(data) as OutputEvent;
        this.firstRowMs.value ??= Math.round(performance.now() - askedMs);
        outputs
          .find(({ operatorId }) => operatorId === event.operator_id)
          ?.take(event, Date.now() * 1000);
      },
      health: (data) => {
        this.health.value = JSON.parse(data) as Health;
      },
      status: (data) => {
        this.status.value = JSON.parse(data) as PipelineStatus;
      },
      errors: (data) => {
        const { data: rows } = JSON.parse(data) as ErrorsEvent;
        this.errors.value = [...rows.toReversed(), ...this.errors.value].slice(0, ERRORS_MOST);
      },
      gone: () => {
        this.#stream?.close();
        this.pipeline.value = null;
        this.phase.value = 'ended';
      },
    });
  }
}
