/**
 * The text that somebody is writing, kept in this browser so that it is never lost. Pure.
 *
 * Invariant: a text that its writer has changed is replaced only when they say so, and is then put aside, not thrown away.
 */
/** Where a text came from before it was changed. */
export type Origin = { kind: 'example' | 'pipeline'; id: string; title: string; text: string };

export type Draft = { text: string; origin: Origin | null };

/** What the address of the page asks for. */
export type Wanted =
  | { kind: 'draft' }
  | { kind: 'paste' }
  | { kind: 'example'; id: string }
  | { kind: 'pipeline'; id: string };

export type Opening =
  /** The kept draft is what is wanted. */
  | { show: 'draft' }
  | { show: 'wanted' }
  /** The draft is the writer's own: ask before it goes. */
  | { show: 'question' };

export function wantedBy(query: Record<string, string>): Wanted {
  const { example, from } = query;
  if (example !== undefined && example !== '') return { kind: 'example', id: example };
  if (from !== undefined && from !== '') return { kind: 'pipeline', id: from };
  return 'paste' in query ? { kind: 'paste' } : { kind: 'draft' };
}

/** Whether its writer would miss it. */
export const isOwn = ({ text, origin }: Draft): boolean =>
  text.trim() !== '' && text.trim() !== (origin?.text.trim() ?? '');

export function opening(wanted: Wanted, draft: Draft | null): Opening {
  if (wanted.kind === 'draft') return { show: 'draft' };
  if (draft === null || !isOwn(draft)) return { show: 'wanted' };
  if (wanted.kind === 'paste') return { show: 'question' };
  const { origin } = draft;
  const sameOrigin = origin?.kind === wanted.kind && origin.id === wanted.id;
  return sameOrigin ? { show: 'draft' } : { show: 'question' };
}

export const ASIDE_MOST = 10;

/** Newest first; a text stands there once. */
export function putAside(aside: readonly string[], draft: Draft | null): string[] {
  if (draft === null || !isOwn(draft)) return [...aside];
  return [draft.text, ...aside.filter((text) => text !== draft.text)].slice(0, ASIDE_MOST);
}

/** The first words of a text that say what it does, for a list. */
export function titleOf(text: string): string {
  const line = text.split('\n').find((candidate) => candidate.trim() !== '') ?? '';
  const words = line.replace(/^[-\s]+/, '').trim();
  return words.length > 60 ? `${words.slice(0, 59)}…` : words;
}

/** What another version of this page, or a hand, may have written is not trusted. */
export function draftIn(text: string | null): Draft | null {
  const found = parsed(text) as Partial<Draft> | null;
  if (found === null || typeof found !== 'object' || typeof found.text !== 'string') return null;
  const { origin } = found;
  const known =
    typeof origin === 'object' &&
    origin !== null &&
    (origin.kind === 'example' || origin.kind === 'pipeline') &&
    typeof origin.id === 'string' &&
    typeof origin.title === 'string' &&
    typeof origin.text === 'string';
  return { text: found.text, origin: known ? origin : null };
}

/** The same of texts put aside. */
export function asideIn(text: string | null): string[] {
  const found = parsed(text);
  return Array.isArray(found) ? found.filter((one) => typeof one === 'string') : [];
}

function parsed(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
