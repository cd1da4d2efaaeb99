/**
 * Which entries of a flat table changed since a snapshot, and the chains of the entries of each group.
 *
 * Entries are numbered in order of appearance. They are *changed* until `takeChanged` tells of them; before it was first
 * asked nothing is noted, and every entry counts. A sweep renumbers entries, and lets the next answer be all of them.
 */
import { allGroups } from '../../state/group-index.ts';
import { grownBytes, grownInt32 } from './group-arrays.ts';

export class EntryList {
  /** Entry → its group. */
  owners: Int32Array = new Int32Array(16);
  /** Entry → the next one of its group, or -1. */
  next: Int32Array = new Int32Array(16);
  /** Group → its latest entry, or -1. */
  heads: Int32Array = new Int32Array(0);
  count = 0;
  /** Entry → 1: it is in `#changed`; null: nothing is noted. */
  #isChanged: Uint8Array | null = null;
  #changed: Int32Array = new Int32Array(16);
  #changedCount = 0;
  #groups = 0;

  /** Makes room for entries [0, count). */
  reserve(count: number): void {
    this.owners = grownInt32(this.owners, count);
    this.next = grownInt32(this.next, count);
    if (this.#isChanged !== null) this.#isChanged = grownBytes(this.#isChanged, count);
  }

  /** Makes room for groups [0, count), new ones without entries; true when there were more. */
  resizeGroups(count: number): boolean {
    this.heads = grownInt32(this.heads, count);
    const shrinks = count < this.#groups;
    if (count > this.#groups) this.heads.fill(-1, this.#groups, count);
    this.#groups = count;
    return shrinks;
  }

  /** The next entry, of this group. */
  append(group: number): void {
    const entry = this.count++;
    this.owners[entry] = group;
    this.next[entry] = this.heads[group] as number;
    this.heads[group] = entry;
  }

  touch(entry: number): void {
    const isChanged = this.#isChanged;
    if (isChanged === null || isChanged[entry] === 1) return;
    isChanged[entry] = 1;
    this.#changed = grownInt32(this.#changed, this.#changedCount + 1);
    this.#changed[this.#changedCount++] = entry;
  }

  /** What changed since the last call; null: anything may have. From now on nothing has. */
  takeChanged(): Int32Array | null {
    const isChanged = this.#isChanged;
    const changed = this.#changed.slice(0, this.#changedCount);
    this.#changedCount = 0;
    if (isChanged === null) {
      this.#isChanged = new Uint8Array(this.owners.length);
      return null;
    }
    for (const entry of changed) isChanged[entry] = 0;
    return changed;
  }

  /** Keeps these entries, which become 0, 1, 2, …; the next answer is all of them. */
  keep(entries: Int32Array): void {
    const owners = Int32Array.from(entries, (entry) => this.owners[entry] as number);
    this.heads.fill(-1);
    this.owners = new Int32Array(Math.max(16, owners.length));
    this.next = new Int32Array(this.owners.length);
    this.count = 0;
    this.#isChanged = null;
    this.#changedCount = 0;
    for (const owner of owners) this.append(owner);
  }

  /** The entries of groups, one group after the other, and where each group's end. */
  of(
    groups: Int32Array,
    isThere: (entry: number) => boolean,
  ): { entries: Int32Array; offsets: Int32Array } {
    const offsets = new Int32Array(groups.length + 1);
    let entries = new Int32Array(16);
    let count = 0;
    for (let at = 0; at < groups.length; at++) {
      let entry = this.heads[groups[at] as number] as number;
      for (; entry >= 0; entry = this.next[entry] as number) {
        if (!isThere(entry)) continue;
        entries = grownInt32(entries, count + 1) as Int32Array<ArrayBuffer>;
        entries[count++] = entry;
      }
      offsets[at + 1] = count;
    }
    return { entries: entries.slice(0, count), offsets };
  }

  all(): Int32Array {
    return allGroups(this.count);
  }

  bytes(): number {
    return (
      this.owners.byteLength +
      this.next.byteLength +
      this.heads.byteLength +
      (this.#isChanged?.length ?? 0) +
      this.#changed.byteLength
    );
  }
}
