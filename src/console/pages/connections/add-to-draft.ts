/** Hands SQL to the editor: it stands behind what is being written there already, once. */
import type { Draft } from '../edit/draft.ts';
import { keepDraft, keptDraft } from '../edit/kept-draft.ts';

export function withAdded(draft: Draft | null, sql: string): Draft {
  if (draft === null || draft.text.trim() === '') return { text: `${sql}\n`, origin: null };
  if (draft.text.includes(sql)) return draft;
  return { ...draft, text: `${draft.text.trimEnd()}\n\n${sql}\n` };
}

/** The address to open then. */
export function addToDraft(sql: string): string {
  keepDraft(withAdded(keptDraft(), sql));
  return '/pipelines/new?draft';
}
