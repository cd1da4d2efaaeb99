/** What stands where nothing is yet: what would be here, and how to get it. */
import type { ComponentChildren } from 'preact';

export function Empty({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="empty">
      <h3>{title}</h3>
      {children}
    </div>
  );
}
