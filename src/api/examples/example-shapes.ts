/** Shapes of the built-in examples. */
import { z } from '@hono/zod-openapi';

export const ExampleSchema = z
  .object({
    id: z.string().openapi({ example: 'shop-clicks' }),
    title: z.string(),
    summary: z.string().openapi({ description: 'One sentence.' }),
    teaches: z.array(z.string()).openapi({ description: 'What of SQL it shows.' }),
    query: z.string().openapi({ description: 'What POST /api/v1/pipelines takes.' }),
    parallelism: z.int(),
    outputs: z.string().openapi({ description: 'One sentence: the rows that are seen.' }),
  })
  .openapi('Example');

export const ExampleCollectionSchema = z
  .object({ data: z.array(ExampleSchema) })
  .openapi('ExampleCollection');

export type Example = z.infer<typeof ExampleSchema>;
export type ExampleCollection = z.infer<typeof ExampleCollectionSchema>;
