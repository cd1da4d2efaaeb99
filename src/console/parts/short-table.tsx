/** A plain table of a few rows, which scrolls within its place; reachable by keyboard, because it may have to be scrolled. */
import type { ComponentChildren } from 'preact';

export function ShortTable({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="short-table" tabIndex={0} role="region" aria-label={label}>
      <table>{children}</table>
    </div>
  );
}
