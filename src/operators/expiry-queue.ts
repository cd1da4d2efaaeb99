/**
 * Rows by the time they were made for, to be taken out once event time has passed them.
 *
 * Rows that come in order of time, as most do, wait in a queue; those that do not, in a binary heap. Each entry has the
 * row's serial number: by it the caller tells that the place has been given to another row since.
 */
import { grown, wider } from '../state/growth.ts';

export class ExpiryQueue {
  readonly #ordered = new Entries();
  #head = 0;
  readonly #heap = new Entries();

  push(time: number, id: number, serial: number): void {
    const { count } = this.#ordered;
    if (count === this.#head || time >= (this.#ordered.times[count - 1] as number))
      this.#ordered.push(time, id, serial);
    else {
      this.#heap.push(time, id, serial);
      siftUp(this.#heap, this.#heap.count - 1);
    }
  }

  /** The lowest time; +Infinity: nothing waits. */
  get first(): number {
    const ordered = this.#head < this.#ordered.count ? this.#ordered.times[this.#head] : Infinity;
    const heaped = this.#heap.count > 0 ? this.#heap.times[0] : Infinity;
    return Math.min(ordered as number, heaped as number);
  }

  /** Takes out every entry below `bound`, in order of time among those that came in order. */
  takeBelow(bound: number, visit: (id: number, serial: number) => void): void {
    const ordered = this.#ordered;
    while (this.#head < ordered.count && (ordered.times[this.#head] as number) < bound) {
      visit(ordered.ids[this.#head] as number, ordered.serials[this.#head] as number);
      this.#head++;
    }
    if (this.#head > 1024 && this.#head * 2 > ordered.count) {
      ordered.dropFirst(this.#head);
      this.#head = 0;
    }
    const heap = this.#heap;
    while (heap.count > 0 && (heap.times[0] as number) < bound) {
      const [id, serial] = [heap.ids[0] as number, heap.serials[0] as number];
      heap.move(heap.count - 1, 0);
      heap.count--;
      siftDown(heap);
      visit(id, serial);
    }
  }

  bytes(): number {
    return this.#ordered.bytes() + this.#heap.bytes();
  }
}

class Entries {
  times = new Float64Array(0);
  ids: Int32Array = new Int32Array(0);
  serials = new Float64Array(0);
  count = 0;

  push(time: number, id: number, serial: number): void {
    if (this.count === this.times.length) {
      const room = grown(this.count, this.count + 1);
      this.times = wider(Float64Array, this.times, room);
      this.ids = wider(Int32Array, this.ids, room);
      this.serials = wider(Float64Array, this.serials, room);
    }
    this.times[this.count] = time;
    this.ids[this.count] = id;
    this.serials[this.count++] = serial;
  }

  move(from: number, to: number): void {
    this.times[to] = this.times[from] as number;
    this.ids[to] = this.ids[from] as number;
    this.serials[to] = this.serials[from] as number;
  }

  swap(one: number, other: number): void {
    const [time, id, serial] = [this.times[one], this.ids[one], this.serials[one]];
    this.move(other, one);
    this.times[other] = time as number;
    this.ids[other] = id as number;
    this.serials[other] = serial as number;
  }

  dropFirst(count: number): void {
    this.times.copyWithin(0, count, this.count);
    this.ids.copyWithin(0, count, this.count);
    this.serials.copyWithin(0, count, this.count);
    this.count -= count;
  }

  bytes(): number {
    return this.times.byteLength + this.ids.byteLength + this.serials.byteLength;
  }
}

function siftUp(heap: Entries, from: number): void {
  let at = from;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if ((heap.times[parent] as number) <= (heap.times[at] as number)) return;
    heap.swap(parent, at);
    at = parent;
  }
}

function siftDown(heap: Entries): void {
  let at = 0;
  for (;;) {
    let child = at * 2 + 1;
    if (child >= heap.count) return;
    if (child + 1 < heap.count && (heap.times[child + 1] as number) < (heap.times[child] as number))
      child++;
    if ((heap.times[at] as number) <= (heap.times[child] as number)) return;
    heap.swap(at, child);
    at = child;
  }
}
