/** The optimiser: rules in a fixed order, each run once. */
import type { LogicalPlan } from './logical.ts';
import { bestOfWindowRule } from './rules/best-of-window.ts';
import { checkPlanRule } from './rules/check-plan.ts';
import { dropIdentityRule } from './rules/drop-identity.ts';
import { foldConstantsRule } from './rules/fold-constants.ts';
import { foldOutputsRule } from './rules/fold-outputs.ts';
import { mergeProjectsRule } from './rules/merge-projects.ts';
import { pruneColumnsRule } from './rules/prune-columns.ts';
import { pushFiltersRule } from './rules/push-filters.ts';
import type { Rule } from './rules/rule.ts';
import { shareWindowsRule } from './rules/share-windows.ts';
import { topNRule } from './rules/top-n.ts';

export const RULES: readonly Rule[] = [
  // First, so that the others see `true` where it was written as `1 = 1`.
  foldConstantsRule,
  // Before projections merge: a condition passes them one by one.
  pushFiltersRule,
  // After conditions reached the ranks they are about.
  topNRule,
  // After filters left the space between projections.
  mergeProjectsRule,
  // A constant of an inner projection now stands inside outer expressions.
  foldConstantsRule,
  // Before columns are pruned that only the join needed.
  bestOfWindowRule,
  // Once nothing moves any more, so that every reader's need is final.
  pruneColumnsRule,
  // Pruning leaves projections over projections where a union wanted its columns in order.
  mergeProjectsRule,
  foldOutputsRule,
  dropIdentityRule,
  // When everybody has said which columns are needed, and inputs that are the same are one node.
  shareWindowsRule,
  // Last: what the others made must still be a plan.
  checkPlanRule,
];

/** The same rows at less cost; sinks keep their columns. */
export function optimize(plan: LogicalPlan): LogicalPlan {
  return RULES.reduce((current, rule) => rule.apply(current), plan);
}
