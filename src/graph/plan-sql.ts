/** SQL text → graph in one call, for the API, the command line and tests. Never throws on what a user can write. */
import { EngineError, type ErrorReport } from '../base/errors.ts';
import type { UserFunction } from '../expr/user-function.ts';
import { declareFunction } from '../plan/bind-function.ts';
import { bindProgram } from '../plan/binder.ts';
import type { ConnectionProfile } from '../plan/connection-profiles.ts';
import type { ConnectorDeclaration } from '../plan/declaration.ts';
import { explainLogical } from '../plan/explain.ts';
import type { OutsideTable } from '../plan/outside-tables.ts';
import { type ProgramTable, declaredTable } from '../plan/program-tables.ts';
import { optimize } from '../plan/rules.ts';
import { parseProgram } from '../sql/parser.ts';
import { explainPhysical } from './explain.ts';
import type { GraphOperator, OperatorId, OperatorSpec, PhysicalGraph } from './graph.ts';
import { planGraph } from './physical-planner.ts';

export type PlanSqlOptions = {
  /** The connector that bare SELECTs write to. */
  defaultSink: 'preview' | 'stdout';
  /** For the text of the physical plan only; the graph does not depend on it. Default 1. */
  parallelism?: number;
  /** Texts of CREATE FUNCTION from outside the program, which may call them; a later one takes the place of an earlier of its name. */
  functions?: readonly string[];
  /** Tables from outside the program, for names that it does not declare itself. */
  tables?: readonly OutsideTable[];
  /** Stored options that a table may name. */
  profiles?: readonly ConnectionProfile[];
  /** EXPLAIN is answered instead of being refused. */
  explain?: boolean;
};

export type PlannedSource = { operator: OperatorId; spec: OperatorSpec & { tag: 'source' } };
export type PlannedSink = { operator: OperatorId; spec: OperatorSpec & { tag: 'sink' } };

export type SqlPlan = {
  /** Null if and only if there are errors. */
  graph: PhysicalGraph | null;
  /** EXPLAIN texts; empty when there are errors. */
  logical: string;
  physical: string;
  /** In text order. */
  errors: ErrorReport[];
  warnings: ErrorReport[];
  sources: PlannedSource[];
  sinks: PlannedSink[];
  /** What the text declares, as far as it could be read. */
  tables: ProgramTable[];
  /** The program only asks for its plan: it is not to be run. */
  explained: boolean;
  /** Names of the tables from outside that it uses, also when there are errors. */
  outside: string[];
};

export function planSql(
  text: string,
  connectors: readonly ConnectorDeclaration[],
  options: PlanSqlOptions,
): SqlPlan {
  const parsed = parseProgram(text);
  const outside = (options.functions ?? []).map(planFunction);
  const bound = bindProgram(
    parsed.program,
    { connectors, profiles: options.profiles ?? [] },
    {
      defaultSink: options.defaultSink,
      partial: parsed.errors.length > 0,
      explain: options.explain ?? false,
      tables: options.tables ?? [],
      functions: outside.flatMap(({ fn }) => (fn === null ? [] : [fn])),
    },
  );
  // Places in other texts would be looked for in this one.
  const wrong = outside.flatMap((each) => each.errors.map(withoutPlace));
  const errors = [...wrong, ...parsed.errors, ...bound.errors].sort(byPlace);
  const { warnings } = bound;
  const explained = bound.explained !== null;
  const damaged = parsed.damaged.flatMap((each) => declaredTable(each, connectors));
  const tables = [...bound.tables, ...damaged].sort(
    (left, right) => (left.span?.start.line ?? 0) - (right.span?.start.line ?? 0),
  );
  if (errors.length > 0 || bound.plan === null)
    return {
      graph: null,
      logical: '',
      physical: '',
      errors,
      warnings,
      sources: [],
      sinks: [],
      tables,
      explained,
      outside: bound.outside,
    };
  const plan = optimize(bound.plan);
  const graph = planGraph(plan);
  const physical = explainPhysical(graph, options.parallelism ?? 1);
  return {
    graph,
    logical: bound.explained === 'physical' ? '' : explainLogical(plan),
    physical: bound.explained === 'logical' ? '' : physical,
    errors,
    warnings,
    sources: graph.operators.flatMap(asSource),
    sinks: graph.operators.flatMap(asSink),
    tables,
    explained,
    outside: bound.outside,
  };
}

function withoutPlace(report: ErrorReport): ErrorReport {
  const { code, message, detail, hint, suggestion } = report;
  return new EngineError(code, message, {
    ...(detail === undefined ? {} : { detail }),
    ...(hint === undefined ? {} : { hint }),
    ...(suggestion === undefined ? {} : { suggestion }),
  }).report;
}

/** A text that declares one function, and nothing else. */
export function planFunction(text: string): {
  fn: UserFunction | null;
  errors: ErrorReport[];
} {
  const { program, errors } = parseProgram(text);
  if (errors.length > 0) return { fn: null, errors };
  const [statement, other] = program.statements;
  if (statement?.tag === 'create_function' && other === undefined)
    return declareFunction(statement);
  const message = 'a definition is one CREATE FUNCTION statement, and nothing else';
  return { fn: null, errors: [new EngineError('INVALID_REQUEST', message).report] };
}

const asSource = ({ id, spec }: GraphOperator): PlannedSource[] =>
  spec.tag === 'source' ? [{ operator: id, spec }] : [];

const asSink = ({ id, spec }: GraphOperator): PlannedSink[] =>
  spec.tag === 'sink' ? [{ operator: id, spec }] : [];

function byPlace(left: ErrorReport, right: ErrorReport): number {
  const at = (report: ErrorReport): [number, number] => [
    report.span?.start.line ?? 0,
    report.span?.start.column ?? 0,
  ];
  const [leftLine, leftColumn] = at(left);
  const [rightLine, rightColumn] = at(right);
  return leftLine - rightLine || leftColumn - rightColumn;
}
