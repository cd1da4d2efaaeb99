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
  | 'running'
  | 'past';

export function signOf({ kind, canonical }: RiverNode): SignName {
  if (kind === 'running') return 'running';
  if (kind === 'abandoned') return 'abandoned';
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
  running: 'being taken',
  past: 'canonical, no longer kept',
};

/** One line: for screen readers, titles and the table. */
export function nodeWords(node: RiverNode): string {
  if (node.kind === 'folded') return `epoch ${node.epoch}: ${node.count} more that lost`;
  const words = `epoch ${node.epoch}, ${SIGN_WORDS[signOf(node)]}`;
  const of = node.kind === 'running' ? '' : `, generation ${node.generation}`;
  const detail = node.canonical?.detail ?? null;
  if (detail === null) return words + of;
  const rows = detail.input_rows === null ? '' : `, ${count(detail.input_rows)} rows in`;
  return `${words}${of}${rows}, ${count(detail.output_rows)} rows out, ${bytes(detail.bytes)} of state`;
}

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
  recovery: 'recovered after a failure',
  restart: 'restarted',
  rescale: 'rescaled',
};

/** Why a generation exists, as the controller noted it. */
export const reasonWords = (reason: string): string => REASONS[reason] ?? reason;

export function bandNote({ state, detail, epochs, start }: RiverBand): string {
  if (state === 'next') return 'is starting';
  const reason =
    detail === null ? '' : start > 1 ? 'its leader began anew' : reasonWords(detail.reason);
  const won = state === 'empty' ? 'won no epoch' : epochs === 1 ? '1 epoch' : `${epochs} epochs`;
  return [reason, won].filter((part) => part !== '').join(' · ');
}
