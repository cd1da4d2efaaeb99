/** Shapes of functions of the user's own: Arroyo's, with the definition being a CREATE FUNCTION. */
import { z } from '@hono/zod-openapi';
import { ReportSchema } from '../http/problem.ts';
import { strictShape } from '../http/strict-shape.ts';

const definition = z.string().openapi({
  description: 'One CREATE FUNCTION statement.',
  example:
    'CREATE FUNCTION count_char(s TEXT, c TEXT) RETURNS BIGINT LANGUAGE javascript AS $$ return s.split(c).length - 1; $$',
});
const language = z
  .enum(['javascript', 'typescript'])
  .optional()
  .openapi({ description: 'Must be what the definition says; it need not be given.' });

export const UdfPostSchema = strictShape({
  prefix: z.string().max(200).default(''),
  language,
  definition,
  description: z.string().max(10_000).nullish(),
}).openapi('UdfPost');

export const GlobalUdfSchema = z
  .object({
    id: z.string().openapi({ example: 'udf_5bY2kd81Qz' }),
    prefix: z.string(),
    name: z.string(),
    language: z.string(),
    created_at: z.int(),
    updated_at: z.int(),
    definition: z.string(),
    description: z.string().nullable(),
    dylib_url: z.null().openapi({ description: 'Nothing is compiled here.' }),
  })
  .openapi('GlobalUdf');

export const ValidateUdfSchema = strictShape({ definition, language }).openapi('ValidateUdfPost');

export const UdfValidationSchema = z
  .object({
    udf_name: z.string().nullable(),
    errors: z.array(z.string()),
    reports: z.array(ReportSchema).openapi({ description: 'The same with code, place and hint.' }),
  })
  .openapi('UdfValidationResult');

export type GlobalUdf = z.infer<typeof GlobalUdfSchema>;
export type UdfValidation = z.infer<typeof UdfValidationSchema>;
