/**
 * Everything the page shows of one pipeline, as signals: one stream of events for the topics of the open tab, what comes with
 * them merged, and the proof about rows fetched again whenever an epoch was committed.
 *
 * A stream that ends is opened again and goes on (`api/stream.ts`); if the pipeline is not there any more then, `gone` says so.
 */
import { batch, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { History } from '../../../api/observe/history-shapes.ts';
import type { Health } from '../../../api/observe/health-shapes.ts';
import type { PipelineStatus } from '../../../api/observe/status-shapes.ts';
import type { Proof } from '../../../api/jobs/proof-view.ts';
import type { Lineage } from '../../../api/jobs/lineage-view.ts';
import type { ErrorRow } from '../../../api/stream/detail-shapes.ts';
import type { ErrorsEvent, OutputEvent, Topic } from '../../../api/stream/event-shapes.ts';
import { api, ApiError } from '../../api/client.ts';
import { openStream, type Stream, type StreamHandlers } from '../../api/stream.ts';
import type { Output } from '../../parts/results/output.ts';
import { Outputs, type PreviewSink } from '../../parts/results/outputs.ts';
import type { Killing } from './aftermath.ts';
import { addCheckpoints, type SeenCheckpoint } from './checkpoint-list.ts';
import { mergeHistory } from './history-merge.ts';
import { addAbandoned, addLineage, addMarks, EMPTY_RIVER, type River } from './lineage/river.ts';

export const HISTORY_MICROS = 300_000_000;
const REMEMBERED_SECONDS = 21_600;
const PROOF_PAUSE_MS = 800;
const ERROR_ROWS_MOST = 10_000;

export type Feed = {
  readonly id: string;
  readonly status: ReadonlySignal<PipelineStatus | null>;
  readonly health: ReadonlySignal<Health | null>;
  readonly history: ReadonlySignal<History | null>;
  readonly river: ReadonlySignal<River>;
  /** Whether a lineage has come yet. */
  readonly riverKnown: ReadonlySignal<boolean>;
  readonly proof: ReadonlySignal<Proof | null>;
  readonly checkpoints: ReadonlySignal<readonly SeenCheckpoint[]>;
  /** New rows that went wrong, oldest first. */
  readonly errors: ReadonlySignal<readonly ErrorRow[]>;
  readonly gone: ReadonlySignal<boolean>;
  readonly killing: Signal<Killing | null>;
  /** What the preview sinks have shown; the same objects as long as the page is open. */
  outputsFor(sinks: readonly PreviewSink[]): readonly Output[];
  open(topics: readonly Topic[]): Stream;
};

export function createFeed(id: string): Feed {
  const proof = proofOf(id);
  const state: State = {
    status: signal<PipelineStatus | null>(null),
    health: signal<Health | null>(null),
    history: signal<History | null>(null),
    river: signal<River>(EMPTY_RIVER),
    riverKnown: signal(false),
    checkpoints: signal<readonly SeenCheckpoint[]>([]),
    errors: signal<readonly ErrorRow[]>([]),
    gone: signal(false),
  };
  const outputs = new Outputs();
  let lastId = '';
  return {
    id,
    ...state,
    proof: proof.signal,
    killing: signal<Killing | null>(null),
    outputsFor: (sinks) => sinks.map((sink) => outputs.of(sink)),
    open(topics) {
      const stream = openStream(
        `/pipelines/${id}/events?topics=${topics.join(',')}`,
        {
          ...handlersOf(id, state, proof.ask),
          output: (data) => outputs.take(JSON.parse(data) as OutputEvent, Date.now() * 1000),
          gone: () => {
            state.gone.value = true;
            stream.close();
          },
        },
        lastId,
        () => void checkThere(id, state.gone, () => stream.close()),
      );
      return {
        lastId: stream.lastId,
        close() {
          // The next stream goes on where this one stopped, for its topics too.
          lastId = stream.lastId();
          stream.close();
        },
      };
    },
  };
}

type State = {
  status: Signal<PipelineStatus | null>;
  health: Signal<Health | null>;
  history: Signal<History | null>;
  river: Signal<River>;
  riverKnown: Signal<boolean>;
  checkpoints: Signal<readonly SeenCheckpoint[]>;
  errors: Signal<readonly ErrorRow[]>;
  gone: Signal<boolean>;
};

function handlersOf(
  id: string,
  state: State,
  ask: (status: PipelineStatus) => void,
): StreamHandlers {
  const { status, health, history, river, riverKnown, checkpoints, errors } = state;
  return {
    status: (data) => {
      const next = JSON.parse(data) as PipelineStatus;
      batch(() => {
        river.value = addAbandoned(river.value, status.value, next);
        checkpoints.value = addCheckpoints(checkpoints.value, next);
        status.value = next;
      });
      ask(next);
    },
    health: (data) => (health.value = JSON.parse(data) as Health),
    history: (data) =>
      (history.value = mergeHistory(history.value, JSON.parse(data) as History, HISTORY_MICROS)),
    lineage: (data) => {
      const isFirst = !riverKnown.value;
      batch(() => {
        river.value = addLineage(river.value, JSON.parse(data) as Lineage);
        riverKnown.value = true;
      });
      if (isFirst) remember(id, river);
    },
    errors: (data) => {
      const { data: rows } = JSON.parse(data) as ErrorsEvent;
      errors.value = [...errors.value, ...rows].slice(-ERROR_ROWS_MOST);
    },
  };
}

/**
 * What happened before this page was opened, as far as leaders remember. Without it the picture only begins later. A history
 * ends with its last whole step, which over hours is a minute: the last minutes are asked for by the second.
 */
function remember(id: string, river: Signal<River>): void {
  for (const seconds of [REMEMBERED_SECONDS, HISTORY_MICROS / 1_000_000])
    api
      .get<History>(`/pipelines/${id}/metrics/history?seconds=${seconds}`)
      .then(({ marks }) => {
        river.value = addMarks(river.value, marks);
      })
      .catch(() => undefined);
}

/** A stream that can not be opened: is the server away, or the pipeline? */
async function checkThere(id: string, gone: Signal<boolean>, close: () => void): Promise<void> {
  try {
    await api.get(`/pipelines/${id}`);
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.status !== 404) return;
    gone.value = true;
    close();
  }
}

/** Asks for the proof when an epoch more is committed, one request at a time. */
function proofOf(id: string): {
  signal: ReadonlySignal<Proof | null>;
  ask(status: PipelineStatus): void;
} {
  const proof = signal<Proof | null>(null);
  let asked = '';
  let wanted = '';
  let busy = false;
  const run = async (): Promise<void> => {
    busy = true;
    while (asked !== wanted) {
      asked = wanted;
      try {
        proof.value = await api.get<Proof>(`/pipelines/${id}/proof`);
      } catch {
        // The last one stays; the next epoch asks again.
      }
      await new Promise((resolve) => setTimeout(resolve, PROOF_PAUSE_MS));
    }
    busy = false;
  };
  return {
    signal: proof,
    ask({ generation, epoch, committed_epoch: committed }) {
      wanted = `${generation}/${epoch}/${committed}`;
      if (!busy && wanted !== asked) void run();
    },
  };
}
