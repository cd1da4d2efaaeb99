/** What stands where nothing is yet: what would be here, and how to get it. */
import type { ComponentChildren } from 'preact';

export function Empty({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}
