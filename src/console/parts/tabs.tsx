/** Parts of one page, each with an address of its own. Where they do not all fit, the current one is scrolled into sight. */
import { useEffect, useRef } from 'preact/hooks';
import { short } from '../lib/format.ts';

export type TabLink = {
  name: string;
  title: string;
  href: string;
  /** How many things there want to be looked at. */
  wrong?: number;
};

export function Tabs({
  tabs,
  current,
  label,
}: {
  tabs: readonly TabLink[];
  current: string;
  label: string;
}) {
  const list = useRef<HTMLElement>(null);
  useEffect(() => {
    const { current: element } = list;
    const here = element?.querySelector<HTMLElement>('[aria-current]') ?? null;
    if (element !== null && here !== null)
      element.scrollLeft = here.offsetLeft - (element.clientWidth - here.offsetWidth) / 2;
  }, [current]);
  return (
    <nav class="tabs" aria-label={label} ref={list}>
      {tabs.map(({ name, title, href, wrong = 0 }) => (
        <a
          key={name}
          class="tab"
          href={href}
          {...(name === current ? { 'aria-current': 'page' as const } : {})}
        >
          {title}
          {wrong > 0 && <span class="tab-count warn">{short(wrong)}</span>}
        </a>
      ))}
    </nav>
  );
}
