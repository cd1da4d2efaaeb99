/**
 * The contract of an optimiser rule: it gives a plan with the same rows for the same input, and the same
 * columns at every sink. A rule may let a row pass that would have failed in an expression nobody needs.
 */
import type { LogicalPlan } from '../logical.ts';

export type Rule = { name: string; apply: (plan: LogicalPlan) => LogicalPlan };
