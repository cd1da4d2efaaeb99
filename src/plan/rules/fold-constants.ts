/** Computes what does not depend on a row once, here. */
import { foldExpr } from '../functions.ts';
import { mapExpressions, rewritePlan } from '../rewrite.ts';
import type { Rule } from './rule.ts';

export const foldConstantsRule: Rule = {
  name: 'fold constants',
  apply: (plan) => rewritePlan(plan, (node) => mapExpressions(node, foldExpr)),
};
