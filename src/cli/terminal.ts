/**
 * What the command line says. Results go to stdout, everything else to stderr, so that a pipe
 * gets results only.
 */
import { EngineError, reportOf } from '../base/errors.ts';

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** What reads our output may stop reading, as `head` does: `stop` is then called, once, and nothing is said about it. */
export function onOutputClosed(stop: () => void): void {
  let closed = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    if (!closed) stop();
    closed = true;
  });
}

export function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Says what failed and the way out. A stack trace only for a bug, which is anything but an EngineError. */
export function printFailure(thrown: unknown): void {
  const report = reportOf(thrown);
  const place =
    report.span === undefined
      ? ''
      : ` (line ${report.span.start.line}, column ${report.span.start.column})`;
  note(`thalweg: ${report.code}: ${report.message}${place}`);
  for (const more of [report.detail, report.hint, report.suggestion]) {
    if (more !== undefined) note(more);
  }
  if (!(thrown instanceof EngineError) && thrown instanceof Error && thrown.stack !== undefined) {
    note(thrown.stack);
  }
}

/**
 * Whether a line of workerd's log is for its own authors. It marks what its operators need not be told of, such as an
 * alarm that was moved while it fired, with NOSENTRY; for whoever runs Thalweg such a line is a false alarm.
 */
export function isRuntimeChatter(message: string): boolean {
  return message.startsWith('NOSENTRY ');
}
