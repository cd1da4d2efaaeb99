/**
 * Writes the parts of the documents that are made from code, between their markers:
 * `npm run docs` rewrites them, `test/tidy` fails while they are out of date.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { LAYERS } from '../test/harness/layers.ts';

const ROOT = resolve(import.meta.dirname, '..');

type Section = { path: string; name: string; body: () => string };

/** The layer table as Markdown. */
export function layerTable(): string {
  const rows = LAYERS.map(({ folder, imports, packages, purpose }) => {
    const allowed = [...imports, ...(packages ?? []).map((name) => `*${name}*`)].join(', ');
    return `| ${folder} | ${purpose} | ${allowed || '–'} |`;
  });
  return ['| folder | purpose | may import |', '|---|---|---|', ...rows].join('\n');
}

const SECTIONS: readonly Section[] = [
  { path: 'docs/architecture.md', name: 'layers', body: layerTable },
];

/** The text with the section between its markers replaced; undefined when the markers are not there. */
export function withSection(text: string, name: string, body: string): string | undefined {
  const begin = `<!-- ${name}: begin -->`;
  const end = `<!-- ${name}: end -->`;
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from === -1 || to < from) return undefined;
  return `${text.slice(0, from + begin.length)}\n${body}\n${text.slice(to)}`;
}

/** Documents whose made parts are not what the code says now, or lack their markers, with the right text. */
export function outdatedDocuments(): { path: string; text: string | undefined }[] {
  return SECTIONS.flatMap(({ path, name, body }) => {
    const file = join(ROOT, path);
    if (!existsSync(file)) return [{ path, text: undefined }];
    const now = readFileSync(file, 'utf8');
    const right = withSection(now, name, body());
    return right === now ? [] : [{ path, text: right }];
  });
}

if (import.meta.main) {
  for (const { path, text } of outdatedDocuments()) {
    if (text === undefined) {
      process.stderr.write(`${path} is not there or has no markers\n`);
      process.exitCode = 1;
    } else {
      writeFileSync(join(ROOT, path), text);
      process.stdout.write(`wrote ${path}\n`);
    }
  }
}
