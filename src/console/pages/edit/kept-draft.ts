/** The draft, and the texts put aside, in the storage of this browser. */
import { keep, kept } from '../../lib/kept.ts';
import { asideIn, type Draft, draftIn } from './draft.ts';

const DRAFT_KEY = 'thalweg.draft';
const ASIDE_KEY = 'thalweg.drafts-aside';

export const keepDraft = (draft: Draft): void => keep(DRAFT_KEY, JSON.stringify(draft));

export const keptDraft = (): Draft | null => draftIn(kept(DRAFT_KEY));

export const keepAside = (aside: readonly string[]): void => keep(ASIDE_KEY, JSON.stringify(aside));

export const keptAside = (): string[] => asideIn(kept(ASIDE_KEY));
