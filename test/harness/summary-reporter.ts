/**
 * The last line of a test run: `N passed, N failed`, with `, N skipped` when some were. What failed outside a
 * test (a file that cannot be loaded, an error nobody awaited) counts as failed: the line never looks better
 * than the run.
 */
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

export type Counts = { passed: number; failed: number; skipped: number };

export function summaryLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`;
}

/** The part of vitest's report that counting needs. */
export type CountedModule = {
  state(): string;
  children: { allTests(): Iterable<{ result(): { state: string } }> };
};

export function countTests(modules: readonly CountedModule[], errorsOutside: number): Counts {
  const counts: Counts = { passed: 0, failed: errorsOutside, skipped: 0 };
  for (const module of modules) {
    let failedHere = 0;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed') counts.passed += 1;
      else if (state === 'skipped') counts.skipped += 1;
      // A test that never ended is as bad as one that failed.
      else failedHere += 1;
    }
    if (failedHere === 0 && module.state() === 'failed') failedHere = 1;
    counts.failed += failedHere;
  }
  return counts;
}

export default class SummaryReporter implements Reporter {
  #counts: Counts = { passed: 0, failed: 0, skipped: 0 };

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    this.#counts = countTests(modules, unhandledErrors.length);
    // The other reporters write their summary in the same round; this line comes after all of them.
    process.once('exit', () => process.stdout.write(`${summaryLine(this.#counts)}\n`));
  }
}
