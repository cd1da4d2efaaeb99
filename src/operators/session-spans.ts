/**
 * Which sessions of each key are open: stretches of time that merge when a row bridges them.
 *
 * Place in the walk: stage 6, inside `SessionAggregate`. A session is a slot: its group, where it starts and ends. The
 * sessions of a group are a linked list, the latest first; they never meet. Slots are numbered in order and are not used
 * again before `compact`.
 *
 * Invariants: sessions of a group are `[start, end)` stretches that neither overlap nor are said to when one ends where
 * the next starts; `due` of a slot is never after its end, so that the queue finds every session in time.
 */
const NONE = -1;

export class SessionSpans {
  #start = new Float64Array(64);
  #end = new Float64Array(64);
  #group = new Int32Array(64);
  /** The session before, of the same group. */
  #earlier = new Int32Array(64);
  /** What has become of a slot: itself while it is open, the slot it was merged into, or `NONE` when it has left. */
  #became = new Int32Array(64);
  #count = 0;
  #open = 0;
  /** Of each group, its latest session. */
  #latest = new Int32Array(64).fill(NONE);
  /** A heap of slots by `#due`, the first to be due on top. */
  #queue: number[] = [];
  #due = new Float64Array(64);

  /** Slots in use and left behind. */
  get count(): number {
    return this.#count;
  }

  get open(): number {
    return this.#open;
  }

  startOf(slot: number): number {
    return this.#start[slot] as number;
  }

  endOf(slot: number): number {
    return this.#end[slot] as number;
  }

  groupOf(slot: number): number {
    return this.#group[slot] as number;
  }

  isOpen(slot: number): boolean {
    return this.#became[slot] === slot;
  }

  hasOpen(group: number): boolean {
    return group < this.#latest.length && this.#latest[group] !== NONE;
  }

  /** The open session that a slot has become part of. */
  resolve(slot: number): number {
    let at = slot;
    while (this.#became[at] !== at) at = this.#became[at] as number;
    return at;
  }

  /**
   * The session that `[from, to)` of a group belongs to, with those it bridges merged into it.
   *
   * @param closed  a stretch that ends here or before, and meets no open session, has come too late
   * @param merged  told of each session that became part of another
   * @returns NONE (-1) when it is late
   */
  place(
    group: number,
    from: number,
    to: number,
    closed: number,
    merged: (slot: number) => void,
  ): number {
    this.#makeRoomForGroup(group);
    let later = NONE;
    let slot = this.#latest[group] as number;
    while (slot !== NONE && (this.#start[slot] as number) >= to) {
      later = slot;
      slot = this.#earlier[slot] as number;
    }
    if (slot === NONE || (this.#end[slot] as number) <= from) {
      if (to <= closed) return NONE;
      return this.#insert(group, from, to, later, slot);
    }
    let start = Math.min(this.#start[slot] as number, from);
    let other = this.#earlier[slot] as number;
    while (other !== NONE && (this.#end[other] as number) > from) {
      start = Math.min(start, this.#start[other] as number);
      this.#became[other] = slot;
      this.#open--;
      merged(other);
      other = this.#earlier[other] as number;
    }
    this.#earlier[slot] = other;
    this.#start[slot] = start;
    if (to > (this.#end[slot] as number)) this.#end[slot] = to;
    return slot;
  }

  #insert(group: number, from: number, to: number, later: number, earlier: number): number {
    const slot = this.#count++;
    this.#makeRoomForSlot(slot);
    this.#open++;
    this.#start[slot] = from;
    this.#end[slot] = to;
    this.#group[slot] = group;
    this.#earlier[slot] = earlier;
    this.#became[slot] = slot;
    if (later === NONE) this.#latest[group] = slot;
    else this.#earlier[later] = slot;
    this.#enqueue(slot);
    return slot;
  }

  #makeRoomForGroup(group: number): void {
    if (group < this.#latest.length) return;
    const wider = new Int32Array(Math.max(group + 1, this.#latest.length * 2)).fill(NONE);
    wider.set(this.#latest);
    this.#latest = wider;
  }

  #makeRoomForSlot(slot: number): void {
    if (slot < this.#start.length) return;
    const room = this.#start.length * 2;
    this.#start = widerFloats(this.#start, room);
    this.#end = widerFloats(this.#end, room);
    this.#due = widerFloats(this.#due, room);
    this.#group = widerInts(this.#group, room);
    this.#earlier = widerInts(this.#earlier, room);
    this.#became = widerInts(this.#became, room);
  }

  /** The open sessions that end at `time` or before, the first to end first; they leave. */
  takeEnded(time: number): number[] {
    const ended: number[] = [];
    for (;;) {
      const slot = this.#firstToEnd(time);
      if (slot === null) return ended;
      this.#dequeue();
      this.#leave(slot);
      ended.push(slot);
    }
  }

  /** When the first of the open sessions ends, as it stands; null without any. */
  firstEnd(): number | null {
    const slot = this.#firstToEnd(Infinity);
    return slot === null ? null : (this.#end[slot] as number);
  }

  /** The open session that ends first, put on top of the queue; null when none ends at `time` or before. */
  #firstToEnd(time: number): number | null {
    for (;;) {
      const slot = this.#queue[0];
      if (slot === undefined || (this.#due[slot] as number) > time) return null;
      if (this.#became[slot] !== slot) this.#dequeue();
      else if ((this.#end[slot] as number) > (this.#due[slot] as number)) {
        // It has grown since.
        this.#due[slot] = this.#end[slot] as number;
        this.#sink(0);
      } else return slot;
    }
  }

  #leave(slot: number): void {
    const group = this.#group[slot] as number;
    let later = NONE;
    for (let at = this.#latest[group] as number; at !== slot; at = this.#earlier[at] as number)
      later = at;
    const earlier = this.#earlier[slot] as number;
    if (later === NONE) this.#latest[group] = earlier;
    else this.#earlier[later] = earlier;
    this.#became[slot] = NONE;
    this.#open--;
  }

  openSlots(): Int32Array {
    const slots = new Int32Array(this.#open);
    let at = 0;
    for (let slot = 0; slot < this.#count; slot++)
      if (this.#became[slot] === slot) slots[at++] = slot;
    return slots;
  }

  /** Only these open sessions, in their order, with groups by their new numbers. */
  compact(slots: Int32Array, renumbered: Int32Array): SessionSpans {
    const spans = new SessionSpans();
    for (const slot of slots)
      spans.place(
        renumbered[this.#group[slot] as number] as number,
        this.#start[slot] as number,
        this.#end[slot] as number,
        -Infinity,
        neverMerged,
      );
    return spans;
  }

  #enqueue(slot: number): void {
    this.#due[slot] = this.#end[slot] as number;
    const queue = this.#queue;
    let at = queue.push(slot) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((this.#due[queue[parent] as number] as number) <= (this.#due[slot] as number)) break;
      queue[at] = queue[parent] as number;
      at = parent;
    }
    queue[at] = slot;
  }

  #dequeue(): void {
    const last = this.#queue.pop();
    if (last === undefined || this.#queue.length === 0) return;
    this.#queue[0] = last;
    this.#sink(0);
  }

  #sink(from: number): void {
    const queue = this.#queue;
    const slot = queue[from] as number;
    const due = this.#due[slot] as number;
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= queue.length) break;
      const right = child + 1;
      if (
        right < queue.length &&
        (this.#due[queue[right] as number] as number) <
          (this.#due[queue[child] as number] as number)
      )
        child = right;
      if ((this.#due[queue[child] as number] as number) >= due) break;
      queue[at] = queue[child] as number;
      at = child;
    }
    queue[at] = slot;
  }

  bytes(): number {
    return this.#start.length * 36 + this.#latest.byteLength + this.#queue.length * 8;
  }
}

function neverMerged(): void {}

function widerFloats(array: Float64Array<ArrayBuffer>, room: number): Float64Array<ArrayBuffer> {
  const wider = new Float64Array(room);
  wider.set(array);
  return wider;
}

function widerInts(array: Int32Array<ArrayBuffer>, room: number): Int32Array<ArrayBuffer> {
  const wider = new Int32Array(room);
  wider.set(array);
  return wider;
}
