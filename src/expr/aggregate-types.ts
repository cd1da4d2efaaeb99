/** What an aggregate function is: one record a name and meaning. The registry lists them. */
import type { SqlType } from '../batch/types.ts';

export type Aggregate = {
  /** Stays the same between versions, since plans in checkpoints name it. */
  id: string;
  name: string;
  /** How it is called, for documents and messages: `corr(y, x)`. */
  call: string;
  /** How many values it takes, without constants and keys of ORDER BY. */
  values: number;
  /** What its constant arguments are, behind the values. */
  constants?: readonly Constant[];
  /** Has a value's place for WITHIN GROUP: the key of its ORDER BY is the first value. */
  within?: true;
  /** The order of its rows matters: ORDER BY, else event time, else the values themselves. */
  ordered?: true;
  /** The same with and without duplicates. */
  ignoresDuplicates?: true;
  /** NULL over values none of which is NULL; 'never': not even without values. */
  nullable?: 'sometimes' | 'never';
  /** What the values become and what comes out, or null when they do not fit. */
  result: (types: readonly SqlType[]) => { coerced: readonly SqlType[]; type: SqlType } | null;
  doc: string;
};

export type Constant = {
  name: string;
  type: 'fraction' | 'count' | 'text';
  /** Taken when it is left out; missing: it must be given. */
  fallback?: string | number;
};
