/** JSON text as values of type JSON hold it: any sound value, without space between its tokens. */

/** The text without space between tokens, every digit and escape kept; null: it is no JSON. */
export function compactJsonText(text: string): string | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  let compact = '';
  let kept = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString && code === 92) at++;
    else if (code === 34) inString = !inString;
    else if (!inString && (code === 32 || code === 9 || code === 10 || code === 13)) {
      compact += text.slice(kept, at);
      kept = at + 1;
    }
  }
  return kept === 0 ? text : compact + text.slice(kept);
}
