/** Shape of a request for a preview: a query that runs to be looked at. */
import { z } from '@hono/zod-openapi';
import { LIMITS } from '../../base/limits.ts';
import { UdfsSchema } from '../pipelines/pipeline-shapes.ts';
import { strictShape } from '../http/strict-shape.ts';

export const PreviewPostSchema = strictShape({
  query: z.string().openapi({
    example:
      "CREATE TABLE n (x BIGINT NOT NULL) WITH (connector = 'sequence', event_rate = 10);\nSELECT x FROM n;",
  }),
  udfs: UdfsSchema,
  parallelism: z.int().min(1).max(LIMITS.parallelismMax).default(1),
  enable_sinks: z.boolean().default(false).openapi({
    description: 'false: every sink is replaced by one that only shows its rows.',
  }),
}).openapi('PreviewPost');

export type PreviewPost = z.input<typeof PreviewPostSchema>;
