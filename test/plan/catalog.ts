/** Connectors for planner tests: declared here, so that a change of a real connector moves no golden. */
import { INT32, INT64, TEXT, TIMESTAMP, type SqlType } from '../../src/batch/types.ts';
import type { ConnectorDeclaration, OptionDeclaration } from '../../src/plan/declaration.ts';

const option = (
  name: string,
  type: OptionDeclaration['type'],
  rest: Partial<OptionDeclaration> = {},
): OptionDeclaration => ({
  name,
  type,
  required: false,
  fallback: null,
  doc: `the ${name}`,
  for: 'both',
  ...rest,
});

const connector = (name: string, rest: Partial<ConnectorDeclaration>): ConnectorDeclaration => ({
  name,
  description: name,
  source: false,
  sink: false,
  twoPhase: false,
  bounded: false,
  schema: null,
  parallel: true,
  formats: ['json'],
  options: [],
  ...rest,
});

const EVENT: SqlType = {
  tag: 'struct',
  fields: [
    { name: 'id', type: INT64, nullable: false },
    { name: 'at', type: TIMESTAMP, nullable: false },
    { name: 'name', type: TEXT, nullable: true },
  ],
};

export const CONNECTORS: readonly ConnectorDeclaration[] = [
  connector('http', {
    source: true,
    options: [option('partitions', 'integer', { fallback: 1 })],
    metadata: [
      { name: 'partition', type: INT32, nullable: false },
      { name: 'offset_id', type: INT64, nullable: false },
    ],
  }),
  connector('single_file', {
    source: true,
    sink: true,
    parallel: false,
    bounded: true,
    options: [option('path', 'text', { required: true })],
  }),
  connector('r2', {
    sink: true,
    twoPhase: true,
    options: [
      option('path', 'text', { required: true }),
      option('file_size', 'bytes', { fallback: 67_108_864 }),
      option('roll_interval', 'duration'),
    ],
  }),
  connector('impulse', {
    source: true,
    bounded: 'by-option',
    schema: [
      { name: 'counter', type: INT64, nullable: false },
      { name: 'subtask_index', type: INT64, nullable: false },
    ],
    options: [
      option('event_rate', 'number', { required: true }),
      option('message_count', 'integer'),
    ],
  }),
  connector('events', {
    source: true,
    schema: [
      { name: 'click', type: EVENT, nullable: true },
      { name: 'view', type: EVENT, nullable: true },
    ],
  }),
  connector('preview', { sink: true, parallel: false }),
  connector('stdout', { sink: true, parallel: false }),
  connector('blackhole', { sink: true }),
];
