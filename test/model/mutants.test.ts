/**
 * Each guard of the protocol and of the leader, taken away: the model must notice, and shows the shortest history in which it
 * matters.
 */
import { describe, expect, test } from 'vitest';
import { Explorer } from './explorer.ts';
import { MachineExplorer } from './machine-explorer.ts';
import { MACHINE_MUTANTS } from './machine-mutants.ts';
import { MUTANTS } from './mutants.ts';
import type { Report } from './search.ts';

function show(name: string, { violation, states }: Report): void {
  const lines = (violation?.trace ?? []).map(
    (text, step) => `    ${step + 1}. ${shortened(text)}\n`,
  );
  process.stdout.write(
    `model: without "${name}": ${violation?.rule ?? 'nothing is found'}, ${violation?.trace.length ?? 0} steps, ${states} states\n${lines.join('')}`,
  );
}

function shortened(text: string): string {
  return text.replaceAll('pl/job/', '').replaceAll(/0{5,}/g, '');
}

const MUTANT_STATES_MAX = 3_000_000;

describe('the lineage', () => {
  test.each(Object.entries(MUTANTS))('is broken when %s', { timeout: 120_000 }, (name, mutant) => {
    const { programs, bounds, breaks } = mutant;
    const report = new Explorer({ ...bounds, programs, statesMax: MUTANT_STATES_MAX }).explore();
    show(name, report);
    expect(report.violation?.rule).toMatch(breaks);
  });
});

describe('the leader', () => {
  test.each(Object.entries(MACHINE_MUTANTS))(
    'is wrong when %s',
    { timeout: 120_000 },
    (name, mutant) => {
      const { programs, bounds, breaks } = mutant;
      const report = new MachineExplorer({
        ...bounds,
        programs,
        statesMax: MUTANT_STATES_MAX,
      }).explore();
      show(name, report);
      expect(report.violation?.rule).toMatch(breaks);
    },
  );
});
