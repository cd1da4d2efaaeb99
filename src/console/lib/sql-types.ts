/** Types as SQL writes them, taken apart as far as a form needs it. */

/** At the commas that stand in no brackets; empty parts are left out. */
export function splitAtCommas(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at <= text.length; at++) {
    const char = text[at];
    if (char === '(' || char === '<') depth++;
    if (char === ')' || char === '>') depth--;
    if ((char === ',' && depth === 0) || at === text.length) {
      const part = text.slice(from, at);
      if (part.trim() !== '') parts.push(part);
      from = at + 1;
    }
  }
  return parts;
}
