/**
 * The logical plan: what the rows of a program mean, before anything is decided about where they flow.
 *
 * A plan is a directed acyclic graph of nodes. A node that two queries read (a table, a view, a CTE) is
 * ONE object with two readers; rules keep it one object, and it becomes one operator. Columns are
 * positions; names serve people and messages, qualified names live in the binder's scopes.
 *
 * Invariants: INV-24 a column index of an expression is within the schema of the node's input;
 * INV-25 every sink's input has exactly the sink's columns; INV-26 an event-time window never stands over
 * an updating input.
 */
import type { Schema } from '../batch/types.ts';
import type { AggregateCall, Expr } from '../expr/expr.ts';
import type { DecodeColumn, FormatSpec } from '../formats/format.ts';

/** Times in microseconds; a window starts where `(start - offset)` is a multiple of the width. */
export type Window = { tag: 'tumble'; widthMicros: number; offsetMicros: number };

/** What every node tells of its rows. */
export type NodeShape = {
  schema: Schema;
  /** Whether rows may be taken back. */
  updating: boolean;
  /** Columns that together identify a row of an updating result; null: only the whole row does. */
  keys: readonly number[] | null;
  /** Whether rows have an event time; an updating aggregate's have none. */
  eventTime: boolean;
  /** Column i is the window this row was aggregated in (same length as the schema). */
  windows: readonly (Window | null)[];
};

export type WatermarkPlan = {
  /** Over the scan's columns. */
  eventTime: Expr;
  watermark: Expr;
  idleMs: number | null;
  idleAdvanceMs: number | null;
};

export type OptionValues = Readonly<Record<string, string | number | boolean>>;

export type ScanNode = NodeShape & {
  tag: 'scan';
  table: string;
  connector: string;
  options: OptionValues;
  format: FormatSpec;
  /** Every column of the table's rows as declared, read by a query or not. */
  declared: readonly DecodeColumn[];
  /** The connector makes the rows itself, so none can lack a column and unread ones need not be made. */
  generated: boolean;
  /** The columns that are decoded. */
  physical: readonly DecodeColumn[];
  /** One expression per column of the schema, over the physical columns. */
  computed: readonly Expr[];
  watermark: WatermarkPlan | null;
  lateRows: 'count' | 'dead_letter';
};

export type ProjectNode = NodeShape & { tag: 'project'; input: PlanNode; exprs: readonly Expr[] };

export type FilterNode = NodeShape & { tag: 'filter'; input: PlanNode; predicate: Expr };

export type AggregateOutput =
  | { tag: 'key'; index: number }
  | { tag: 'window' }
  | { tag: 'aggregate'; index: number };

/** Emits a window's rows once, when event time has passed its end; a row's event time is then its window's end less 1 µs. */
export type WindowAggregateNode = NodeShape & {
  tag: 'window-aggregate';
  input: PlanNode;
  window: Window;
  groupBy: readonly Expr[];
  aggregates: readonly AggregateCall[];
  /** Where column i of the schema comes from. */
  outputs: readonly AggregateOutput[];
};

/** Columns: the keys, then the aggregates. */
export type UpdatingAggregateNode = NodeShape & {
  tag: 'updating-aggregate';
  input: PlanNode;
  groupBy: readonly Expr[];
  aggregates: readonly AggregateCall[];
};

/** Rows of all inputs, which have the same types. */
export type UnionNode = NodeShape & { tag: 'union'; inputs: readonly PlanNode[] };

/** `semi` and `anti` keep the left rows that have, or have not, a match. */
export type JoinKind = 'inner' | 'left' | 'right' | 'full' | 'semi' | 'anti';

/** What time has to do with a join: which rows may meet, and for how long they are kept. Micros. */
export type JoinTime =
  /** Any two rows may meet; with a time to live only those whose event times are no further apart. */
  | { tag: 'any'; ttlMicros: number | null }
  /** The right row's event time less the left row's lies within these bounds; null: no bound. */
  | { tag: 'interval'; lowMicros: number | null; highMicros: number | null }
  /** Rows of one window meet; both inputs are windowed alike. */
  | { tag: 'window'; window: Window }
  /** The right side is a table that is read to its end before any left row is joined. */
  | { tag: 'lookup' }
  /** A left row meets the last right row that is not after it (strict: that is before it). */
  | { tag: 'as-of'; strict: boolean };

/** Columns: those of the left side, then, unless `semi` or `anti`, those of the right one. */
export type JoinNode = NodeShape & {
  tag: 'join';
  kind: JoinKind;
  left: PlanNode;
  right: PlanNode;
  /** Pairwise equal, each over the columns of its side. */
  leftKeys: readonly Expr[];
  rightKeys: readonly Expr[];
  /** Per key: whether NULL meets NULL. */
  nullsMeet: readonly boolean[];
  /** What else must hold, over the columns of both sides. */
  residual: Expr | null;
  time: JoinTime;
};

export type PlanNode =
  | ScanNode
  | JoinNode
  | ProjectNode
  | FilterNode
  | WindowAggregateNode
  | UpdatingAggregateNode
  | UnionNode;

export type SinkPlan = {
  tag: 'sink';
  /** Table name, or a generated name for a bare SELECT. */
  table: string;
  connector: string;
  options: OptionValues;
  format: FormatSpec;
  twoPhase: boolean;
  /** Whether several subtasks may write at once. */
  parallel: boolean;
  /** Rows are written as changes (Debezium's shape), also when none is ever taken back. */
  changes: boolean;
  /** Columns that identify a row of an updating result. */
  keyColumns: readonly number[];
  schema: Schema;
  input: PlanNode;
};

export type LogicalPlan = { sinks: readonly SinkPlan[] };
