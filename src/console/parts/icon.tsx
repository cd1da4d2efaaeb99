/** Line icons, drawn for this page on a grid of 24. */
const PATHS = {
  start: 'M4 7c5 0 5 5 8 5s3-5 8-5M4 12c5 0 5 6 8 6s3-6 8-6',
  pipelines: 'M4 6h16M4 12h10M4 18h13',
  add: 'M12 5v14M5 12h14',
  plug: 'M9 3v6M15 3v6M6 9h12v3a6 6 0 0 1-12 0zM12 18v3',
  function: 'M15 4h-2a3 3 0 0 0-3 3v10a3 3 0 0 1-3 3H6M7 11h8',
  book: 'M5 4h10a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h10',
  play: 'M7 5l11 7-11 7z',
  pause: 'M8 5v14M16 5v14',
  stop: 'M6 6h12v12H6z',
  restart: 'M4 12a8 8 0 1 0 3-6.200M4 4v4h4',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 13l4 4 10-10',
  cross: 'M6 6l12 12M18 6L6 18',
  warning: 'M12 4l9 16H3zM12 10v4M12 17v.500',
  search: 'M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14M16 16l5 5',
  sun: 'M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8M12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2',
  moon: 'M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10z',
  down: 'M6 9l6 6 6-6',
  left: 'M15 6l-6 6 6 6',
  right: 'M9 6l6 6-6 6',
  out: 'M8 6H5v13h13v-3M13 4h7v7M20 4l-9 9',
  bolt: 'M13 3L5 14h6l-1 7 8-11h-6z',
  skull: 'M12 3a8 8 0 0 0-5 14v3h10v-3a8 8 0 0 0-5-14M9 11v1M15 11v1M12 15v1',
  edit: 'M4 20l1-5L16 4l4 4L9 19z',
  format: 'M4 6h16M8 11h12M8 16h8',
  minus: 'M5 12h14',
  frame: 'M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5',
  more: 'M4 12h1M11.500 12h1M19 12h1',
  flag: 'M6 21V4h11l-2 4 2 4H6',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The river between its depth lines. */
export function Mark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <g fill="none" stroke-linecap="round">
        <path
          d="M3 9c7 0 8 6 13 6s6-6 13-6M3 16c7 0 8 7 13 7s6-7 13-7"
          stroke="var(--line)"
          stroke-width="1.6"
        />
        <path
          d="M3 12.500c7 0 8 6.500 13 6.500s6-6.500 13-6.500"
          stroke="var(--thalweg)"
          stroke-width="2.600"
        />
      </g>
    </svg>
  );
}
