/** The way around the console, whether the server answers, and the theme. */
import { useLocation } from 'preact-iso';
import { reachable } from '../api/client.ts';
import { chooseTheme, theme } from '../lib/theme.ts';
import { Icon, type IconName, Mark } from './icon.tsx';
import { Menu } from './menu.tsx';

type Entry = { href: string; title: string; icon: IconName; also?: RegExp };

const ENTRIES: readonly Entry[] = [
  { href: '/', title: 'Start', icon: 'start' },
  { href: '/pipelines', title: 'Pipelines', icon: 'pipelines', also: /^\/pipelines\/(?!new)/ },
  { href: '/pipelines/new', title: 'New', icon: 'add' },
  { href: '/connections', title: 'Sources & sinks', icon: 'plug', also: /^\/connections/ },
  { href: '/functions', title: 'Functions', icon: 'function', also: /^\/functions/ },
];

/** No page of the console: a link without a target would look for one. */
const API = '/api/v1/openapi.json';

export function Nav() {
  const { path } = useLocation();
  const other = theme.value === 'dark' ? 'light' : 'dark';
  return (
    <nav class="nav" aria-label="Console">
      <a class="nav-brand" href="/">
        <Mark />
        Thalweg
      </a>
      {ENTRIES.map(({ href, title, icon, also }) => {
        const here = path === href || also?.test(path) === true;
        return (
          <a
            key={href}
            class="nav-link"
            href={href}
            {...(here ? { 'aria-current': 'page' as const } : {})}
          >
            <Icon name={icon} />
            {title}
          </a>
        );
      })}
      <div class="nav-more">
        <Menu
          label="More"
          icon="more"
          look="nav-link"
          entries={[
            {
              key: 'theme',
              title: other === 'dark' ? 'Dark' : 'Light',
              icon: other === 'dark' ? 'moon' : 'sun',
              onChoose: () => chooseTheme(other),
            },
            { key: 'api', title: 'API description', icon: 'book', href: API },
          ]}
        />
      </div>
      <div class="nav-foot">
        <span role="status" class={`badge ${reachable.value ? 'good' : 'bad'}`}>
          {reachable.value ? 'Connected' : 'No server'}
        </span>
        <button type="button" class="button quiet small" onClick={() => chooseTheme(other)}>
          <Icon name={other === 'dark' ? 'moon' : 'sun'} />
          {other === 'dark' ? 'Dark' : 'Light'}
        </button>
        <a href={API} target="_blank">
          API description
        </a>
      </div>
    </nav>
  );
}
