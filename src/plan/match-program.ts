/** Patterns of MATCH_RECOGNIZE: how many rows they take, and the programs they compile to. */
import { assert, must } from '../base/assert.ts';
import type { MatchInstruction } from '../expr/match.ts';
import type { Pattern, PatternGroup, PatternRepeat } from '../sql/ast-match.ts';

/** How many rows a match has at least and at most; Infinity: without a bound. */
export function rowsOfPattern(pattern: Pattern): { least: number; most: number } {
  switch (pattern.tag) {
    case 'variable':
      return { least: 1, most: 1 };
    case 'sequence':
    case 'alternation': {
      const parts = pattern.parts.map(rowsOfPattern);
      const [least, most] = [parts.map((part) => part.least), parts.map((part) => part.most)];
      return pattern.tag === 'sequence'
        ? { least: sum(least), most: sum(most) }
        : { least: Math.min(...least), most: Math.max(...most) };
    }
    case 'repeat': {
      const inner = rowsOfPattern(pattern.pattern);
      const times = pattern.most ?? Infinity;
      // What takes no row takes none however often it is repeated.
      return {
        least: inner.least * pattern.least,
        most: inner.most === 0 ? 0 : inner.most * times,
      };
    }
  }
}

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

/** The variables, in the order of the pattern: their names, and how they are first written. */
export function variablesOf(pattern: Pattern): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (each: Pattern): void => {
    if (each.tag === 'repeat') visit(each.pattern);
    else if (each.tag !== 'variable') each.parts.forEach(visit);
    else if (!found.has(each.name.name)) found.set(each.name.name, each.name.text);
  };
  visit(pattern);
  return found;
}

/** Variables that every match has a row of. */
export function certainVariables(pattern: Pattern): Set<string> {
  switch (pattern.tag) {
    case 'variable':
      return new Set([pattern.name.name]);
    case 'sequence':
      return new Set(pattern.parts.flatMap((part) => [...certainVariables(part)]));
    case 'alternation': {
      const [first, ...others] = pattern.parts.map(certainVariables);
      return new Set(
        [...must(first, 'a part')].filter((name) => others.every((other) => other.has(name))),
      );
    }
    case 'repeat':
      return pattern.least === 0 ? new Set() : certainVariables(pattern.pattern);
  }
}

/** Variables that the first row of a match may be of. */
export function firstVariables(pattern: Pattern): Set<string> {
  switch (pattern.tag) {
    case 'variable':
      return new Set([pattern.name.name]);
    case 'alternation':
      return new Set(pattern.parts.flatMap((part) => [...firstVariables(part)]));
    case 'sequence': {
      const firsts = new Set<string>();
      for (const part of pattern.parts) {
        for (const name of firstVariables(part)) firsts.add(name);
        if (rowsOfPattern(part).least > 0) break;
      }
      return firsts;
    }
    case 'repeat':
      return firstVariables(pattern.pattern);
  }
}

/** How many instructions the program has. */
export function programSize(pattern: Pattern): number {
  return partSize(pattern) + 1;
}

function partSize(pattern: Pattern): number {
  switch (pattern.tag) {
    case 'variable':
      return 1;
    case 'sequence':
      return sum(pattern.parts.map(partSize));
    case 'alternation':
      return sum(pattern.parts.map(partSize)) + pattern.parts.length;
    case 'repeat': {
      const inner = partSize(pattern.pattern);
      const { least, most } = pattern;
      return least * inner + (most === null ? inner + 2 : (most - least) * (inner + 1));
    }
  }
}

/** The program of a pattern that is not too large; counted repetitions are written out. */
export function compilePattern(pattern: Pattern, variables: readonly string[]): MatchInstruction[] {
  const program: MatchInstruction[] = [];
  const split = (targets: number[]): number[] => {
    program.push({ tag: 'split', targets });
    return targets;
  };
  const repeat = ({ pattern: inner, least, most, reluctant }: PatternRepeat): void => {
    for (let time = 0; time < least; time++) part(inner);
    /** Of each optional repetition: the targets, of which the way out is not known yet. */
    const open: number[][] = [];
    const option = (): void => {
      const body = program.length + 1;
      open.push(split(reluctant ? [-1, body] : [body, -1]));
      part(inner);
    };
    if (most === null) {
      const loop = program.length;
      option();
      split([loop]);
    } else for (let time = least; time < most; time++) option();
    for (const targets of open) targets[reluctant ? 0 : 1] = program.length;
  };
  const alternation = ({ parts }: PatternGroup): void => {
    const targets = split([]);
    const ends: number[][] = [];
    for (const [at, each] of parts.entries()) {
      targets.push(program.length);
      part(each);
      if (at + 1 < parts.length) ends.push(split([]));
    }
    for (const end of ends) end.push(program.length);
  };
  const part = (each: Pattern): void => {
    if (each.tag === 'variable')
      program.push({ tag: 'match', variable: variables.indexOf(each.name.name) });
    else if (each.tag === 'repeat') repeat(each);
    else if (each.tag === 'alternation') alternation(each);
    else each.parts.forEach(part);
  };
  part(pattern);
  program.push({ tag: 'accept' });
  assert(program.length === programSize(pattern), 'the size of a program is known beforehand');
  return program;
}
