/**
 * Takes the calls of functions of the user's own out of the expressions of a plan: a node below computes them as columns.
 *
 * Place in the walk: end of stage 2, before any rule. Their code runs elsewhere and answers later, so no expression can hold it.
 * Invariants: a call is made for the rows that evaluation would come to, and for no other: what stands in a branch of
 * CASE, behind AND, OR or in coalesce has a guard. Equal calls are one, unless the function is VOLATILE.
 */
import type { Expr } from '../expr/expr.ts';
import { BOOLEAN } from '../batch/types.ts';
import { childrenOf, mapChildren, mapColumns } from '../expr/expr-tools.ts';
import { USER_CALL, isUserCall } from '../expr/user-function.ts';
import { must } from '../base/assert.ts';
import { functionsOf, type DeclaredFunction } from './declared-functions.ts';
import type { Diagnostics } from './diagnostics.ts';
import { canonical, columnsOf, conjunctsOf, mapAggregate } from './expressions.ts';
import { resolveCall } from './functions.ts';
import { keepsLeftOnly, makeJoin } from './join.ts';
import type { JoinNode, LogicalPlan, PlanNode, UserCall } from './logical.ts';
import { columnExpr, makeFilter, makeProjectAs } from './nodes.ts';
import { matchExprs } from './match-nodes.ts';
import { rewritePlan } from './rewrite.ts';
import { makeTableFunction, makeUserFunctions } from './user-function-nodes.ts';

/** The same rows; what can not be planned is reported. */
export function liftCalls(plan: LogicalPlan, diagnostics: Diagnostics): LogicalPlan {
  const functions = functionsOf(diagnostics);
  if (functions.size === 0) return plan;
  const lift = new Lift(functions, diagnostics);
  return rewritePlan(plan, (node) => lift.node(node));
}

const hasCall = (expr: Expr): boolean =>
  (expr.tag === 'call' && isUserCall(expr.fn)) || childrenOf(expr).some(hasCall);

class Lift {
  readonly #functions: ReadonlyMap<string, DeclaredFunction>;
  readonly #diagnostics: Diagnostics;

  constructor(functions: ReadonlyMap<string, DeclaredFunction>, diagnostics: Diagnostics) {
    this.#functions = functions;
    this.#diagnostics = diagnostics;
  }

  node(node: PlanNode): PlanNode {
    switch (node.tag) {
      case 'scan':
        this.#refuseIn([...node.computed], "in a table's definition");
        return node;
      case 'project': {
        if (!node.exprs.some(hasCall)) return node;
        const calls = this.#over(node.input);
        const exprs = node.exprs.map((expr) => calls.lift(expr, null));
        return makeProjectAs(calls.node(), exprs, node.schema);
      }
      case 'filter':
        return this.#filter(node);
      case 'window-aggregate':
      case 'updating-aggregate': {
        const operands = node.aggregates
          .flatMap(({ args, filter }) => [...args, filter ?? []])
          .flat();
        if (![...node.groupBy, ...operands].some(hasCall)) return node;
        const calls = this.#over(node.input);
        const groupBy = node.groupBy.map((key) => calls.lift(key, null));
        const aggregates = node.aggregates.map((call) => {
          const guard = call.filter === null ? null : calls.lift(call.filter, null);
          return {
            ...mapAggregate({ ...call, filter: null }, (arg) => calls.lift(arg, guard)),
            filter: guard,
          };
        });
        return { ...node, input: calls.node(), groupBy, aggregates };
      }
      case 'unnest': {
        if (!node.lists.some(hasCall)) return node;
        const calls = this.#over(node.input);
        const lists = node.lists.map((list) => calls.lift(list, null));
        return { ...node, input: calls.node(), lists };
      }
      case 'join':
        return this.#join(node);
      case 'user-function':
        return this.#tableFunction(node);
      case 'match':
        this.#refuseIn(matchExprs(node), 'in MATCH_RECOGNIZE');
        return node;
      // What these read are columns.
      case 'over':
      case 'window-best':
      case 'top-n':
      case 'set-operation':
      case 'newest-by-key':
      case 'union':
        return node;
    }
  }

  #over(input: PlanNode): Calls {
    return new Calls(input, (name) => this.#use(name, input));
  }

  #use(name: string, input: PlanNode): DeclaredFunction {
    const declared = must(this.#functions.get(name), `function ${name}`);
    if (input.updating && declared.fn.volatile && declared.called !== null)
      this.#diagnostics.error(
        'UNSUPPORTED',
        `${name}() is VOLATILE, and rows that are taken back must be what they were`,
        declared.called,
        {
          hint: 'declare it IMMUTABLE if equal arguments always give the same, or call it before the rows are aggregated or joined',
        },
      );
    return declared;
  }

  #refuseIn(exprs: readonly Expr[], place: string): void {
    const visit = (expr: Expr): void => {
      if (expr.tag === 'call' && isUserCall(expr.fn)) {
        const name = expr.fn.slice(USER_CALL.length);
        const at = this.#functions.get(name)?.called;
        if (at !== null && at !== undefined)
          this.#diagnostics.error('UNSUPPORTED', `${name}() can not be called ${place}`, at, {
            hint: 'call it in a query over the table',
          });
      }
      childrenOf(expr).forEach(visit);
    };
    exprs.forEach(visit);
  }

  #filter(node: PlanNode & { tag: 'filter' }): PlanNode {
    if (!hasCall(node.predicate)) return node;
    const conditions = conjunctsOf(node.predicate);
    const first = conditions.findIndex(hasCall);
    // Rows that earlier conditions drop are not asked about.
    const input =
      first === 0 ? node.input : makeFilter(node.input, all(conditions.slice(0, first)));
    const calls = this.#over(input);
    const predicate = calls.lift(all(conditions.slice(first)), null);
    return asBefore(makeFilter(calls.node(), predicate), node);
  }

  #tableFunction(node: PlanNode & { tag: 'user-function' }): PlanNode {
    const [call] = node.calls;
    if (call === undefined || node.rows === null) return node;
    this.#use(call.fn.name, node.input);
    if (!call.args.some(hasCall)) return node;
    const calls = this.#over(node.input);
    const args = call.args.map((arg) => calls.lift(arg, null));
    const input = calls.node();
    const made = makeTableFunction(input, { ...call, args }, node.rows);
    const width = node.input.schema.length;
    const extra = input.schema.length - width;
    const picked = node.schema.map((_, index) =>
      columnExpr(made.schema, index < width ? index : index + extra),
    );
    return makeProjectAs(made, picked, node.schema);
  }

  #join(node: JoinNode): PlanNode {
    const { left, right, residual } = node;
    if (![...node.leftKeys, ...node.rightKeys, residual ?? []].flat().some(hasCall)) return node;
    if (residual !== null && hasCall(residual)) {
      if (node.kind !== 'inner') {
        this.#refuseIn(
          [residual],
          `in the condition of a ${node.kind.toUpperCase()} JOIN over both sides`,
        );
        return node;
      }
      const inner = this.#join(makeJoin({ ...node, residual: null }));
      return this.#filter(makeFilter(inner, residual));
    }
    const [one, other] = [this.#over(left), this.#over(right)];
    const leftKeys = node.leftKeys.map((key) => one.lift(key, null));
    const rightKeys = node.rightKeys.map((key) => other.lift(key, null));
    const newLeft = one.node();
    const width = left.schema.length;
    const extra = newLeft.schema.length - width;
    const moved = (index: number): number => (index < width ? index : index + extra);
    const joined = makeJoin({
      ...node,
      left: newLeft,
      right: other.node(),
      leftKeys,
      rightKeys,
      residual:
        residual === null
          ? null
          : mapColumns(residual, (column) => ({ ...column, index: moved(column.index) })),
    });
    const place = keepsLeftOnly(node.kind) ? (index: number): number => index : moved;
    const picked = node.schema.map((_, index) => columnExpr(joined.schema, place(index)));
    return makeProjectAs(joined, picked, node.schema);
  }
}

/** The columns that were there before calls were added behind them. */
const asBefore = (node: PlanNode, { schema }: PlanNode): PlanNode =>
  makeProjectAs(
    node,
    schema.map((_, index) => columnExpr(node.schema, index)),
    schema,
  );

const all = (conditions: readonly Expr[]): Expr =>
  conditions.length === 1
    ? (conditions[0] as Expr)
    : { tag: 'and', args: conditions, type: BOOLEAN };

/** `test` is a function of one value that is never NULL: `is not false`. */
function tested(test: string, expr: Expr): Expr {
  const resolved = resolveCall(test, [expr]);
  return resolved.tag === 'expr' ? resolved.expr : expr;
}

const both = (guard: Expr | null, ...more: readonly Expr[]): Expr | null => {
  const conditions = [...(guard === null ? [] : conjunctsOf(guard)), ...more];
  return conditions.length === 0 ? null : all(conditions);
};

/** The calls over the rows of one node, as columns behind its own. */
class Calls {
  readonly #input: PlanNode;
  readonly #use: (name: string) => DeclaredFunction;
  /** Calls of a group do not need each other. */
  readonly #groups: { start: number; calls: UserCall[] }[] = [];
  readonly #known = new Map<string, Expr>();
  #next: number;

  constructor(input: PlanNode, use: (name: string) => DeclaredFunction) {
    this.#input = input;
    this.#use = use;
    this.#next = input.schema.length;
  }

  /** The rows with a column per call. */
  node(): PlanNode {
    return this.#groups.reduce<PlanNode>(
      (input, { calls }) => makeUserFunctions(input, calls),
      this.#input,
    );
  }

  /** @param guard  true for the rows that need the value */
  lift(expr: Expr, guard: Expr | null): Expr {
    if (!hasCall(expr)) return expr;
    switch (expr.tag) {
      case 'and':
      case 'or':
        return {
          ...expr,
          args: this.#inTurn(expr.args, guard, expr.tag === 'and' ? 'is not false' : 'is not true'),
        };
      case 'case':
        return this.#case(expr, guard);
      case 'call':
        if (expr.fn === 'coalesce')
          return { ...expr, args: this.#inTurn(expr.args, guard, 'is null') };
        if (!isUserCall(expr.fn)) break;
        return this.#call(expr, guard);
    }
    return mapChildren(expr, (part) => this.lift(part, guard));
  }

  /** Each is needed where none before it settled the matter. */
  #inTurn(args: readonly Expr[], guard: Expr | null, unsettled: string): Expr[] {
    const done: Expr[] = [];
    for (const arg of args) {
      const needed = hasCall(arg)
        ? both(guard, ...done.map((each) => tested(unsettled, each)))
        : guard;
      done.push(this.lift(arg, needed));
    }
    return done;
  }

  #case(expr: Expr & { tag: 'case' }, guard: Expr | null): Expr {
    const passed: Expr[] = [];
    const branches = expr.branches.map(({ when, then }) => {
      const condition = this.lift(when, both(guard, ...passed));
      const result = this.lift(then, both(guard, ...passed, condition));
      passed.push(tested('is not true', condition));
      return { when: condition, then: result };
    });
    const { otherwise } = expr;
    return {
      ...expr,
      branches,
      otherwise: otherwise === null ? null : this.lift(otherwise, both(guard, ...passed)),
    };
  }

  #call(expr: Expr & { tag: 'call' }, guard: Expr | null): Expr {
    const args = expr.args.map((arg) => this.lift(arg, guard));
    const { fn } = this.#use(expr.fn.slice(USER_CALL.length));
    const key = canonical({ name: fn.name, args, guard });
    const known = fn.volatile ? undefined : this.#known.get(key);
    if (known !== undefined) return known;
    const reads = columnsOf(guard === null ? args : [...args, guard]);
    const last = this.#groups.at(-1);
    const call = { fn, args, guard };
    if (last !== undefined && [...reads].every((column) => column < last.start))
      last.calls.push(call);
    else this.#groups.push({ start: this.#next, calls: [call] });
    const column: Expr = { tag: 'column', index: this.#next++, type: expr.type };
    this.#known.set(key, column);
    return column;
  }
}
