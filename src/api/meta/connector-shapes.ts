/** Shapes of connectors: what they can do, and the options that their tables take. */
import { z } from '@hono/zod-openapi';

export const ConnectorOptionSchema = z
  .object({
    name: z.string(),
    type: z.enum(['text', 'integer', 'number', 'boolean', 'duration', 'bytes', 'choice', 'names']),
    choices: z.array(z.string()).optional(),
    min: z.number().optional(),
    max: z.number().optional(),
    required: z.boolean(),
    default: z
      .union([z.string(), z.number(), z.boolean()])
      .nullable()
      .openapi({ description: 'Durations in milliseconds.' }),
    description: z.string(),
    for: z.enum(['source', 'sink', 'both']),
  })
  .openapi('ConnectorOption');

export const ConnectorSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    icon: z.string().openapi({ description: 'An SVG in the colour of the text around it.' }),
    description: z.string(),
    enabled: z.boolean(),
    source: z.boolean(),
    sink: z.boolean(),
    custom_schemas: z
      .boolean()
      .openapi({ description: 'Whether its tables declare their columns.' }),
    testing: z.boolean(),
    hidden: z.boolean(),
    table_config: z.string().openapi({ description: 'JSON schema of its options, as text.' }),
    connection_config: z.string().openapi({
      description:
        'JSON schema of what a connection profile may hold, as text: any of the options.',
    }),
    exactly_once: z
      .boolean()
      .openapi({ description: 'As a sink: rows become visible only by commit.' }),
    formats: z.array(z.string()),
    options: z.array(ConnectorOptionSchema),
  })
  .openapi('Connector');

export type ConnectorOption = z.infer<typeof ConnectorOptionSchema>;
export type Connector = z.infer<typeof ConnectorSchema>;
