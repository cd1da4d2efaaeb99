/**
 * Rows of a result as the text that the server wrote: a number past 2^53 or with twenty digits behind the point is shown
 * with every digit it has. `JSON.parse` alone would round them, so each number keeps its source text.
 */

/** A number as it was written. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What a cell holds: JSON, with exact numbers. */
export type Exact = null | boolean | string | ExactNumber | Exact[] | { [name: string]: Exact };

export type ExactRow = { [name: string]: Exact };

type WithSource = { source?: string };

function keepDigits(_key: string, value: unknown, context?: WithSource): unknown {
  if (typeof value !== 'number') return value;
  return new ExactNumber(context?.source ?? String(value));
}

/** Rows from the text of a JSON array of objects. Throws SyntaxError. */
export function exactRows(text: string): ExactRow[] {
  return JSON.parse(text, keepDigits) as ExactRow[];
}

export function exactValue(text: string): Exact {
  return JSON.parse(text, keepDigits) as Exact;
}

/** A cell as text: text as it is, everything else as JSON. */
export function cellText(value: Exact | undefined): string {
  if (value === undefined || value === null) return 'NULL';
  if (typeof value === 'string') return value;
  return jsonText(value);
}

/** JSON text with every digit. */
export function jsonText(value: Exact): string {
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(jsonText).join(', ')}]`;
  if (value !== null && typeof value === 'object')
    return `{${Object.entries(value)
      .map(([name, member]) => `${JSON.stringify(name)}: ${jsonText(member)}`)
      .join(', ')}}`;
  return JSON.stringify(value);
}
