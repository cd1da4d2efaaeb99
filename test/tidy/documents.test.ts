import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ERROR_CODES } from '../../src/base/errors.ts';
import { projectFiles, ROOT } from '../harness/project-files.ts';

const pages = projectFiles(['README.md', 'CHANGELOG.md', 'docs', 'examples', 'bench'], /\.md$/);

/** Text without fenced and inline code: an example is not a link. */
function prose(markdown: string): string {
  return markdown.replace(/^(```+)[\s\S]*?^\1/gm, '').replace(/`[^`\n]*`/g, '');
}

/** The anchor a heading gets on the usual hosts. */
function anchorOf(heading: string): string {
  return heading
    .replace(/`/g, '')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

function anchorsOf(markdown: string): Set<string> {
  const fenceless = markdown.replace(/^(```+)[\s\S]*?^\1/gm, '');
  return new Set([...fenceless.matchAll(/^#+\s+(.*)$/gm)].map((match) => anchorOf(match[1] ?? '')));
}

function brokenLinks(path: string, text: string): string[] {
  return [...prose(text).matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)].flatMap((match) => {
    const link = match[1] ?? '';
    if (/^[a-z][a-z+.-]*:/i.test(link)) return [];
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? path : posix.join(posix.dirname(path), decodeURI(file));
    if (!existsSync(join(ROOT, target))) return [`${path}: ${link}`];
    if (anchor === undefined || anchor === '' || !target.endsWith('.md')) return [];
    return anchorsOf(readFileSync(join(ROOT, target), 'utf8')).has(anchor)
      ? []
      : [`${path}: ${link}`];
  });
}

describe('the documents', () => {
  test('every link to a file or heading of the project leads somewhere', () => {
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.flatMap(({ path, text }) => brokenLinks(path, text))).toEqual([]);
  });

  test('a link that leads nowhere is seen', () => {
    expect(
      brokenLinks(
        'docs/x.md',
        '[a](absent.md) [b](errors.md#nowhere) [c](errors.md#syntax) `[d](no.md)`',
      ),
    ).toEqual(['docs/x.md: absent.md', 'docs/x.md: errors.md#nowhere']);
  });

  test('docs/errors.md has one paragraph for each error code, and for nothing else', () => {
    const text = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8');
    const paragraphs = new Map(
      text
        .split(/^## /m)
        .slice(1)
        .map((section) => {
          const [heading = '', ...body] = section.split('\n');
          return [heading.trim(), body.join('\n').trim()] as const;
        }),
    );
    expect([...paragraphs.keys()].toSorted()).toEqual(Object.keys(ERROR_CODES).toSorted());
    const short = [...paragraphs].filter(([, body]) => body.length < 60).map(([code]) => code);
    expect(short, 'say the cause and the way out').toEqual([]);
  });

  test('package-lock.json holds no download addresses', () => {
    const lines = readFileSync(join(ROOT, 'package-lock.json'), 'utf8').split('\n');
    expect(lines.length).toBeGreaterThan(100);
    expect(lines.filter((line) => line.includes('"resolved": "http'))).toEqual([]);
  });

  test('docs/dependencies.md names every direct dependency', () => {
    const text = readFileSync(join(ROOT, 'docs/dependencies.md'), 'utf8');
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
      string,
      Record<string, string>
    >;
    const names = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((kind) =>
      Object.keys(manifest[kind] ?? {}),
    );
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });
});
