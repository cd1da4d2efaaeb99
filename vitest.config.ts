import { defineConfig } from 'vitest/config';

/** Tests that start workerd: they share two cores with it, so they run one file at a time and have longer to answer. */
const WORKERD_TESTS = ['test/workerd/**/*.test.ts'];

export default defineConfig({
  test: {
    environment: 'node',
    reporters: ['default', './test/harness/summary-reporter.ts'],
    projects: [
      {
        test: {
          name: 'node',
          include: ['test/**/*.test.ts'],
          exclude: WORKERD_TESTS,
          maxWorkers: 2,
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
    ],
  },
});
