/** What an action on a pipeline does, in sentences with its numbers, for whoever has to confirm it. Pure. */
import type { PipelineStatus } from '../../../api/observe/status-shapes.ts';
import { bytes, count } from '../../lib/format.ts';

export type ActionName =
  | 'stop'
  | 'stop_graceful'
  | 'stop_immediate'
  | 'start'
  | 'restart'
  | 'restart_without_state'
  | 'delete'
  | 'kill_leader'
  | 'kill_host';

export type Consequence = { title: string; button: string; danger: boolean; sentences: string[] };

/**
 * @param committed  rows in committed epochs, as the proof tells them; null: not known
 * @param host  of `kill_host`
 */
export function consequenceOf(
  action: ActionName,
  status: PipelineStatus,
  committed: number | null,
  host: number | null = null,
): Consequence {
  const { name } = status;
  switch (action) {
    case 'stop':
      return calm(`Stop ${name}?`, 'Stop', [
        'A last checkpoint is taken and its output committed; then it rests.',
        kept(status),
        'Nothing is lost: when it is started again it goes on with the next row.',
      ]);
    case 'stop_graceful':
      return calm(`Finish ${name}?`, 'Finish', [
        'Sources stop reading, everything under way is computed and committed, and open windows close early.',
        windows(status),
        kept(status),
      ]);
    case 'stop_immediate':
      return danger(`Stop ${name} at once?`, 'Stop at once', [
        'No checkpoint is taken.',
        uncommitted(status, committed),
        'Nothing is lost or doubled: those rows are read again when it is started.',
      ]);
    case 'start':
      return calm(`Start ${name}?`, 'Start', [goesOn(status), backlog(status)]);
    case 'restart':
      return calm(`Restart ${name}?`, 'Restart', [
        'A checkpoint is taken, and a new generation goes on from it with the present code and settings.',
        kept(status),
        'Output pauses for a few seconds; nothing is lost or doubled.',
      ]);
    case 'restart_without_state':
      return danger(`Restart ${name} without its state?`, 'Forget the state', [
        forgotten(status),
        'Sources go on where they are: rows that were counted in open windows, joins or running totals are not read again.',
        'What is committed stays. This cannot be taken back.',
      ]);
    case 'delete':
      return danger(`Delete ${name}?`, 'Delete', [
        `Its checkpoints and its history go: ${size(status)} of state in ${epochs(status)}.`,
        unread(status),
        'Output that is committed stays where it is. This cannot be taken back.',
      ]);
    case 'kill_leader':
      return danger('Kill the leader?', 'Kill it', [
        `The object that leads generation ${status.generation} is reset in the middle of its work, as when its machine dies.`,
        uncommitted(status, committed),
        'Another start takes the line over, with a fence, from the newest epoch. Watch the lineage.',
      ]);
    case 'kill_host':
      return danger(`Kill host ${host ?? 0}?`, 'Kill it', [
        `Host ${host ?? 0} of ${Math.max(1, status.hosts.length)} loses its memory: ${subtasks(status, host ?? 0)}, with their state.`,
        uncommitted(status, committed),
        'A new generation restores everything from the newest epoch. Watch the lineage.',
      ]);
  }
}

const calm = (title: string, button: string, sentences: string[]): Consequence => ({
  title,
  button,
  danger: false,
  sentences: sentences.filter((sentence) => sentence !== ''),
});

const danger = (title: string, button: string, sentences: string[]): Consequence => ({
  ...calm(title, button, sentences),
  danger: true,
});

const stateBytes = ({ operators }: PipelineStatus): number =>
  operators.reduce((sum, { state_bytes }) => sum + state_bytes, 0);

const stateRows = ({ operators }: PipelineStatus): number =>
  operators.reduce((sum, { state_rows }) => sum + state_rows, 0);

const size = (status: PipelineStatus): string => bytes(stateBytes(status));

const epochs = ({ committed_epoch: epoch }: PipelineStatus): string =>
  epoch === 1 ? 'one epoch' : `${count(epoch)} epochs`;

function kept(status: PipelineStatus): string {
  const rows = stateRows(status);
  if (rows === 0) return 'It holds no state but the place where each source is.';
  return `Kept: ${count(rows)} rows of state (${size(status)}).`;
}

function forgotten(status: PipelineStatus): string {
  const rows = stateRows(status);
  if (rows === 0) return 'It holds no state now but the place where each source is.';
  return `Forgotten: ${count(rows)} rows of state (${size(status)})${openWindows(status) > 0 ? `, ${openWindows(status) === 1 ? 'an open window' : `${count(openWindows(status))} open windows`} among them` : ''}.`;
}

const openWindows = ({ operators }: PipelineStatus): number =>
  operators.reduce((sum, { open_windows: open }) => sum + (open?.count ?? 0), 0);

function windows(status: PipelineStatus): string {
  const open = openWindows(status);
  if (open === 0) return '';
  return `${count(open)} open window${open === 1 ? ' gives its' : 's give their'} rows now, though more could still have come.`;
}

function uncommitted(
  { totals, committed_epoch: epoch }: PipelineStatus,
  rows: number | null,
): string {
  if (epoch === 0 || rows === null)
    return 'What was read since the last commit is read and computed again.';
  const since = Math.max(0, totals.rows_in - rows);
  if (since === 0) return `No row was read since epoch ${count(epoch)} was committed.`;
  return `${since === 1 ? 'One row' : `${count(since)} rows`} read since epoch ${count(epoch)} was committed, and those to come until then, are read and computed again.`;
}

function goesOn({ committed_epoch: epoch, generation }: PipelineStatus): string {
  if (epoch === 0) return 'It begins at the start of its sources.';
  return `Generation ${generation + 1} goes on from epoch ${count(epoch)}, with its state.`;
}

const backlogOf = ({ sources }: PipelineStatus): number | null => {
  const known = sources.flatMap(({ partitions }) =>
    partitions.flatMap(({ backlog_rows: rows }) => (rows === null ? [] : [rows])),
  );
  return known.length === 0 ? null : known.reduce((sum, rows) => sum + rows, 0);
};

function backlog(status: PipelineStatus): string {
  const rows = backlogOf(status);
  return rows === null || rows === 0 ? '' : `${count(rows)} stored rows wait to be read.`;
}

function unread(status: PipelineStatus): string {
  const rows = backlogOf(status);
  const stores = status.sources.some(({ connector }) => connector === 'http');
  if (rows === null && !stores) return '';
  if (rows === null) return 'Rows posted to its http tables that nobody has read are deleted too.';
  if (rows === 0) return 'No stored row is unread.';
  return `${count(rows)} stored rows that were never read are deleted too.`;
}

function subtasks({ operators }: PipelineStatus, host: number): string {
  const all = operators.flatMap((operator) => operator.subtasks);
  const here = all.filter((subtask) => subtask.host === host).length;
  return `${here} of ${all.length} subtasks`;
}
