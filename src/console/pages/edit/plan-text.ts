/** What the text of a physical plan says of one operator. Pure. */

/** Its lines without the indentation; empty when the plan has no such operator. */
export function operatorLines(physical: string, id: string): string[] {
  const lines = physical.split('\n');
  const start = lines.findIndex((line) => line.trim().startsWith(`${id}:`));
  if (start === -1) return [];
  const depth = indentOf(lines[start] ?? '');
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => line.trim() === '' || indentOf(line) <= depth);
  return rest.slice(0, end === -1 ? rest.length : end).map((line) => line.trim());
}

const indentOf = (line: string): number => line.length - line.trimStart().length;
