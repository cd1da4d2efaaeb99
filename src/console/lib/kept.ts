/** Texts that this browser keeps for the page: choices and drafts. */

/** Keeps a text in this browser; where that is forbidden, for this page only. */
export function keep(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
  } catch {
    // Private windows may refuse; nothing depends on it.
  }
}

export function kept(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
