/**
 * What the planner must know of a connector: its options, formats and whether it reads, writes and ends.
 * The connectors declare themselves in `connectors/`; the list is handed to the binder.
 */
import type { Schema } from '../batch/types.ts';
import type { SinkFormat } from '../formats/format.ts';

export type OptionDeclaration = {
  name: string;
  type: 'text' | 'integer' | 'number' | 'boolean' | 'duration' | 'bytes' | 'choice' | 'names';
  choices?: readonly string[];
  /** Smallest and largest value of a number or size; of a text, its bytes. */
  min?: number;
  max?: number;
  required: boolean;
  /** Canonical value when absent; null: none. Names are a JSON array, as text. Durations in milliseconds. */
  fallback: string | number | boolean | null;
  /** One line. */
  doc: string;
  for: 'source' | 'sink' | 'both';
  /** Its value is shown to nobody. */
  secret?: true;
};

export type ConnectorDeclaration = {
  name: string;
  description: string;
  source: boolean;
  sink: boolean;
  /** Its rows become visible only by commit. */
  twoPhase: boolean;
  /** Whether it ends by itself; 'by-option' when an option bounds it. */
  bounded: boolean | 'by-option';
  /** A fixed schema (nexmark, impulse), or null when the user declares the columns. */
  schema: Schema | null;
  /** Values of a choice that give the table another fixed schema. */
  schemaByOption?: {
    option: string;
    schemas: Readonly<Record<string, Schema>>;
    /** Those of them whose rows are changes of a table: they take format = 'debezium_json', and the others do not. */
    changes?: readonly string[];
  };
  /** Whether several subtasks may read or write it at once. */
  parallel: boolean;
  formats: readonly SinkFormat['tag'][];
  /** What METADATA FROM can name; missing: nothing. */
  metadata?: Schema;
  options: readonly OptionDeclaration[];
};
