/** What a browser has to load of the console, as Vite builds it: gzip sizes of the start and of each page behind it. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';

type Chunk = {
  file: string;
  isEntry?: boolean;
  imports?: string[];
  dynamicImports?: string[];
  css?: string[];
  assets?: string[];
};
type Manifest = Record<string, Chunk>;

export type Bundle = {
  page: string;
  /** Scripts and styles that the page needs to appear, beyond what every page has. */
  bytes: number;
  /** The same of what it loads when a part of it is shown: the editor, the graph, charts, a tab. */
  laterBytes: number;
};

export type Bundles = {
  /** Before anything can be shown: entry, frame and the start page. */
  initialBytes: number;
  /** The files of both fonts that a page in English needs; woff2 is compressed already. */
  fontBytes: number;
  pages: Bundle[];
};

const START = 'pages/start/page.tsx';

export async function measureBundles(root: string): Promise<Bundles> {
  const folder = await mkdtemp(join(tmpdir(), 'thalweg-console-'));
  try {
    await build({
      configFile: join(root, 'src/console/vite.config.ts'),
      logLevel: 'error',
      build: { outDir: folder, emptyOutDir: true, manifest: 'manifest.json' },
    });
    const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as Manifest;
    return await new Built(folder, manifest).measure();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

class Built {
  readonly #folder: string;
  readonly #manifest: Manifest;
  readonly #sizes = new Map<string, number>();

  constructor(folder: string, manifest: Manifest) {
    this.#folder = folder;
    this.#manifest = manifest;
  }

  async measure(): Promise<Bundles> {
    const [entry = ''] = Object.keys(this.#manifest).filter((key) => this.#chunk(key).isEntry);
    const frame = this.#files([entry]);
    const start = this.#files([entry, START]);
    const pages: Bundle[] = [];
    for (const key of this.#chunk(entry).dynamicImports ?? []) {
      const own = without(this.#files([key]), frame);
      const later = without(this.#files(this.#laterOf(key)), new Set([...frame, ...own]));
      const bytes = await this.#bytes(own);
      pages.push({ page: key, bytes, laterBytes: await this.#bytes(later) });
    }
    return {
      initialBytes: await this.#bytes(start),
      fontBytes: await this.#fonts(entry),
      pages: pages.toSorted((left, right) => (left.page < right.page ? -1 : 1)),
    };
  }

  #chunk(key: string): Chunk {
    const chunk = this.#manifest[key];
    if (chunk === undefined) throw new Error(`the build has no ${key}`);
    return chunk;
  }

  /** Scripts and styles of chunks and of what they import at once. */
  #files(keys: readonly string[], seen = new Set<string>()): Set<string> {
    const files = new Set<string>();
    for (const key of keys) {
      if (seen.has(key)) continue;
      seen.add(key);
      const { file, css = [], imports = [] } = this.#chunk(key);
      for (const each of [file, ...css, ...this.#files(imports, seen)]) files.add(each);
    }
    return files;
  }

  /** Chunks that a page loads later, and what those load; not the other pages. */
  #laterOf(key: string, seen = new Set<string>()): string[] {
    const { imports = [], dynamicImports = [] } = this.#chunk(key);
    const own = dynamicImports.filter((one) => !one.endsWith('/page.tsx'));
    for (const next of [...own, ...imports]) {
      if (seen.has(next) || this.#chunk(next).isEntry === true) continue;
      seen.add(next);
      this.#laterOf(next, seen);
    }
    return [...seen];
  }

  async #bytes(files: Iterable<string>): Promise<number> {
    let bytes = 0;
    for (const file of files) bytes += await this.#gzip(file);
    return bytes;
  }

  async #gzip(file: string): Promise<number> {
    const known = this.#sizes.get(file);
    if (known !== undefined) return known;
    const size = gzipSync(await readFile(join(this.#folder, file))).length;
    this.#sizes.set(file, size);
    return size;
  }

  async #fonts(entry: string): Promise<number> {
    const { assets = [] } = this.#chunk(entry);
    const latin = assets.filter((file) => /-latin-(?!ext)[^/]*\.woff2$/.test(file));
    const texts = await Promise.all(latin.map((file) => readFile(join(this.#folder, file))));
    return texts.reduce((sum, { length }) => sum + length, 0);
  }
}

const without = (files: ReadonlySet<string>, known: ReadonlySet<string>): Set<string> =>
  new Set([...files].filter((file) => !known.has(file)));
