import { expect, test } from 'vitest';
import { countTests, summaryLine, type CountedModule } from '../harness/summary-reporter.ts';

function moduleOf(state: string, ...tests: string[]): CountedModule {
  return {
    state: () => state,
    children: { allTests: () => tests.map((each) => ({ result: () => ({ state: each }) })) },
  };
}

test('the line has no skipped part when nothing was skipped', () => {
  expect(summaryLine({ passed: 3, failed: 0, skipped: 0 })).toBe('3 passed, 0 failed');
  expect(summaryLine({ passed: 3, failed: 1, skipped: 2 })).toBe('3 passed, 1 failed, 2 skipped');
});

test('a file that cannot be loaded, a test that never ended and an error outside of tests count as failed', () => {
  expect(countTests([moduleOf('passed', 'passed', 'skipped')], 0)).toEqual({
    passed: 1,
    failed: 0,
    skipped: 1,
  });
  expect(countTests([moduleOf('failed')], 0).failed).toBe(1);
  expect(countTests([moduleOf('failed', 'failed', 'passed')], 0)).toEqual({
    passed: 1,
    failed: 1,
    skipped: 0,
  });
  expect(countTests([moduleOf('failed', 'pending')], 0).failed).toBe(1);
  expect(countTests([moduleOf('passed', 'passed')], 2)).toEqual({
    passed: 1,
    failed: 2,
    skipped: 0,
  });
});
