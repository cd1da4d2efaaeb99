/**
 * The physical graph: operators and edges, independent of parallelism. Plain JSON; it is stored with
 * the pipeline and sent to every leader and host.
 *
 * Invariants: INV-20 the graph is acyclic and every operator is reachable from a source;
 * INV-21 an operator id depends only on the SQL text and plan, never on parallelism, so that
 * state finds its operator again after a rescale; INV-22 input ports of an operator are 0..n-1
 * without gaps, one edge each.
 */
import type { Schema } from '../batch/types.ts';
import type { AggregateCall, Expr } from '../expr/expr.ts';
import type { JoinKind, JoinTime, UserCall } from '../plan/logical.ts';
import type { MatchShape } from '../expr/match.ts';
import type { OverCall, OverForm, SortKey } from '../expr/over.ts';
import type { DecodeColumn, FormatSpec, SinkFormat } from '../formats/format.ts';
import type { Window } from '../plan/logical.ts';

/** Begins with the tag of the operator's spec and a hyphen: `source-1`, `sink-4`. */
export type OperatorId = string;

export const isSourceId = (id: OperatorId): boolean => id.startsWith('source-');
export const isSinkId = (id: OperatorId): boolean => id.startsWith('sink-');

/** How a table reaches the outside; options are checked by the connector's declaration. */
export type ConnectorSpec = {
  connector: string;
  /** Canonical option values: strings, numbers, booleans; durations in milliseconds. */
  options: Readonly<Record<string, string | number | boolean>>;
};

export type WatermarkSpec = {
  /** Event time of a row (timestamp), over the source's output columns. */
  eventTime: Expr;
  /** Watermark contribution of a row (timestamp), over the same columns. */
  watermark: Expr;
  /** A partition without rows for this long steps aside; null: never. */
  idleMs: number | null;
  /** After this silence the watermark runs on at clock speed; null: never. */
  idleAdvanceMs: number | null;
};

export type SourceSpec = {
  tag: 'source';
  table: string;
  connector: ConnectorSpec;
  format: FormatSpec;
  /** Every column of the table's rows as declared: what rows sent to an `http` table are checked against. */
  declared: readonly DecodeColumn[];
  /** The columns among them that are decoded: those a query reads and those that must not be missing. */
  physical: readonly DecodeColumn[];
  /** Output columns over the physical ones (generated columns are computed here); null: the physical columns as they are. */
  computed: readonly Expr[] | null;
  /** Null: event time is the time of arrival, watermark one second behind it. */
  watermark: WatermarkSpec | null;
  lateRows: 'count' | 'dead_letter';
};

export type WindowSpec = Window;

/** Columns of the output: the left side's, then, unless `semi` or `anti`, the right side's. */
export type JoinSpec = {
  tag: 'join';
  kind: JoinKind;
  /** Per side (left, right): what must be equal, over the columns of that side. */
  keys: readonly [readonly Expr[], readonly Expr[]];
  /** Per key: whether NULL meets NULL. */
  nullsMeet: readonly boolean[];
  /** What else must hold, over the columns of both sides. */
  residual: Expr | null;
  /** Per side: whether its rows may be taken back. */
  updating: readonly [boolean, boolean];
  /** Per side: whether its rows have an event time. */
  eventTime: readonly [boolean, boolean];
  time: JoinTime;
};

export type OperatorSpec =
  | SourceSpec
  | JoinSpec
  | { tag: 'project'; exprs: readonly Expr[] }
  | { tag: 'filter'; predicate: Expr }
  /** Output: keys in order, then the window struct at `windowIndex` among the outputs, then aggregates. See `outputs`. */
  | {
      tag: 'window-aggregate';
      window: WindowSpec;
      /** The input column that says which window a row belongs to; absent: its event time does. */
      windowColumn?: number;
      /** Input rows may be retractions. */
      updatingInput?: true;
      keys: readonly Expr[];
      aggregates: readonly AggregateCall[];
      /** Output column i comes from here. */
      outputs: readonly (
        | { tag: 'key'; index: number }
        | { tag: 'window' }
        | { tag: 'aggregate'; index: number }
      )[];
    }
  /** Of each window the rows whose value in a column is the greatest, or the least. Output: the input's columns. */
  | {
      tag: 'window-best';
      window: WindowSpec;
      /** The input column that says which window a row belongs to; absent: its event time does. */
      windowColumn?: number;
      column: number;
      greatest: boolean;
      /** Stands before a shuffle and another one: what it holds leaves at barriers as well. */
      local?: true;
    }
  /** Output: keys, then aggregates; rows carry retractions. */
  | {
      tag: 'updating-aggregate';
      /** Event time after which a group for which nothing has come is forgotten; absent: never. */
      ttlMicros?: number;
      keys: readonly Expr[];
      aggregates: readonly AggregateCall[];
      flushMs: number;
    }
  /** Rows that are the newest of their key become changes; a row with `retract` takes its key's row away. Output: the input's columns. */
  | { tag: 'newest-by-key'; keyColumns: readonly number[] }
  /** `untimed`: rows of some inputs have no event time, so that none of the output has. */
  | { tag: 'union'; inputs: number; untimed?: true }
  /** Output: the input's columns, then one per call. Keys, orders and arguments are columns of the input. */
  | {
      tag: 'over';
      form: OverForm;
      partitionBy: readonly Expr[];
      orderBy: readonly SortKey[];
      calls: readonly OverCall[];
      flushMs: number;
    }
  /** The first rows of each partition. Output: the input's columns, then the rank if `ranked`; rows carry retractions. */
  | {
      tag: 'top-n';
      partitionBy: readonly Expr[];
      orderBy: readonly SortKey[];
      limit: number;
      offset: number;
      /** Rows that the order does not tell from the last one are among the first too, and share their rank. */
      ties: boolean;
      ranked: boolean;
      /** Input rows may be retractions: every row is kept, not only the first ones. */
      retracting: boolean;
      flushMs: number;
    }
  /** Output: the kept columns of the input, an element of each list, and its place from 1 if `ordinality`; `outer` keeps rows without elements. */
  | {
      tag: 'unnest';
      kept: readonly number[];
      lists: readonly Expr[];
      ordinality: boolean;
      outer: boolean;
    }
  /** MATCH_RECOGNIZE. Output: the partition's columns, then the measures. */
  | ({ tag: 'match' } & MatchShape)
  /** EXCEPT and INTERSECT of two inputs with the same columns; rows carry retractions. */
  | { tag: 'set-operation'; operator: 'except' | 'intersect'; all: boolean; flushMs: number }
  /** Output: the input's columns, then one per call; of a table function (`rows`) its columns instead, once per row it gives. */
  | { tag: 'user-function'; calls: readonly UserCall[]; rows: 'inner' | 'outer' | null }
  | {
      tag: 'sink';
      /** Table name, or a generated name for a bare SELECT. */
      table: string;
      connector: ConnectorSpec;
      format: SinkFormat;
      /** Whether rows are written as changes: they may be retracted, or the table's format asks for it. */
      updating: boolean;
      /** Columns that identify a row of an updating result; indices into the schema. */
      keyColumns: readonly number[];
      twoPhase: boolean;
    };

export type GraphOperator = {
  id: OperatorId;
  /** One line for people: `tumble(10 s) count(*), avg(price) by auction`. */
  description: string;
  spec: OperatorSpec;
  /** What the operator emits (a sink: what it receives). */
  schema: Schema;
  /** Whether emitted rows may be retractions. */
  updating: boolean;
  /** 1 pins an operator to subtask 0; null: the pipeline's parallelism. */
  parallelism: 1 | null;
};

export type GraphEdge = {
  id: string;
  from: OperatorId;
  to: OperatorId;
  /** Input port of `to`. */
  port: number;
  /**
   * `shuffle` sends a row to the owner of the hash of `keys` (over the columns of `from`); no keys: everything to
   * subtask 0. `forward` stays in the subtask.
   */
  kind: 'forward' | 'shuffle';
  keys: readonly Expr[];
};

export type PhysicalGraph = {
  version: 1;
  operators: readonly GraphOperator[];
  edges: readonly GraphEdge[];
  /** Hash of everything that state depends on. */
  planHash: string;
};

/**
 * Operators fused into one chain of calls: connected by forward edges (with parallelism 1 every edge is one).
 * A stage's inputs are its sources and the shuffle edges that end in it.
 */
export type Stage = {
  index: number;
  /** In dataflow order: an operator stands after all operators of the stage that feed it. */
  operators: readonly OperatorId[];
  sources: readonly OperatorId[];
  inputs: readonly GraphEdge[];
  outputs: readonly GraphEdge[];
};
