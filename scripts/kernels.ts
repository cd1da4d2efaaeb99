/**
 * `npm run kernels`: compiles src/kernels/assembly/NAME.ts to src/kernels/NAME.wasm. The results are committed, so that
 * nobody needs the compiler to build or run Thalweg; `test/kernels` holds them to their sources.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { main as compile } from 'assemblyscript/asc';
import { KERNEL_NAMES } from '../src/kernels/kernels.ts';

const FOLDER = resolve(import.meta.dirname, '../src/kernels');

export const wasmPath = (name: string): string => join(FOLDER, `${name}.wasm`);

/**
 * Without classes, strings or closures of the language no runtime gets in: no allocator, no collector
 * and no import. `--noExportMemory` is absent, so each kernel brings and exports a memory of its own.
 */
const FLAGS = ['--runtime', 'stub', '--enable', 'simd', '--noAssert'];

type CompileOptions = {
  /** Changes the text of a source file: tests plant faults by it. */
  change?: (path: string, text: string) => string;
  /** Default 3; 0 compiles faster and runs slower. */
  optimizeLevel?: number;
};

export async function compileKernel(
  name: string,
  { change = (_path, text) => text, optimizeLevel = 3 }: CompileOptions = {},
): Promise<Uint8Array> {
  let wasm: Uint8Array | undefined;
  const args = [`assembly/${name}.ts`, '--outFile', 'out.wasm', ...FLAGS];
  const { error, stderr } = await compile(
    [...args, '--optimizeLevel', String(optimizeLevel), '--baseDir', FOLDER],
    {
      readFile: (path: string, directory: string) => {
        try {
          return change(path, readFileSync(resolve(directory, path), 'utf8'));
        } catch {
          // The compiler asks for several names and takes the one that exists.
          return null;
        }
      },
      writeFile: (_path: string, content: Uint8Array | string) => {
        if (typeof content !== 'string') wasm = content;
      },
      listFiles: () => [],
    },
  );
  if (error !== null || wasm === undefined)
    throw new Error(`kernel ${name} does not compile:\n${stderr.toString()}`);
  return wasm;
}

if (import.meta.main || process.argv[1] === import.meta.filename) {
  for (const name of KERNEL_NAMES) {
    const wasm = await compileKernel(name);
    writeFileSync(wasmPath(name), wasm);
    process.stdout.write(`${name}.wasm ${wasm.length} bytes\n`);
  }
}
