import { describe, expect, test } from 'vitest';
import { LAYERS } from '../harness/layers.ts';
import { allFiles, projectFiles, type ProjectFile } from '../harness/project-files.ts';
import {
  defaultExportViolations,
  determinismViolations,
  layerViolations,
  machinePathViolations,
  unfinishedViolations,
  waitingViolations,
  type Violation,
} from '../harness/tidy-rules.ts';

const product = projectFiles(['src', 'durable-objects'], /\.tsx?$/);
const typescript = projectFiles(['.'], /\.tsx?$/);
const everything = allFiles();

const LINES_MAX = 500;

type Rule = {
  name: string;
  check: (file: ProjectFile) => Violation[];
  files: readonly ProjectFile[];
  /** Texts that break the rule once each, and such that only look like it. */
  bad: readonly ProjectFile[];
  good: readonly ProjectFile[];
};

const RULES: readonly Rule[] = [
  {
    name: 'every folder imports only the folders and packages its layer allows',
    check: layerViolations,
    files: product,
    bad: [
      { path: 'src/sql/x.ts', text: "import type { Plan } from '../plan/plan.ts';" },
      { path: 'src/plan/x.ts', text: "import { Table } from 'apache-arrow';" },
      { path: 'src/plan/x.ts', text: "import { readFileSync } from 'node:fs';" },
      { path: 'src/base/x.ts', text: "import { assert } from './assert';" },
      { path: 'src/cli/x.ts', text: "import { ROOT } from '../../test/harness/project-files.ts';" },
      { path: 'src/utils/x.ts', text: '' },
      { path: 'src/console/x.tsx', text: "import { createApi } from '../api/app.ts';" },
      { path: 'durable-objects/x.ts', text: "import { route } from '../src/api/route.ts';" },
    ],
    good: [
      {
        path: 'src/sql/x.ts',
        text: "import { assert } from '../base/assert.ts'; // from '../plan/plan.ts'",
      },
      { path: 'src/console/x.tsx', text: "import type { Api } from '../api/app.ts';" },
    ],
  },
  {
    name: 'the core has no clock, chance, timer, network or console',
    check: determinismViolations,
    files: product,
    bad: [{ path: 'src/expr/x.ts', text: 'const now = Date.now();' }],
    good: [
      {
        path: 'src/expr/x.ts',
        text: "log.console(node.fetch(1), 'Date.now()'); type A = { crypto: 1 }",
      },
    ],
  },
  {
    name: 'no code is made at run time',
    check: determinismViolations,
    files: product,
    bad: [{ path: 'src/platform/x.ts', text: "const f = new Function('return 1');" }],
    good: [{ path: 'src/platform/x.ts', text: 'expression.eval(row);' }],
  },
  {
    name: 'step machines do not wait',
    check: waitingViolations,
    files: product,
    bad: [{ path: 'src/leader/x.ts', text: 'export async function step() {}' }],
    good: [{ path: 'src/platform/x.ts', text: 'export async function perform() {}' }],
  },
  {
    name: 'everything is exported by name',
    check: defaultExportViolations,
    files: typescript,
    bad: [{ path: 'src/sql/x.ts', text: 'export default function parse() {}' }],
    good: [{ path: 'src/sql/x.ts', text: "export const a = 'export default';" }],
  },
  {
    name: 'nothing is left unfinished',
    check: unfinishedViolations,
    files: everything,
    bad: [{ path: 'src/sql/x.ts', text: `// ${'TO'}${'DO'}: later` }],
    good: [{ path: 'src/sql/x.ts', text: '// to do what it must' }],
  },
  {
    name: 'no path of one machine stands in the project',
    check: machinePathViolations,
    files: everything,
    bad: [{ path: 'docs/x.md', text: `see ${'/ho'}me/someone/notes` }],
    good: [{ path: 'docs/x.md', text: 'GET /api/v1/home/x and ./homes/of/ours' }],
  },
];

describe('the house is tidy', () => {
  test.each(RULES)('$name', ({ check, files }) => {
    expect(files.length, 'files visited').toBeGreaterThan(10);
    expect(files.flatMap((file) => check(file))).toEqual([]);
  });

  test.each(RULES)('a breach is seen and a look-alike is not: $name', ({ check, bad, good }) => {
    expect(bad.map((file) => check(file).length)).toEqual(bad.map(() => 1));
    expect(good.flatMap((file) => check(file))).toEqual([]);
  });

  test('the layer table has no circle and knows every folder it names', () => {
    const placed = new Set<string>();
    for (const { folder, imports } of LAYERS) {
      expect(
        imports.filter((name) => !placed.has(name) && name !== folder),
        `${folder} imports only what stands above it`,
      ).toEqual([]);
      placed.add(folder);
    }
  });

  test(`files over ${LINES_MAX} lines are listed`, () => {
    const long = product
      .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
      .filter(({ lines }) => lines > LINES_MAX);
    for (const { path, lines } of long)
      process.stdout.write(`over ${LINES_MAX} lines: ${path} (${lines})\n`);
    expect(product.length).toBeGreaterThan(10);
  });
});
