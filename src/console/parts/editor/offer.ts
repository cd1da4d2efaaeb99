/** Whether an answer that came after a word was typed has something to offer for it. Pure. */
import type { Completions } from '../../../api/authoring/authoring-shapes.ts';
import type { QueryTable } from '../../../api/authoring/diagnostic-shapes.ts';
import { propose } from './completion.ts';

export type Known = { catalogue: Completions; tables: readonly QueryTable[] };

/** What fits the text before the cursor, by label. */
function fitting(text: string, at: number, { catalogue, tables }: Known): Set<string> {
  const found = propose(text, at, false, catalogue, tables);
  if (found === null) return new Set();
  const begun = text.slice(found.from, at).toLowerCase();
  const labels = found.proposals.map(({ label }) => label);
  return new Set(
    labels.filter((label) => label.toLowerCase().startsWith(begun) && label.length > begun.length),
  );
}

/** Whether more is known for the word before the cursor than was when it was typed. */
export function offersMore(text: string, at: number, before: Known, now: Known): boolean {
  const offered = fitting(text, at, before);
  return [...fitting(text, at, now)].some((label) => !offered.has(label));
}
