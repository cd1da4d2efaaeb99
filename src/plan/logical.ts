/**
 * The logical plan: what the rows of a program mean, before anything is decided about where they flow.
 *
 * A plan is a directed acyclic graph of nodes. A node that two queries read (a table, a view, a CTE) is
 * ONE object with two readers; rules keep it one object, and it becomes one operator. Columns are
 * positions; names serve people and messages, qualified names live in the binder's scopes.
 *
 * Invariants: INV-24 a column index of an expression is within the schema of the node's input;
 * INV-25 every sink's input has exactly the sink's columns; INV-26 an event-time window stands over
 * an updating input only where its rows have an event time and its aggregates can take rows back.
 */
import type { Schema } from '../batch/types.ts';
import type { AggregateCall, Expr } from '../expr/expr.ts';
import type { UserFunction } from '../expr/user-function.ts';
import type { MatchShape } from '../expr/match.ts';
import type { OverCall, OverForm, SortKey } from '../expr/over.ts';
import type { DecodeColumn, FormatSpec, SinkFormat } from '../formats/format.ts';

/** What all windows that do not depend on the rows have. */
type Aligned = {
  widthMicros: number;
  /** A window starts where `(start - offset)` is a multiple of its grid, below which the offset is. */
  offsetMicros: number;
  /** Windows are cut by this zone's local time; absent: by UTC. */
  timezone?: string;
};

/** When rows of a window leave besides once, at its end; with either, they are updated. */
export type Emission = {
  /** Rows are taken in for so long after the end, in event time. */
  latenessMicros?: number;
  /** What is known of open windows leaves this often. */
  earlyMs?: number;
};

/** Times in microseconds. */
export type Window = Emission &
  (
    | ({ tag: 'tumble' } & Aligned)
    /** A window of the width begins every slide. */
    | ({ tag: 'hop'; slideMicros: number } & Aligned)
    /** Windows that begin every width and grow by a step until they have it. */
    | ({ tag: 'cumulate'; stepMicros: number } & Aligned)
    /** From the first to the last row of a key that are less than the gap apart, and the gap. */
    | { tag: 'session'; gapMicros: number }
  );

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
  /** A TEMPORARY table: on the right side of a join it is read to its end first. */
  temporary: boolean;
  /** Columns that name a row of a TEMPORARY table: of several rows the last one counts where it is looked up. */
  primaryKey?: readonly number[];
};

export type ProjectNode = NodeShape & { tag: 'project'; input: PlanNode; exprs: readonly Expr[] };

export type FilterNode = NodeShape & { tag: 'filter'; input: PlanNode; predicate: Expr };

export type AggregateOutput =
  | { tag: 'key'; index: number }
  | { tag: 'window' }
  | { tag: 'aggregate'; index: number };

/**
 * Emits a window's rows once, when event time has passed its end, unless its `Emission` asks for more; a row's event
 * time is then its window's end less 1 µs.
 */
export type WindowAggregateNode = NodeShape & {
  tag: 'window-aggregate';
  input: PlanNode;
  window: Window;
  /** The input column that holds the window of a row; null: it follows from the row's event time. */
  windowColumn: number | null;
  groupBy: readonly Expr[];
  aggregates: readonly AggregateCall[];
  /** Where column i of the schema comes from. */
  outputs: readonly AggregateOutput[];
};

/**
 * Of each window the rows whose value in a column is the greatest, or the least; NULL never is. They leave when event time
 * has passed its end, with the columns and event times they came with.
 */
export type WindowBestNode = NodeShape & {
  tag: 'window-best';
  input: PlanNode;
  window: Window;
  /** The input column that holds the window of a row; null: it follows from the row's event time. */
  windowColumn: number | null;
  column: number;
  greatest: boolean;
  /** Of the rows of one subtask only: what another one chooses from. */
  local: boolean;
};

/** Columns: the keys, then the aggregates. */
export type UpdatingAggregateNode = NodeShape & {
  tag: 'updating-aggregate';
  input: PlanNode;
  /** Event time after which a group for which nothing has come is forgotten; null: never. */
  ttlMicros: number | null;
  groupBy: readonly Expr[];
  aggregates: readonly AggregateCall[];
};

/** Makes changes that agree with each other of rows that are each the newest of their key, or take the newest away. */
export type NewestByKeyNode = NodeShape & {
  tag: 'newest-by-key';
  input: PlanNode;
  /** Columns of the input. */
  keyColumns: readonly number[];
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
  /** The right side is a table that is read to its end before any left row is joined; last wins: of several rows of a key. */
  | { tag: 'lookup'; lastWins?: true }
  /**
   * A left row meets the last right row that is not after it (strict: that is before it). Versions: right rows with
   * `retract` set end the row before them instead of taking back what is equal, and late ones count from now on.
   */
  | { tag: 'as-of'; strict: boolean; versions?: true };

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

/** Calls with OVER of one partition and order. Columns: the input's, then one per call. Without calls: ORDER BY. */
export type OverNode = NodeShape & {
  tag: 'over';
  input: PlanNode;
  form: OverForm;
  /** Columns of the input, as everything that the calls read. */
  partitionBy: readonly Expr[];
  orderBy: readonly SortKey[];
  calls: readonly OverCall[];
};

/** The first rows of each partition. Columns: the input's, then the rank if it is shown. */
export type TopNNode = NodeShape & {
  tag: 'top-n';
  input: PlanNode;
  partitionBy: readonly Expr[];
  orderBy: readonly SortKey[];
  limit: number;
  offset: number;
  ties: boolean;
  rank: string | null;
};

/** MATCH_RECOGNIZE. Columns: the partition's, then the measures. A match has the time when it was certain. */
export type MatchNode = NodeShape &
  MatchShape & {
    tag: 'match';
    input: PlanNode;
    /** As written, for people. */
    pattern: string;
  };

/** EXCEPT and INTERSECT of inputs that have the same types. */
export type SetOperationNode = NodeShape & {
  tag: 'set-operation';
  operator: 'except' | 'intersect';
  all: boolean;
  inputs: readonly PlanNode[];
};

/** A row for each element of lists. Columns: those of the input that are handed on, an element of each list, and its place from 1 if `ordinality`. */
export type UnnestNode = NodeShape & {
  tag: 'unnest';
  input: PlanNode;
  kept: readonly number[];
  lists: readonly Expr[];
  ordinality: boolean;
  /** A row without elements stays, with NULLs. */
  outer: boolean;
};

/** One call; where the guard is not true the function is not asked, and gives NULL. */
export type UserCall = { fn: UserFunction; args: readonly Expr[]; guard: Expr | null };

/**
 * Asks functions of the user's own. Columns: the input's, then one per call; or, of a table function (`rows`), which is
 * alone, its columns: a row of the input is there once for each row that it gives, and `outer` once when it gives none.
 */
export type UserFunctionNode = NodeShape & {
  tag: 'user-function';
  input: PlanNode;
  calls: readonly UserCall[];
  rows: 'inner' | 'outer' | null;
};

export type PlanNode =
  | ScanNode
  | JoinNode
  | ProjectNode
  | FilterNode
  | WindowAggregateNode
  | WindowBestNode
  | UpdatingAggregateNode
  | NewestByKeyNode
  | UnionNode
  | OverNode
  | TopNNode
  | SetOperationNode
  | UnnestNode
  | UserFunctionNode
  | MatchNode;

export type SinkPlan = {
  tag: 'sink';
  /** Table name, or a generated name for a bare SELECT. */
  table: string;
  connector: string;
  options: OptionValues;
  format: SinkFormat;
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
