/** A name and its value, in a list of such (`dl.pairs`). */
import type { ComponentChildren } from 'preact';

export function Pair({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
