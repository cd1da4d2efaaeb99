/** From a query to a pipeline that goes on without this page. */
import { useState } from 'preact/hooks';
import type { z } from 'zod';
import type { PipelineSchema } from '../../../api/pipelines/pipeline-shapes.ts';
import { api } from '../../api/client.ts';
import { Deploy } from '../../parts/deploy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { tell } from '../../parts/toasts.tsx';
import type { Desk } from './desk.ts';

type Pipeline = z.infer<typeof PipelineSchema>;

const INTERVALS = [1, 2, 5, 10, 30, 60, 300] as const;
const USUAL_INTERVAL = 10;

type Props = {
  desk: Desk;
  /** Suggested. */
  name: string;
  onClose(): void;
  onStarted(id: string): void;
};

export function StartDialog({ desk, name: suggested, onClose, onStarted }: Props) {
  const [name, setName] = useState(suggested);
  const [parallelism, setParallelism] = useState('1');
  const [interval, setSeconds] = useState(USUAL_INTERVAL);
  const start = async (): Promise<void> => {
    const pipeline = await api.post<Pipeline>('/pipelines', {
      name,
      query: desk.text.value,
      parallelism: Number(parallelism),
      checkpoint_interval_micros: interval * 1_000_000,
    });
    desk.started(pipeline.id, pipeline.name);
    tell(`${pipeline.name} is starting`);
    onStarted(pipeline.id);
  };
  return (
    <Dialog title="Start as a pipeline" action="Start" onConfirm={start} onClose={onClose}>
      <p class="start-words">
        It runs until you stop it, keeps its state through every restart, and commits what it writes
        once, at checkpoints.
      </p>
      <div class="field">
        <label for="start-name">Name</label>
        <input
          id="start-name"
          class="input"
          required
          maxLength={200}
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </div>
      <div class="start-two">
        <div class="field">
          <label for="start-parallelism">Parallelism</label>
          <input
            id="start-parallelism"
            class="input"
            type="number"
            min={1}
            max={64}
            required
            value={parallelism}
            onInput={({ currentTarget }) => setParallelism(currentTarget.value)}
          />
          <span class="help">Hosts that share the work of every operator.</span>
        </div>
        <div class="field">
          <label for="start-interval">Checkpoint every</label>
          <IntervalChoice seconds={interval} choose={setSeconds} />
          <span class="help">How long files wait to become visible, at most.</span>
        </div>
      </div>
      <details class="start-deploy">
        <summary>Run it on Cloudflare</summary>
        <Deploy />
      </details>
    </Dialog>
  );
}

type IntervalProps = { seconds: number; choose(seconds: number): void };

function IntervalChoice({ seconds, choose }: IntervalProps) {
  return (
    <select
      id="start-interval"
      class="input"
      value={seconds}
      onChange={({ currentTarget }) => choose(Number(currentTarget.value))}
    >
      {INTERVALS.map((each) => (
        <option key={each} value={each}>
          {each < 60 ? `${each} s` : `${each / 60} min`}
        </option>
      ))}
    </select>
  );
}
