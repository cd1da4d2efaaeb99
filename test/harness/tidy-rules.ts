/**
 * The rules of the house as functions from one file to what is wrong with it. `test/tidy` runs them over the
 * project, and over texts that break them, so that a rule which no longer sees anything is noticed.
 */
import { posix } from 'node:path';
import { LAYERS, SHELL_FOLDERS, SYNCHRONOUS_FOLDERS, type Layer } from './layers.ts';
import type { ProjectFile } from './project-files.ts';
import { type Import, importsOf, lineAt, maskSource } from './source-text.ts';

/** `path:line: what` */
export type Violation = string;

/** Folders of src that a Durable Object's shell must not know: it serves the data plane, they are the control plane. */
const NOT_FOR_OBJECTS: readonly string[] = ['api', 'console', 'controller', 'catalog', 'cli'];

const FOLDERS = LAYERS.map((layer) => layer.folder);

/** The rules for files outside the layers: the Durable Objects' shells and the composition root. */
const OBJECTS: Layer = {
  folder: 'durable-objects',
  imports: FOLDERS.filter((folder) => !NOT_FOR_OBJECTS.includes(folder)),
  packages: ['cloudflare:workers'],
  purpose: 'load, step, persist, perform',
};
const COMPOSITION_ROOT: Layer = {
  folder: 'worker.ts',
  imports: [...FOLDERS.filter((folder) => folder !== 'cli'), 'durable-objects'],
  packages: ['cloudflare:workers'],
  purpose: 'fetch, scheduled, Durable Object exports',
};

/** `src/plan/rules/x.ts` → `plan`, `durable-objects/host.ts` → `durable-objects`, `src/worker.ts` → `worker.ts`. */
export function folderOf(path: string): string | undefined {
  const parts = path.split('/');
  return parts[0] === 'src' ? parts[1] : parts[0];
}

function layerOf(path: string): Layer | undefined {
  const folder = folderOf(path);
  if (path.startsWith('durable-objects/')) return OBJECTS;
  if (path === 'src/worker.ts') return COMPOSITION_ROOT;
  return LAYERS.find((layer) => layer.folder === folder);
}

function wrongImport(
  path: string,
  layer: Layer,
  { specifier, typesOnly }: Import,
): string | undefined {
  if (!specifier.startsWith('.')) {
    if (specifier.startsWith('node:'))
      return layer.folder === 'cli' || path.endsWith('.config.ts')
        ? undefined
        : `only cli may import ${specifier}`;
    const allowed =
      layer.packages?.some((name) => specifier === name || specifier.startsWith(`${name}/`)) ??
      false;
    return allowed ? undefined : `${layer.folder} must not import the package ${specifier}`;
  }
  if (!/\.(tsx?|css|wasm|json)(\?.*)?$/.test(specifier))
    return `write the file's ending: ${specifier}`;
  const target = posix.join(posix.dirname(path), specifier);
  if (!target.startsWith('src/') && !target.startsWith('durable-objects/'))
    return `leaves the product: ${specifier}`;
  const folder = folderOf(target);
  if (folder === layer.folder || (folder !== undefined && layer.imports.includes(folder)))
    return undefined;
  if (folder !== undefined && layer.typesOf?.includes(folder) === true)
    return typesOnly ? undefined : `${layer.folder} may import only types of ${folder}`;
  return `${layer.folder} must not import ${folder} (${specifier})`;
}

/** Imports that the layer table does not allow; a file outside every layer is one itself. */
export function layerViolations({ path, text }: ProjectFile): Violation[] {
  const layer = layerOf(path);
  if (layer === undefined) return [`${path}:1: belongs to no layer of test/harness/layers.ts`];
  return importsOf(text).flatMap((found) => {
    const wrong = wrongImport(path, layer, found);
    return wrong === undefined ? [] : [`${path}:${found.line}: ${wrong}`];
  });
}

/** Global names only: `clock.performance` or `port.fetch(…)` are someone's own. */
const OUTSIDE_WORLD =
  /(?<![.\w$#])(?:Date|crypto|performance|console|setTimeout|setInterval|setImmediate|queueMicrotask)\b(?!\s*:)|(?<![.\w$#])fetch\s*\(|\bMath\s*\.\s*random\b|\bglobalThis\b/g;
const GENERATED_CODE = /(?<![.\w$#])eval\s*\(|\bnew\s+Function\b/g;
const WAITING = /(?<![.\w$#])(?:async|await)\b(?!\s*:)/g;

function uses(file: ProjectFile, pattern: RegExp, why: string): Violation[] {
  const { code } = maskSource(file.text);
  return [...code.matchAll(pattern)].map(
    (match) => `${file.path}:${lineAt(code, match.index)}: ${match[0]}: ${why}`,
  );
}

/** The clock, chance, timers, the network and the console, where time and randomness have to be passed in. */
export function determinismViolations(file: ProjectFile): Violation[] {
  const folder = folderOf(file.path) ?? '';
  const isShell =
    !file.path.startsWith('src/') || folder === 'worker.ts' || SHELL_FOLDERS.includes(folder);
  return [
    ...(isShell ? [] : uses(file, OUTSIDE_WORLD, 'pass it in instead')),
    ...uses(file, GENERATED_CODE, 'Workers refuse code made at run time'),
  ];
}

/** `async` and `await` in folders whose code is a step machine. */
export function waitingViolations(file: ProjectFile): Violation[] {
  const synchronous =
    file.path.startsWith('src/') && SYNCHRONOUS_FOLDERS.includes(folderOf(file.path) ?? '');
  return synchronous ? uses(file, WAITING, 'a step machine does not wait') : [];
}

/** Someone else's tool asks these files for a default export. */
const DEFAULT_EXPORTS =
  /(?:(?:^|\/)src\/worker\.ts|^bench\/thalweg\/worker\.ts|^src\/kernels\/wasm-modules\.d\.ts|\.config\.ts|^test\/harness\/summary-reporter\.ts)$/;

export function defaultExportViolations(file: ProjectFile): Violation[] {
  if (DEFAULT_EXPORTS.test(file.path)) return [];
  return uses(file, /\bexport\s+default\b|\bas\s+default\b(?=[^;]*\})/g, 'export it by name');
}

/** Put together here, so that this file does not contain them. */
const UNFINISHED = new RegExp(
  `\\b(?:${['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X'].join('|')})\\b`,
  'g',
);

/** Work that was left open. */
export function unfinishedViolations({ path, text }: ProjectFile): Violation[] {
  return [...text.matchAll(UNFINISHED)].map(
    (match) => `${path}:${lineAt(text, match.index)}: ${match[0]}: finish it or leave it out`,
  );
}

const MACHINE_PATH = new RegExp(
  `(?<![\\w.:/-])/(?:${['work', 'farm', 'home', 'Users', 'root'].join('|')})/[\\w.-]+`,
  'g',
);

/** Paths that exist on one machine only. */
export function machinePathViolations({ path, text }: ProjectFile): Violation[] {
  return [...text.matchAll(MACHINE_PATH)].map(
    (match) => `${path}:${lineAt(text, match.index)}: ${match[0]}: a path of one machine`,
  );
}
