/**
 * Shapes of stored connections, Arroyo's: profiles (options that several tables share) and tables (declared once, known
 * by name to every query). What `config` may hold are the options of the connector, as `GET /api/v1/connectors` tells.
 */
import { z } from '@hono/zod-openapi';
import { ReportSchema } from '../http/problem.ts';
import { strictShape } from '../http/strict-shape.ts';

export const ConnectionConfigSchema = z
  .record(z.string().max(100), z.union([z.string().max(10_000), z.number(), z.boolean()]))
  .openapi({ description: 'Options of the connector by name.', example: { path: 'bids' } });

const connector = z.string().max(100).openapi({ example: 'r2' });
const profileName = z.string().trim().min(1).max(200).openapi({ example: 'the bucket' });

export const ConnectionProfilePostSchema = strictShape({
  name: profileName,
  connector,
  config: ConnectionConfigSchema.default({}),
}).openapi('ConnectionProfilePost');

export const ConnectionProfileSchema = z
  .object({
    id: z.string().openapi({ example: 'cp_5bY2kd81Qz' }),
    name: z.string(),
    connector: z.string(),
    config: ConnectionConfigSchema.openapi({ description: 'Secrets read as "***".' }),
    description: z.string(),
  })
  .openapi('ConnectionProfile');

const FIELD_TYPES = [
  'bool',
  'int8',
  'int16',
  'int32',
  'int64',
  'uint8',
  'uint16',
  'uint32',
  'uint64',
  'float32',
  'float64',
  'decimal128',
  'string',
  'bytes',
  'json',
  'timestamp',
  'timestamptz',
  'date',
  'time',
  'interval',
  'list',
  'struct',
] as const;

export type ConnectionFieldType = (typeof FIELD_TYPES)[number];

/** A type with what belongs to it: `items` of a list, `fields` of a struct, `unit` of a timestamp, digits of a decimal. */
export type ConnectionType = {
  type: ConnectionFieldType;
  items?: ConnectionType | undefined;
  fields?: ConnectionField[] | undefined;
  unit?: 'second' | 'millisecond' | 'microsecond' | 'nanosecond' | undefined;
  precision?: number | undefined;
  scale?: number | undefined;
};

export type ConnectionField = ConnectionType & {
  name: string;
  required: boolean;
  sql_name?: string | null | undefined;
  metadata_key?: string | null | undefined;
};

const typeShape = {
  type: z.enum(FIELD_TYPES),
  unit: z.enum(['second', 'millisecond', 'microsecond', 'nanosecond']).optional(),
  precision: z.int().min(1).max(38).optional(),
  scale: z.int().min(0).max(38).optional(),
};

const ConnectionTypeSchema: z.ZodType<ConnectionType> = z
  .lazy(() =>
    z.object({
      ...typeShape,
      items: ConnectionTypeSchema.optional(),
      fields: z.array(ConnectionFieldSchema).max(1_000).optional(),
    }),
  )
  .openapi('ConnectionType', { type: 'object' });

export const ConnectionFieldSchema: z.ZodType<ConnectionField> = z
  .lazy(() =>
    z.object({
      name: z.string().min(1).max(200),
      ...typeShape,
      items: ConnectionTypeSchema.optional(),
      fields: z.array(ConnectionFieldSchema).max(1_000).optional(),
      required: z.boolean().default(false),
      sql_name: z.string().nullish(),
      metadata_key: z.string().nullish(),
    }),
  )
  .openapi('ConnectionField', { type: 'object' }) as z.ZodType<ConnectionField>;

export const ConnectionFormatSchema = strictShape({
  type: z.enum(['json', 'debezium_json', 'parquet']),
  timestamp_format: z
    .enum(['rfc3339', 'unix_seconds', 'unix_millis', 'unix_micros', 'unix_nanos'])
    .nullish(),
  decimal_encoding: z.enum(['number', 'string']).nullish(),
  unstructured: z.boolean().optional(),
}).openapi('ConnectionFormat');

export const ConnectionSchemaSchema = strictShape({
  format: ConnectionFormatSchema.nullish(),
  bad_data: z.enum(['dead_letter', 'drop', 'fail']).nullish(),
  framing: z
    .enum(['newline'])
    .nullish()
    .openapi({ description: 'Rows are lines; nothing else is framed.' }),
  fields: z.array(ConnectionFieldSchema).max(1_000).default([]),
  definition: strictShape({ json_schema: z.string().max(1_000_000) })
    .nullish()
    .openapi({ description: 'A JSON schema to take the fields from when none are given.' }),
  inferred: z.boolean().nullish().openapi({
    description: 'Columns come from the connector, or of a sink from its first INSERT.',
  }),
  primary_keys: z.array(z.string()).max(100).default([]),
  event_time: strictShape({
    column: z.string(),
    delay_micros: z.int().min(0).default(0),
  })
    .nullish()
    .openapi({ description: 'WATERMARK FOR column AS column - delay.' }),
}).openapi('ConnectionSchema');

/** A name without quotes, so that the stored table is called as it is written. */
const tableName = z
  .string()
  .regex(
    /^[a-z_][a-z0-9_]{0,99}$/,
    'must be lower-case letters, digits and _, and begin with no digit',
  )
  .openapi({ example: 'bids' });

export const TABLE_TYPES = ['source', 'sink', 'lookup'] as const;

export const ConnectionTablePostSchema = strictShape({
  name: tableName,
  connector,
  connection_profile_id: z.string().nullish(),
  table_type: z.enum(TABLE_TYPES).nullish().openapi({
    description: 'Needed where a connector reads and writes; lookup: read first, as a whole.',
  }),
  config: ConnectionConfigSchema.default({}),
  schema: ConnectionSchemaSchema.nullish(),
}).openapi('ConnectionTablePost');

export const ConnectionTableSchema = z
  .object({
    id: z.string().openapi({ example: 'ct_5bY2kd81Qz' }),
    name: z.string(),
    created_at: z.int(),
    connector: z.string(),
    connection_profile: ConnectionProfileSchema.nullable(),
    table_type: z.enum(TABLE_TYPES),
    config: ConnectionConfigSchema.openapi({ description: 'Secrets read as "***".' }),
    schema: ConnectionSchemaSchema,
    consumers: z.int().openapi({ description: 'Pipelines that use it.' }),
    sql: z
      .string()
      .openapi({ description: 'The CREATE TABLE that it stands for; secrets read as ***.' }),
  })
  .openapi('ConnectionTable');

export const TestSourceMessageSchema = z
  .object({
    error: z.boolean(),
    done: z.boolean(),
    message: z.string(),
    reports: z.array(ReportSchema).optional(),
  })
  .openapi('TestSourceMessage');

export const ConnectionAutocompleteSchema = z
  .object({ values: z.record(z.string(), z.array(z.string())) })
  .openapi('ConnectionAutocomplete');

export type ConnectionConfig = z.infer<typeof ConnectionConfigSchema>;
export type ConnectionProfilePost = z.infer<typeof ConnectionProfilePostSchema>;
export type ConnectionProfile = z.infer<typeof ConnectionProfileSchema>;
export type ConnectionFormat = z.infer<typeof ConnectionFormatSchema>;
export type ConnectionSchema = z.infer<typeof ConnectionSchemaSchema>;
export type ConnectionTablePost = z.infer<typeof ConnectionTablePostSchema>;
export type ConnectionTable = z.infer<typeof ConnectionTableSchema>;
export type TestSourceMessage = z.infer<typeof TestSourceMessageSchema>;
