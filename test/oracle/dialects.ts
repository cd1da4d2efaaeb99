/** SQL in our words and in DuckDB's: what is the same in both is written once. */

/** `duck` is null where DuckDB cannot say it, or means something else by it. */
export type Sql = { readonly ours: string; readonly duck: string | null };

type Part = Sql | string | number;

const one = (part: Part): Sql =>
  typeof part === 'object' ? part : { ours: String(part), duck: String(part) };

/** A template of parts in both dialects; a part that DuckDB cannot say takes the whole with it. */
export function sql(strings: TemplateStringsArray, ...parts: readonly Part[]): Sql {
  let ours = strings[0] ?? '';
  let duck: string | null = ours;
  parts.forEach((part, at) => {
    const { ours: mine, duck: theirs } = one(part);
    const rest = strings[at + 1] ?? '';
    ours += mine + rest;
    duck = duck === null || theirs === null ? null : duck + theirs + rest;
  });
  return { ours, duck };
}

export const join = (parts: readonly Part[], separator: string): Sql => {
  const all = parts.map(one);
  const ducks = all.flatMap(({ duck }) => (duck === null ? [] : [duck]));
  return {
    ours: all.map(({ ours }) => ours).join(separator),
    duck: ducks.length < all.length ? null : ducks.join(separator),
  };
};

export const pair = (ours: string, duck: string | null): Sql => ({ ours, duck });

/** For us and the evaluator only. */
export const onlyOurs = (part: Sql): Sql => ({ ours: part.ours, duck: null });
