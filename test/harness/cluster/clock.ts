/** Virtual time: what is to happen, in the order of its time and then of its making. */
type Task = { atMs: number; order: number; run: () => void };

const before = (left: Task, right: Task): boolean =>
  left.atMs < right.atMs || (left.atMs === right.atMs && left.order < right.order);

export class VirtualClock {
  nowMs = 1_700_000_000_000;
  readonly startedMs = this.nowMs;
  /** A binary heap, the next task first. */
  readonly #tasks: Task[] = [];
  #order = 0;

  at(atMs: number, run: () => void): void {
    const task = { atMs, order: this.#order++, run };
    let at = this.#tasks.push(task) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(task, this.#tasks[parent] as Task)) break;
      this.#tasks[at] = this.#tasks[parent] as Task;
      at = parent;
    }
    this.#tasks[at] = task;
  }

  /** When the next task is due; null when there is none. */
  get nextMs(): number | null {
    return this.#tasks[0]?.atMs ?? null;
  }

  /** Runs the next task; false when there is none. */
  runNext(): boolean {
    const task = this.#tasks[0];
    if (task === undefined) return false;
    const last = this.#tasks.pop() as Task;
    if (this.#tasks.length > 0) this.#sink(last);
    this.nowMs = Math.max(this.nowMs, task.atMs);
    task.run();
    return true;
  }

  #sink(task: Task): void {
    const tasks = this.#tasks;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= tasks.length) break;
      const right = tasks[child + 1];
      if (right !== undefined && before(right, tasks[child] as Task)) child++;
      if (!before(tasks[child] as Task, task)) break;
      tasks[at] = tasks[child] as Task;
      at = child;
    }
    tasks[at] = task;
  }
}
