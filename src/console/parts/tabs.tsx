/** Parts of one page, each with an address of its own. */
export type TabLink = { name: string; title: string; href: string };

export function Tabs({
  tabs,
  current,
  label,
}: {
  tabs: readonly TabLink[];
  current: string;
  label: string;
}) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ name, title, href }) => (
        <a
          key={name}
          class="tab"
          href={href}
          {...(name === current ? { 'aria-current': 'page' as const } : {})}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}
