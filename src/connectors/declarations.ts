/** What every connector accepts: the list the planner binds tables against, and the reference is printed from. */
import { INT32, INT64 } from '../batch/types.ts';
import type { ConnectorDeclaration, OptionDeclaration } from '../plan/declaration.ts';
import { CHANGE_DATASETS, DATASET_NAMES, DATASET_SCHEMAS } from './example/datasets.ts';
import { IMPULSE_SCHEMA } from './impulse/source.ts';
import { NEXMARK_FIELDS, NEXMARK_KINDS, NEXMARK_SCHEMA } from './nexmark/schema.ts';
import { FILE_BYTES_MAX_DEFAULT } from './r2/sink.ts';

const PARTITIONS: OptionDeclaration = {
  name: 'partitions',
  type: 'integer',
  required: false,
  fallback: 1,
  min: 1,
  max: 1024,
  doc: 'Into how many parts the rows are dealt; subtasks share the parts. Must stay the same for the life of the table.',
  for: 'source',
};

/** A key of R2 has 1,024 bytes at most, and a sink puts the names of its files behind the path. */
const PATH_BYTES_MAX = 900;

const path = (doc: string): OptionDeclaration => ({
  name: 'path',
  type: 'text',
  required: true,
  fallback: null,
  max: PATH_BYTES_MAX,
  doc,
  for: 'both',
});

const http: ConnectorDeclaration = {
  name: 'http',
  description: 'Rows posted to the API, kept in a durable log until a checkpoint has passed them.',
  source: true,
  sink: false,
  twoPhase: false,
  bounded: false,
  schema: null,
  parallel: true,
  formats: ['json'],
  metadata: [
    { name: 'partition', type: INT32, nullable: false },
    { name: 'offset_id', type: INT64, nullable: false },
  ],
  options: [PARTITIONS],
};

const impulse: ConnectorDeclaration = {
  name: 'impulse',
  description: 'A counter at a steady rate, for trying things out.',
  source: true,
  sink: false,
  twoPhase: false,
  bounded: 'by-option',
  schema: IMPULSE_SCHEMA,
  parallel: true,
  formats: ['json'],
  options: [
    {
      name: 'event_rate',
      type: 'number',
      required: true,
      fallback: null,
      min: 1e-6,
      doc: 'Rows per second, of all parts together.',
      for: 'source',
    },
    {
      name: 'message_count',
      type: 'integer',
      required: false,
      fallback: null,
      min: 0,
      doc: 'Ends after so many rows; endless when absent.',
      for: 'source',
    },
    {
      name: 'event_time_interval',
      type: 'integer',
      required: false,
      fallback: null,
      min: 0,
      doc: 'Microseconds of event time between rows; by default what event_rate implies.',
      for: 'source',
    },
    PARTITIONS,
  ],
};

const nexmark: ConnectorDeclaration = {
  name: 'nexmark',
  description: 'The auctions of the Nexmark benchmark: seeded people, auctions and bids.',
  source: true,
  sink: false,
  twoPhase: false,
  bounded: 'by-option',
  schema: NEXMARK_SCHEMA,
  schemaByOption: { option: 'table', schemas: NEXMARK_FIELDS },
  parallel: true,
  formats: ['json'],
  options: [
    {
      name: 'event_rate',
      type: 'number',
      required: false,
      fallback: null,
      min: 1e-6,
      doc: 'Events per second, on the clock and in event time. When absent, event time has 10000 a second, and events come as fast as they can if their number is bounded.',
      for: 'source',
    },
    {
      name: 'events',
      type: 'integer',
      required: false,
      fallback: null,
      min: 0,
      doc: 'Ends after so many events of all kinds; endless when absent.',
      for: 'source',
    },
    {
      name: 'seed',
      type: 'integer',
      required: false,
      fallback: 0,
      doc: 'Equal seeds give equal events.',
      for: 'source',
    },
    {
      name: 'table',
      type: 'choice',
      choices: NEXMARK_KINDS,
      required: false,
      fallback: null,
      doc: 'Only the events of one kind, as flat columns.',
      for: 'source',
    },
    {
      name: 'out_of_order',
      type: 'integer',
      required: false,
      fallback: 1,
      min: 1,
      max: 100_000,
      doc: 'Shuffles the events within groups of this size.',
      for: 'source',
    },
    PARTITIONS,
  ],
};

const example: ConnectorDeclaration = {
  name: 'example',
  description:
    'Built-in data that feels real, for trying things out: a shop, cards, songs, sensors, a database table, flights. Seeded.',
  source: true,
  sink: false,
  twoPhase: false,
  bounded: 'by-option',
  schema: DATASET_SCHEMAS.clicks,
  schemaByOption: { option: 'dataset', schemas: DATASET_SCHEMAS, changes: CHANGE_DATASETS },
  parallel: false,
  formats: ['json'],
  options: [
    {
      name: 'dataset',
      type: 'choice',
      choices: DATASET_NAMES,
      required: true,
      fallback: null,
      doc: 'Which data, and with them the columns. `payments` belong to the `orders` of the same seed and event_rate, `customers` are changes as Debezium tells them, `flights` are real and keep the times they had.',
      for: 'source',
    },
    {
      name: 'event_rate',
      type: 'number',
      required: false,
      fallback: null,
      min: 1e-6,
      doc: 'Rows per second, on the clock and, but for flights, in event time; of payments, the rate of their orders. When absent each dataset has its own, and rows come as fast as they can if their number is bounded.',
      for: 'source',
    },
    {
      name: 'events',
      type: 'integer',
      required: false,
      fallback: null,
      min: 0,
      doc: 'Ends after so many rows; endless when absent.',
      for: 'source',
    },
    {
      name: 'seed',
      type: 'integer',
      required: false,
      fallback: 0,
      min: 0,
      max: 2_147_483_647,
      doc: 'Equal seeds give equal rows.',
      for: 'source',
    },
  ],
};

const singleFile: ConnectorDeclaration = {
  name: 'single_file',
  description:
    'One file of NDJSON, as a sink of Parquet too: of this machine under thalweg run, an object of the R2 bucket in npm run dev and when deployed.',
  source: true,
  sink: true,
  twoPhase: true,
  bounded: true,
  schema: null,
  parallel: false,
  formats: ['json', 'parquet'],
  options: [path('Path of the file.')],
};

const r2: ConnectorDeclaration = {
  name: 'r2',
  description:
    'Objects in the R2 bucket: files of NDJSON or Parquet under a prefix as a sink, one of NDJSON as a source.',
  source: true,
  sink: true,
  twoPhase: true,
  bounded: true,
  schema: null,
  parallel: true,
  formats: ['json', 'parquet'],
  options: [
    path('As a sink the prefix of its files, as a source the key of the object.'),
    {
      name: 'file_bytes_max',
      type: 'bytes',
      required: false,
      fallback: FILE_BYTES_MAX_DEFAULT,
      min: 1,
      max: 64 * 1024 * 1024,
      doc: 'A file is closed when it has this size; at every checkpoint in any case.',
      for: 'sink',
    },
    {
      name: 'file_rows_max',
      type: 'integer',
      required: false,
      fallback: null,
      min: 1,
      doc: 'A file is closed when it has so many rows, or a batch more.',
      for: 'sink',
    },
    {
      name: 'partitioning.fields',
      type: 'names',
      required: false,
      fallback: null,
      doc: 'Columns that deal rows to folders, name=value/; the same as PARTITIONED BY.',
      for: 'sink',
    },
    {
      name: 'partitioning.time_pattern',
      type: 'text',
      required: false,
      fallback: null,
      max: 200,
      doc: 'Folders by the event time of rows, such as %Y-%m-%d/%H; they stand before those of columns.',
      for: 'sink',
    },
    {
      name: 'partitioning.open_max',
      type: 'integer',
      required: false,
      fallback: 64,
      min: 1,
      max: 1024,
      doc: 'So many folders have a file under way at a time; for one more the largest file is closed.',
      for: 'sink',
    },
    {
      name: 'shuffle_by_partition.enabled',
      type: 'boolean',
      required: false,
      fallback: false,
      doc: 'All rows of a folder go to one subtask: fewer files, for a way between hosts.',
      for: 'sink',
    },
  ],
};

const sinkOnly = (name: string, description: string, twoPhase: boolean): ConnectorDeclaration => ({
  name,
  description,
  source: false,
  sink: true,
  twoPhase,
  bounded: false,
  schema: null,
  parallel: true,
  formats: ['json'],
  options: [],
});

export const DECLARATIONS: readonly ConnectorDeclaration[] = [
  example,
  http,
  impulse,
  nexmark,
  singleFile,
  r2,
  sinkOnly('preview', 'Shows rows to whoever watches the pipeline.', false),
  sinkOnly('stdout', 'Prints rows where the pipeline was started, once they are committed.', true),
  sinkOnly('blackhole', 'Drops rows, for measuring.', false),
];
