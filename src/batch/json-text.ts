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

export type JsonParts =
  | { tag: 'array'; items: string[] }
  | { tag: 'object'; entries: [name: string, value: string][] };

/** The elements of an array or the fields of an object, each as its own JSON text; null: neither. */
export function jsonParts(text: string): JsonParts | null {
  const compact = compactJsonText(text);
  const open = compact?.charCodeAt(0);
  if (compact === null || (open !== 91 && open !== 123)) return null;
  const parts = split(compact);
  if (open === 91) return { tag: 'array', items: parts };
  return {
    tag: 'object',
    entries: parts.map((part) => {
      const end = stringEnd(part);
      return [JSON.parse(part.slice(0, end)) as string, part.slice(end + 1)];
    }),
  };
}

/** The position after the string that begins at `from`. */
function stringEnd(text: string, from = 0): number {
  let at = from + 1;
  while (text.charCodeAt(at) !== 34) at += text.charCodeAt(at) === 92 ? 2 : 1;
  return at + 1;
}

/** What lies between the commas of the outermost brackets of compact JSON. */
function split(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) at = stringEnd(text, at) - 1;
    else if (code === 91 || code === 123) depth++;
    else if (code === 93 || code === 125) depth--;
    else if (code === 44 && depth === 1) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  if (text.length > 2) parts.push(text.slice(start, -1));
  return parts;
}

/** A JSON value as the text that a cast to another type reads: without quotes; null: it is null. */
export function jsonScalar(json: string): string | null {
  if (json === 'null') return null;
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}
