/** Asks before an action, with its consequence, and carries it out. */
import { useLocation } from 'preact-iso';
import { useId, useState } from 'preact/hooks';
import type { PipelineStatus } from '../../../api/observe/status-shapes.ts';
import { api } from '../../api/client.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { tell } from '../../parts/toasts.tsx';
import { type ActionName, consequenceOf } from './consequences.ts';
import { type Pipeline, usePage } from './context.ts';

export type Asked = { action: ActionName | 'settings'; host: number | null };

type Props = { asked: Asked; onChanged(): void; onClose(): void };

export function ActionDialog({ asked, onChanged, onClose }: Props) {
  const { feed } = usePage();
  // The numbers of the moment when it was asked: they must not change under the reader.
  const [status] = useState<PipelineStatus | null>(() => feed.status.value);
  if (asked.action === 'settings')
    return <SettingsDialog onChanged={onChanged} onClose={onClose} />;
  if (status === null) return null;
  return (
    <ConfirmDialog
      action={asked.action}
      host={asked.host}
      status={status}
      onChanged={onChanged}
      onClose={onClose}
    />
  );
}

type ConfirmProps = {
  action: ActionName;
  host: number | null;
  status: PipelineStatus;
  onChanged(): void;
  onClose(): void;
};

function ConfirmDialog({ action, host, status, onChanged, onClose }: ConfirmProps) {
  const { id, feed } = usePage();
  const { route } = useLocation();
  const [committed] = useState(() => feed.proof.value?.rows_in ?? null);
  const { title, button, danger, sentences } = consequenceOf(action, status, committed, host);
  const confirm = async (): Promise<void> => {
    if (action === 'kill_leader' || action === 'kill_host') {
      const target = action === 'kill_leader' ? 'leader' : 'host';
      feed.killing.value = {
        target,
        host: host ?? 0,
        at: Date.now() * 1000,
        generation: status.generation,
        epoch: feed.status.value?.epoch ?? status.epoch,
      };
      await api.post(`/local/pipelines/${id}/crash`, { target, index: host ?? 0 });
      route(`/pipelines/${id}/lineage`);
      return;
    }
    const { warnings = [] } = await request(action, id);
    tell(warnings[0] ?? DONE[action]);
    if (action === 'delete') route('/pipelines');
    else onChanged();
  };
  return (
    <Dialog title={title} action={button} danger={danger} onConfirm={confirm} onClose={onClose}>
      <ul class="consequences">
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </Dialog>
  );
}

type Change = Exclude<ActionName, 'kill_leader' | 'kill_host'>;

const DONE: Record<Change, string> = {
  stop: 'It takes a last checkpoint and stops',
  stop_graceful: 'It finishes what is under way and stops',
  stop_immediate: 'It stops',
  start: 'It starts',
  restart: 'It restarts from a checkpoint',
  restart_without_state: 'It restarts without its state',
  delete: 'It is deleted',
};

function request(action: Change, id: string): Promise<Pipeline> {
  const path = `/pipelines/${id}`;
  switch (action) {
    case 'stop':
      return api.patch(path, { stop: 'checkpoint' });
    case 'stop_graceful':
      return api.patch(path, { stop: 'graceful' });
    case 'stop_immediate':
      return api.patch(path, { stop: 'immediate' });
    case 'start':
      return api.patch(path, { stop: 'none' });
    case 'restart':
      return api.post(`${path}/restart`);
    case 'restart_without_state':
      return api.post(`${path}/restart`, { ignore_state: true });
    case 'delete':
      return api.remove(path);
  }
}

function SettingsDialog({ onChanged, onClose }: { onChanged(): void; onClose(): void }) {
  const { id, pipeline } = usePage();
  const [name, setName] = useState(pipeline.name);
  const [parallelism, setParallelism] = useState(String(pipeline.parallelism));
  const [seconds, setSeconds] = useState(String(pipeline.checkpoint_interval_micros / 1_000_000));
  const interval = Math.round(Number(seconds) * 1_000_000);
  const restarts =
    Number(parallelism) !== pipeline.parallelism ||
    interval !== pipeline.checkpoint_interval_micros;
  const save = async (): Promise<void> => {
    await api.patch<Pipeline>(`/pipelines/${id}`, {
      name,
      parallelism: Number(parallelism),
      checkpoint_interval_micros: interval,
    });
    tell(restarts ? 'Saved; it restarts from a checkpoint' : 'Saved');
    onChanged();
  };
  return (
    <Dialog title={`Settings of ${pipeline.name}`} action="Save" onConfirm={save} onClose={onClose}>
      <TextField label="Name" value={name} onInput={setName} />
      <TextField
        label="Parallelism"
        help="Subtasks of every operator, each on a host of its own. State moves along."
        numeric
        value={parallelism}
        onInput={setParallelism}
      />
      <TextField
        label="Checkpoint interval, in seconds"
        help="Output of two-phase sinks becomes visible at each checkpoint."
        numeric
        value={seconds}
        onInput={setSeconds}
      />
      <p class="help" role="status">
        {restarts
          ? 'It takes effect by a restart from a checkpoint: a new generation, a pause of a few seconds, nothing lost.'
          : 'Nothing restarts.'}
      </p>
    </Dialog>
  );
}

type FieldProps = {
  label: string;
  help?: string;
  /** A whole number, from 1. */
  numeric?: boolean;
  value: string;
  onInput(value: string): void;
};

function TextField({ label, help, numeric = false, value, onInput }: FieldProps) {
  const id = useId();
  const common = {
    id,
    class: 'input',
    required: true,
    value,
    onInput: (event: { currentTarget: HTMLInputElement }) => onInput(event.currentTarget.value),
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {numeric ? (
        <input type="number" min={1} step={1} {...common} />
      ) : (
        <input type="text" maxLength={200} {...common} />
      )}
      {help !== undefined && <span class="help">{help}</span>}
    </div>
  );
}
