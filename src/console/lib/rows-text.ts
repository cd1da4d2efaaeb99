/** Pasted rows as a request sends them, and a row to begin with. Pure. */

export type RowsBody = { body: string; type: string };

const NDJSON = 'application/x-ndjson';

/** null: neither lines of JSON, nor an array, nor one object over several lines. */
export function bodyOf(text: string): RowsBody | null {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  if (trimmed.startsWith('[') && isJson(trimmed))
    return { body: trimmed, type: 'application/json' };
  const lines = trimmed.split('\n').filter((line) => line.trim() !== '');
  const whole = lines.filter(isJson).length;
  // Of lines one may be wrong: it is refused by itself.
  if (whole > 0 && whole >= lines.length / 2) return { body: `${trimmed}\n`, type: NDJSON };
  if (isJson(trimmed)) return { body: `[${trimmed}]`, type: 'application/json' };
  return lines.length === 1 ? { body: `${trimmed}\n`, type: NDJSON } : null;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** @param now  an ISO time */
export function sampleRow(columns: readonly { name: string; type: string }[], now: string): string {
  const members = columns.map(({ name, type }) => `${JSON.stringify(name)}: ${sample(type, now)}`);
  return `{${members.join(', ')}}`;
}

function sample(type: string, now: string): string {
  if (type.startsWith('TIMESTAMP')) return JSON.stringify(now);
  if (type.startsWith('DATE')) return JSON.stringify(now.slice(0, 10));
  if (type.startsWith('TIME')) return JSON.stringify(now.slice(11, 19));
  if (type.startsWith('BOOL')) return 'true';
  if (/^(TINYINT|SMALLINT|INT|BIGINT)/.test(type)) return '1';
  if (/^(DOUBLE|REAL|FLOAT|DECIMAL|NUMERIC)/.test(type)) return '1.5';
  if (type.endsWith('[]') || type.startsWith('ARRAY') || type.startsWith('LIST')) return '[]';
  if (type.startsWith('STRUCT') || type.startsWith('MAP') || type.startsWith('JSON')) return '{}';
  return '"a"';
}
