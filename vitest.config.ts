import { defineConfig } from 'vitest/config';

/** Tests that start workerd: they share two cores with it, so they run one file at a time and have longer to answer. */
const WORKERD_TESTS = ['test/workerd/**/*.test.ts'];

/** Tests that need a Chromium: `npm run test:browser`. `npm test` leaves them out, so that it needs nothing but Node. */
const BROWSER_TESTS = ['test/browser/**/*.test.ts'];

export default defineConfig({
  test: {
    environment: 'node',
    reporters: ['default', './test/harness/summary-reporter.ts'],
    projects: [
      {
        test: {
          name: 'node',
          include: ['test/**/*.test.ts'],
          exclude: [...WORKERD_TESTS, ...BROWSER_TESTS],
          maxWorkers: 2,
          // No test asserts a time: a property that takes a second may take ten on a machine that does other things too.
          testTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'workerd',
          include: WORKERD_TESTS,
          maxWorkers: 1,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'browser',
          include: BROWSER_TESTS,
          maxWorkers: 1,
          testTimeout: 90_000,
          hookTimeout: 90_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
