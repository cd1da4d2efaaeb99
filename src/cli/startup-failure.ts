/**
 * workerd is a native program and the first thing to fail on a machine that is not like the developer's.
 * What it prints then (a linker message, or nothing but a broken pipe) is turned into what failed and the
 * ways out.
 */
import { EngineError } from '../base/errors.ts';

export const WAYS_OUT = [
  'workerd needs Linux with glibc 2.35 or newer (Debian 12, Ubuntu 22.04), macOS 13.5 or newer, or 64-bit Windows 10 or newer.',
  'Two ways out:',
  '  docker run --rm -it -p 127.0.0.1:8787:8787 -v "$PWD":/app -w /app node:22-bookworm sh -c "npm install && npm run dev -- --host 0.0.0.0"',
  '  or run it on Cloudflare itself, which needs no local workerd: npx wrangler deploy (README, "Deploy").',
].join('\n');

/** How the failure shows when the program itself cannot run, as against a Worker that it refuses. */
const CANNOT_RUN =
  /GLIBC|GLIBCXX|error while loading shared libraries|dyld|symbol not found|ENOEXEC|EBADMACHO|Illegal instruction|cannot execute|not a valid Win32/i;

/** Lines of a thrown error that say something, without stack frames and without workerd's JSON clothing. */
function essence(text: string): string {
  const lines = text.split('\n').map((line) => {
    try {
      return String((JSON.parse(line) as { message: unknown }).message);
    } catch {
      return line.trim();
    }
  });
  return lines
    .filter(
      (line) =>
        line !== '' &&
        !line.startsWith('at ') &&
        line !== 'Runtime stderr:' &&
        !line.startsWith('The Workers runtime failed'),
    )
    .slice(0, 6)
    .join('\n');
}

/** Anything thrown while the runtime started, as an EngineError; one that already is stays as it is. */
export function explainStartupFailure(thrown: unknown, host: string, port: number): EngineError {
  if (thrown instanceof EngineError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const code = (thrown as { code?: unknown }).code;
  if (code === 'ERR_ADDRESS_IN_USE' || code === 'EADDRINUSE') {
    return new EngineError(
      'RUNTIME_FAILED',
      `port ${port} on ${host} is taken`,
      { hint: 'Choose another with --port, or leave --port out to get a free one.' },
      thrown,
    );
  }
  const detail = essence(message);
  const reason = detail === '' ? {} : { detail };
  if (CANNOT_RUN.test(message)) {
    return new EngineError(
      'RUNTIME_FAILED',
      'the local runtime (workerd) cannot start on this machine',
      { ...reason, hint: WAYS_OUT },
      thrown,
    );
  }
  const said =
    code === 'ERR_RUNTIME_FAILURE' && detail !== ''
      ? 'the local runtime (workerd) refuses the Worker'
      : 'the local runtime (workerd) ended while it started';
  return new EngineError(
    'RUNTIME_FAILED',
    said,
    { ...reason, hint: '`npm run doctor` checks the installation.' },
    thrown,
  );
}
