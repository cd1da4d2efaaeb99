/** Requests whose unknown fields are refused by name: a mistyped one would change nothing, and nobody would notice. */
import { z } from '@hono/zod-openapi';
import { nearest } from '../../base/nearest.ts';

/**
 * A strict object. `refused` has words of their own for fields that are no mistyping.
 */
export const strictShape = <Shape extends z.ZodRawShape>(
  shape: Shape,
  refused: Readonly<Record<string, string>> = {},
) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => refused[key] ?? unknownField(key, Object.keys(shape))).join('; ')
        : undefined,
  });

function unknownField(key: string, known: readonly string[]): string {
  const near = nearest(key, known);
  return near === null
    ? `there is no field "${key}"; known are ${known.join(', ')}`
    : `there is no field "${key}": did you mean "${near}"?`;
}
