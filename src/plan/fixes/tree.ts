/** Visits each node of a tree, whatever its height. */
export function eachNode(root: unknown, visit: (node: Record<string, unknown>) => void): void {
  const stack: unknown[] = [root];
  while (stack.length > 0) {
    const node = stack.pop();
    if (typeof node !== 'object' || node === null) continue;
    if (!Array.isArray(node)) visit(node as Record<string, unknown>);
    for (const value of Object.values(node)) if (typeof value === 'object') stack.push(value);
  }
}
