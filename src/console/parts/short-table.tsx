/** A plain table of a few rows, which scrolls within its place; reachable by keyboard, because it may have to be scrolled. */
import type { ComponentChildren } from 'preact';

/** What stands over a column, and whether it is a column of numbers. */
export type Head = string | { number: string };

type Props = {
  label: string;
  heads: readonly Head[];
  /** The rows. */
  children: ComponentChildren;
};

export function ShortTable({ label, heads, children }: Props) {
  return (
    <div class="short-table" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {heads.map((head) =>
              typeof head === 'string' ? (
                <th key={head} scope="col">
                  {head}
                </th>
              ) : (
                <th key={head.number} scope="col" class="number">
                  {head.number}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
