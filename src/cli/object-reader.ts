/** A bucket as verification sees it, wherever it lies. */

/** What verification needs of a bucket. */
export type ObjectReader = {
  /** Keys with the prefix after the given one, ascending; at most a page of them, and none only if there is none. */
  list(prefix: string, after: string): Promise<{ keys: string[]; truncated: boolean }>;
  get(key: string): Promise<Uint8Array | null>;
};
