/**
 * Who may import whom. A folder may import itself and only the folders its row names (type imports count).
 * `test/tidy` enforces this table and `scripts/docs.ts` prints it into docs/architecture.md.
 */
export type Layer = {
  folder: string;
  imports: readonly string[];
  /** Folders of which it may know the types, and nothing that runs. */
  typesOf?: readonly string[];
  packages?: readonly string[];
  purpose: string;
};

export const LAYERS: readonly Layer[] = [
  {
    folder: 'base',
    imports: [],
    purpose: 'words everyone speaks: ids, limits, errors, hash, prng',
  },
  {
    folder: 'sql',
    imports: ['base'],
    purpose: 'SQL text to syntax tree and back; knows no types and no tables',
  },
  {
    folder: 'batch',
    imports: ['base'],
    packages: ['apache-arrow'],
    purpose: 'Arrow-layout record batches',
  },
  {
    folder: 'kernels',
    imports: ['base', 'batch'],
    purpose:
      'compiled loops (WebAssembly) behind a port, for callers that hold a twin in TypeScript',
  },
  {
    folder: 'lineage',
    imports: ['base', 'kernels'],
    purpose: 'the R2 lineage protocol as generators over an object-store port',
  },
  {
    folder: 'catalog',
    imports: ['base'],
    packages: ['kysely'],
    purpose: 'pipelines and jobs in D1',
  },
  {
    folder: 'state',
    imports: ['base', 'batch', 'kernels', 'lineage'],
    purpose: 'keyed tables, table files, rescale',
  },
  {
    folder: 'expr',
    imports: ['base', 'batch', 'kernels', 'state'],
    packages: ['re2js'],
    purpose: 'typed expressions and aggregates, compiled to column closures',
  },
  {
    folder: 'formats',
    imports: ['base', 'batch', 'kernels'],
    purpose: 'bytes to batches and back',
  },
  {
    folder: 'sandbox',
    imports: ['base', 'batch'],
    purpose: "runs a function of the user's own, within the Worker that holds its code",
  },
  {
    folder: 'plan',
    imports: ['base', 'batch', 'expr', 'sql', 'formats'],
    purpose: 'syntax tree to logical plan, rules, EXPLAIN',
  },
  {
    folder: 'graph',
    imports: ['base', 'batch', 'expr', 'plan', 'sql', 'formats'],
    purpose: 'logical plan to physical graph, stages, assignment',
  },
  {
    folder: 'operators',
    imports: ['base', 'batch', 'kernels', 'expr', 'formats', 'state', 'graph'],
    purpose: 'one operator per file',
  },
  {
    folder: 'connectors',
    imports: ['base', 'batch', 'expr', 'formats', 'lineage', 'operators', 'plan', 'graph'],
    purpose: 'sources and sinks behind one contract',
  },
  {
    folder: 'protocol',
    imports: ['base', 'graph', 'lineage'],
    purpose: 'messages between controller, leader, hosts and API',
  },
  {
    folder: 'audit',
    imports: ['base', 'formats', 'lineage', 'protocol'],
    purpose: 'what each epoch did, hash-chained, and the proof of it from the bucket alone',
  },
  {
    folder: 'checkpoint',
    imports: ['base', 'lineage', 'protocol'],
    purpose: 'barriers, alignment, epoch coordination',
  },
  {
    folder: 'subtask',
    imports: [
      'base',
      'batch',
      'expr',
      'formats',
      'graph',
      'state',
      'operators',
      'connectors',
      'protocol',
      'checkpoint',
      'lineage',
      'kernels',
    ],
    purpose: "one host's subtasks as a step machine",
  },
  {
    folder: 'leader',
    imports: ['base', 'graph', 'lineage', 'checkpoint', 'protocol'],
    purpose: "one generation's leader as a step machine",
  },
  {
    folder: 'controller',
    imports: ['base', 'catalog', 'lineage', 'protocol', 'graph'],
    purpose: 'desired against observed state to actions',
  },
  {
    folder: 'api',
    imports: [
      'base',
      'batch',
      'catalog',
      'connectors',
      'controller',
      'formats',
      'graph',
      'plan',
      'sql',
      'protocol',
      'lineage',
      'audit',
      'expr',
    ],
    packages: ['hono', '@hono/zod-openapi', 'zod'],
    purpose: 'HTTP routes, OpenAPI, problem documents',
  },
  {
    folder: 'console',
    imports: [],
    typesOf: ['api', 'base'],
    packages: [
      'preact',
      'preact-iso',
      '@preact/signals',
      '@codemirror',
      '@lezer/highlight',
      '@lezer/common',
      '@tanstack/virtual-core',
      '@dagrejs/dagre',
      'uplot',
      'vite',
      'zod',
    ],
    purpose:
      'the web console, built to static assets; speaks HTTP, and knows the shapes of the API',
  },
  {
    folder: 'platform',
    imports: [
      'base',
      'batch',
      'catalog',
      'connectors',
      'graph',
      'controller',
      'kernels',
      'lineage',
      'protocol',
      'state',
      'api',
      'expr',
      'sandbox',
    ],
    packages: ['cloudflare:workers', 'kysely', 'kysely-d1', 'sucrase'],
    purpose: 'adapters to the Cloudflare APIs',
  },
  {
    folder: 'cli',
    imports: [
      'base',
      'graph',
      'kernels',
      'plan',
      'sql',
      'connectors',
      'protocol',
      'lineage',
      'audit',
    ],
    packages: ['aws4fetch', 'miniflare', 'wrangler', 'esbuild', 'vite'],
    purpose: 'the command line: dev and run, in Node',
  },
];

/** Folders whose code must be deterministic: no clock, timer, randomness, fetch or console. */
export const SHELL_FOLDERS: readonly string[] = ['sandbox', 'platform', 'api', 'console', 'cli'];

/** Folders that must not contain `await` or `async`. */
export const SYNCHRONOUS_FOLDERS: readonly string[] = [
  'base',
  'sql',
  'batch',
  'kernels',
  'expr',
  'formats',
  'state',
  'plan',
  'graph',
  'operators',
  'connectors',
  'protocol',
  'audit',
  'checkpoint',
  'subtask',
  'leader',
  'lineage',
];
