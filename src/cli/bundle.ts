/**
 * One Worker from many source files: esbuild makes one ESM file, `.wasm` files stay modules of their own
 * (workerd compiles them when it loads them; code may not).
 *
 * A bundle is kept with the hash of every file that went into it, so a start without a change reads and
 * hashes the sources and builds nothing. A file that vanished or changed, another lockfile or another
 * esbuild means a new build.
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { build, version as esbuildVersion, type Metafile, type Plugin } from 'esbuild';
import { EngineError } from '../base/errors.ts';
import { PROJECT_ROOT, workDir } from './project.ts';

export type WorkerModule = { type: 'ESModule' | 'CompiledWasm'; path: string };

/** Modules of the Worker, entry first; paths are absolute and lie in `directory`. */
export type Bundle = {
  directory: string;
  modules: WorkerModule[];
  inputs: string[];
  fresh: boolean;
  /** When it was built: a later build has a greater text. */
  version: string;
};

export type BundleOptions = {
  /** Folder with wrangler.toml. */
  root?: string;
  /** The entry file, relative to root. */
  entry?: string;
  /** Where the result goes; default `.thalweg/build` in root. */
  directory?: string;
};

type Recipe = {
  key: string;
  inputs: Record<string, string>;
  modules: WorkerModule[];
  version: string;
};

const ENTRY_NAME = 'worker.js';

function digest(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 32);
}

async function digestOf(path: string): Promise<string> {
  return existsSync(path) ? digest(await readFile(path)) : 'absent';
}

async function recipeKey(root: string, entry: string): Promise<string> {
  const lockfile = await digestOf(join(root, 'package-lock.json'));
  return `3 ${esbuildVersion} ${entry} ${lockfile}`;
}

/** The bundle in `directory` if every input still has the content it was built from. */
async function reuse(directory: string, root: string, key: string): Promise<Bundle | undefined> {
  const recipePath = join(directory, 'recipe.json');
  if (!existsSync(recipePath)) return undefined;
  const recipe = JSON.parse(await readFile(recipePath, 'utf8')) as Recipe;
  if (recipe.key !== key) return undefined;
  const unchanged = await Promise.all(
    Object.entries(recipe.inputs).map(
      async ([path, hash]) => (await digestOf(join(root, path))) === hash,
    ),
  );
  if (unchanged.includes(false)) return undefined;
  const modules = recipe.modules.map((module) => ({
    ...module,
    path: join(directory, module.path),
  }));
  if (!modules.every((module) => existsSync(module.path))) return undefined;
  const { inputs, version } = recipe;
  return { directory, modules, inputs: Object.keys(inputs), fresh: false, version };
}

/** Leaves `.wasm` imports in place under a name made from their content, and collects the files. */
function wasmModules(found: Map<string, string>): Plugin {
  return {
    name: 'wasm-modules',
    setup(builder) {
      builder.onResolve({ filter: /\.wasm(\?module)?$/ }, async (reference) => {
        const source = resolve(reference.resolveDir, reference.path.replace(/\?module$/, ''));
        if (!existsSync(source)) return { errors: [{ text: `cannot find ${reference.path}` }] };
        const name = `${(await digestOf(source)).slice(0, 12)}-${basename(source)}`;
        found.set(name, source);
        return { path: `./${name}`, external: true, watchFiles: [source] };
      });
    },
  };
}

/** Written beside and renamed, so that a build that was interrupted is never taken for a whole one. */
async function replaceFile(path: string, content: Uint8Array | string): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, content);
  await rename(draft, path);
}

async function compile(
  root: string,
  entry: string,
  wasm: Map<string, string>,
): Promise<{ files: Map<string, Uint8Array>; metafile: Metafile }> {
  try {
    const result = await build({
      absWorkingDir: root,
      entryPoints: [entry],
      outfile: join(root, ENTRY_NAME),
      write: false,
      bundle: true,
      format: 'esm',
      target: 'es2024',
      platform: 'browser',
      conditions: ['workerd', 'worker', 'browser'],
      external: ['cloudflare:*', 'node:*'],
      loader: { '.html': 'text', '.sql': 'text', '.txt': 'text' },
      keepNames: true,
      sourcemap: 'linked',
      metafile: true,
      logLevel: 'silent',
      plugins: [wasmModules(wasm)],
    });
    return {
      files: new Map(result.outputFiles.map((file) => [basename(file.path), file.contents])),
      metafile: result.metafile,
    };
  } catch (error) {
    throw new EngineError(
      'BUILD_FAILED',
      'the Worker does not build',
      { detail: describeBuildErrors(error) },
      error,
    );
  }
}

function describeBuildErrors(error: unknown): string {
  const errors = (
    error as {
      errors?: { text: string; location?: { file: string; line: number; column: number } | null }[];
    }
  ).errors;
  if (errors === undefined || errors.length === 0)
    return error instanceof Error ? error.message : String(error);
  return errors
    .map(({ text, location }) =>
      location ? `${location.file}:${location.line}:${location.column + 1}: ${text}` : text,
    )
    .join('\n');
}

/** Builds the Worker, or takes the earlier build if nothing changed. Throws BUILD_FAILED with the places. */
export async function bundleWorker(options: BundleOptions = {}): Promise<Bundle> {
  const root = resolve(options.root ?? PROJECT_ROOT);
  const entry = options.entry ?? 'src/worker.ts';
  const directory = resolve(options.directory ?? join(workDir(root), 'build'));
  const key = await recipeKey(root, entry);
  const earlier = await reuse(directory, root, key);
  if (earlier !== undefined) return earlier;

  const wasm = new Map<string, string>();
  const { files, metafile } = await compile(root, entry, wasm);
  await mkdir(directory, { recursive: true });
  for (const [name, content] of files) await replaceFile(join(directory, name), content);
  for (const [name, source] of wasm)
    await replaceFile(join(directory, name), await readFile(source));

  const sources = [
    ...Object.keys(metafile.inputs).map((path) => join(root, path)),
    ...wasm.values(),
  ];
  const inputs = Object.fromEntries(
    await Promise.all(
      sources.map(async (path) => [relative(root, path), await digestOf(path)] as const),
    ),
  );
  const modules: WorkerModule[] = [
    { type: 'ESModule', path: ENTRY_NAME },
    ...[...wasm.keys()].map((name): WorkerModule => ({ type: 'CompiledWasm', path: name })),
  ];
  const version = new Date().toISOString();
  const recipe: Recipe = { key, inputs, modules, version };
  await replaceFile(join(directory, 'recipe.json'), JSON.stringify(recipe));
  return {
    directory,
    modules: modules.map((module) => ({ ...module, path: join(directory, module.path) })),
    inputs: Object.keys(inputs),
    fresh: true,
    version,
  };
}
