/** A strict reader of Prometheus' text format: what it does not know is an error. */

export type Sample = { name: string; labels: Record<string, string>; value: number };
export type ParsedFamily = { name: string; help: string; type: string; samples: Sample[] };

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/;
const LABEL = /^[a-zA-Z_][a-zA-Z0-9_]*/;

export function parsePrometheus(text: string): ParsedFamily[] {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const families = new Map<string, ParsedFamily>();
  const seen = new Set<string>();
  let current: ParsedFamily | null = null;
  for (const line of text.slice(0, -1).split('\n')) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line);
    if (comment !== null) {
      const [, kind, name, rest] = comment as unknown as [string, string, string, string];
      if (kind === 'HELP') {
        if (families.has(name)) throw new Error(`${name} stands twice`);
        current = { name, help: unescaped(rest, false), type: '', samples: [] };
        families.set(name, current);
      } else {
        if (current?.name !== name) throw new Error(`TYPE of ${name} is not behind its HELP`);
        if (!['counter', 'gauge'].includes(rest)) throw new Error(`type ${rest}`);
        current.type = rest;
      }
      continue;
    }
    const sample = parseSample(line);
    if (current?.name !== sample.name) throw new Error(`${sample.name} is not in its family`);
    if (current.type === '') throw new Error(`${sample.name} has no type`);
    const key = `${sample.name}${JSON.stringify(Object.entries(sample.labels).toSorted())}`;
    if (seen.has(key)) throw new Error(`${key} stands twice`);
    seen.add(key);
    current.samples.push(sample);
  }
  return [...families.values()];
}

function parseSample(line: string): Sample {
  const name = NAME.exec(line)?.[0];
  if (name === undefined) throw new Error(`no sample: ${line}`);
  let rest = line.slice(name.length);
  const labels: Record<string, string> = {};
  if (rest.startsWith('{')) {
    rest = rest.slice(1);
    while (!rest.startsWith('}')) {
      const label = LABEL.exec(rest)?.[0];
      if (label === undefined || rest[label.length] !== '=') throw new Error(`label: ${line}`);
      const quoted = /^"((?:[^"\\\n]|\\[\\"n])*)"/.exec(rest.slice(label.length + 1));
      if (quoted === null) throw new Error(`value of ${label}: ${line}`);
      if (label in labels) throw new Error(`${label} twice: ${line}`);
      labels[label] = unescaped(quoted[1] as string, true);
      rest = rest.slice(label.length + 1 + quoted[0].length);
      if (rest.startsWith(',')) rest = rest.slice(1);
      else if (!rest.startsWith('}')) throw new Error(`after ${label}: ${line}`);
    }
    rest = rest.slice(1);
  }
  const value = /^ ([+-]Inf|NaN|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/.exec(rest)?.[1];
  if (value === undefined) throw new Error(`value: ${line}`);
  return { name, labels, value: Number(value.replace('Inf', 'Infinity')) };
}

const unescaped = (text: string, quotes: boolean): string =>
  text.replaceAll(/\\(.)/g, (all, sign: string) => {
    if (sign === 'n') return '\n';
    if (sign === '\\' || (quotes && sign === '"')) return sign;
    throw new Error(`unknown escape ${all}`);
  });
