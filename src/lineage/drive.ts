/**
 * Runs a workflow against something that answers at once.
 *
 * The asynchronous twin, against R2, is the shell's. Failure: what `answer` throws is thrown into the workflow's
 * caller; the workflow is then abandoned at that request, exactly like a crash.
 */
import type { Lineage, StoreAnswer, StoreOp } from './store.ts';

/** The workflow's result, each of its operations answered by `answer` in order. */
export function driveSync<T>(workflow: Lineage<T>, answer: (op: StoreOp) => StoreAnswer): T {
  let next = workflow.next();
  while (next.done !== true) next = workflow.next(answer(next.value));
  return next.value;
}
