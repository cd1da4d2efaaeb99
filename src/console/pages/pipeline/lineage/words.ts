/** What a node of the lineage is, in words and as a sign. Pure. */
import { bytes, count } from '../../../lib/format.ts';
import type { RiverBand, RiverNode } from './layout.ts';
import type { Loser } from './river.ts';

export type SignName =
  | 'committed'
  | 'open'
  | 'plain'
  | 'fence'
  | 'reset'
  | 'lost'
  | 'abandoned'
  | 'cut'
  | 'running'
  | 'past';

export function signOf({ kind, canonical }: RiverNode): SignName {
  if (kind === 'running') return 'running';
  if (kind === 'abandoned' || kind === 'cut') return kind;
  if (kind !== 'epoch' || canonical === null) return 'lost';
  const { detail } = canonical;
  if (detail === null) return 'past';
  if (detail.reset) return 'reset';
  if (detail.kind === 'fence') return 'fence';
  if (detail.commit === 'open') return 'open';
  return detail.commit === 'marked' ? 'committed' : 'plain';
}

const SIGN_WORDS: Record<SignName, string> = {
  committed: 'canonical, committed',
  open: 'canonical, commit under way',
  plain: 'canonical, nothing to commit',
  fence: 'fence',
  reset: 'fence that forgot the state',
  lost: 'lost',
  abandoned: 'given up',
  cut: 'cut off',
  running: 'being taken',
  past: 'canonical, no longer kept',
};

/** One line: for screen readers, titles and the table. */
export function nodeWords(node: RiverNode): string {
  if (node.kind === 'cut')
    return `cut off: what generation ${node.generation} had read behind epoch ${node.epoch - 1}`;
  if (node.kind === 'folded') return `epoch ${node.epoch}: ${node.count} more that lost`;
  const words = `epoch ${node.epoch}, ${SIGN_WORDS[signOf(node)]}`;
  const of = node.kind === 'running' ? '' : `, generation ${node.generation}`;
  const detail = node.canonical?.detail ?? null;
  if (detail === null) return words + of;
  const rows = detail.input_rows === null ? '' : `, ${count(detail.input_rows)} rows in`;
  return `${words}${of}${rows}, ${count(detail.output_rows)} rows out, ${bytes(detail.bytes)} of state`;
}

/** A band too narrow for its name. */
export const bandShort = ({ generation, start }: RiverBand): string =>
  start === 0 ? `G ${generation}` : `G ${generation}·${start}`;

export const stateWords = (node: RiverNode): string =>
  node.kind === 'folded' ? 'lost' : SIGN_WORDS[signOf(node)];

/** Why a checkpoint is not canonical. */
export function beatenWords({ state, beaten }: Loser): string {
  if (beaten === null) return 'It is stored and may still be claimed.';
  if (beaten.by === 'record')
    return `Generation ${beaten.generation} claimed this epoch first: its record names another checkpoint, for ever.`;
  return state === 'lost'
    ? `Generation ${beaten.generation} has this epoch.`
    : `It was stored but not claimed before generation ${beaten.generation} took over and fenced it off.`;
}

export function bandTitle({ generation, start }: RiverBand): string {
  return start === 0 ? `Generation ${generation}` : `Generation ${generation} · start ${start}`;
}

const REASONS: Record<string, string> = {
  created: 'created',
  started: 'started',
  restart: 'restarted',
  deploy: 'new code',
};

/** Why a generation exists, as the controller noted it: `recovery: HOST_LOST`. */
export function reasonWords(reason: string): string {
  const recovery = /^recovery: (.*)$/.exec(reason);
  return recovery === null ? (REASONS[reason] ?? reason) : `after ${recovery[1]}`;
}

export function bandNote({ state, detail, epochs, start }: RiverBand): string {
  if (state === 'next') return 'is starting';
  const reason =
    detail === null ? '' : start > 1 ? 'its leader began anew' : reasonWords(detail.reason);
  const won = state === 'empty' ? 'won no epoch' : epochs === 1 ? '1 epoch' : `${epochs} epochs`;
  return [reason, won].filter((part) => part !== '').join(' · ');
}
