/** What the schema of a request found, in words that go behind the name of the field: `parallelism: must be 64 at most`. */
import { z } from '@hono/zod-openapi';

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

const kindOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number' && !Number.isInteger(value)) return `${value}`;
  return KINDS[typeof value] ?? typeof value;
};

const count = (bound: number | bigint, origin: string): string => {
  const unit = { string: ' characters', array: ' entries', object: ' fields' }[origin] ?? '';
  return `${bound}${unit}`;
};

/** Undefined: the schema has words of its own. */
export function issueWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? 'is missing'
        : `must be ${KINDS[issue.expected] ?? issue.expected}, and is ${kindOf(issue.input)}`;
    case 'too_small':
      return `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${count(issue.minimum, issue.origin)}`;
    case 'too_big':
      return `must be ${issue.inclusive === false ? 'less than' : 'at most'} ${count(issue.maximum, issue.origin)}`;
    case 'invalid_value':
      return `must be ${issue.values
        .map((value) => JSON.stringify(value))
        .join(', ')
        .replace(/, ([^,]*)$/, ' or $1')}`;
    default:
      return undefined;
  }
}

/** For every schema of the API. */
export const useOwnWords = (): void => {
  z.config({ customError: issueWords });
};
