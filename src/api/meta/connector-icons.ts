/** A small picture for each connector, drawn with lines in the colour of the text around it. */

const svg = (lines: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${lines}</svg>`;

const ICONS: Readonly<Record<string, string>> = {
  // A flask.
  example: svg(
    '<path d="M9 3h6M10 3v6l-5 9a2 2 0 0 0 2 3h10a2 2 0 0 0 2-3l-5-9V3"/><path d="M7.5 15h9"/>',
  ),
  // An arrow into a tray.
  http: svg(
    '<path d="M12 3v11M8 10l4 4 4-4"/><path d="M4 15v4a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2v-4"/>',
  ),
  // A pulse.
  impulse: svg('<path d="M2 12h5l2-7 4 14 3-9 1.5 2H22"/>'),
  // A hammer of an auction.
  nexmark: svg(
    '<path d="M13 4l6 6M9 8l6 6M14.5 5.5l-5 5M17.5 8.5l-5 5M11 12l-7 7"/><path d="M13 21h8"/>',
  ),
  // A sheet of paper.
  single_file: svg('<path d="M6 3h8l4 4v14H6z"/><path d="M14 3v4h4M9 12h6M9 16h6"/>'),
  // A bucket.
  r2: svg(
    '<ellipse cx="12" cy="6" rx="8" ry="3"/><path d="M4 6l2 13c.3 1.2 3 2 6 2s5.7-.8 6-2l2-13"/><path d="M5 12c1.5 1.2 4 2 7 2s5.5-.8 7-2"/>',
  ),
  // An eye.
  preview: svg(
    '<path d="M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12z"/><circle cx="12" cy="12" r="3"/>',
  ),
  // A terminal.
  stdout: svg('<rect x="3" y="4" width="18" height="16" rx="2"/><path d="M7 9l3 3-3 3M12 15h5"/>'),
  // A hole with something that circles it.
  blackhole: svg(
    '<circle cx="12" cy="12" r="4" fill="currentColor"/><path d="M3 15c-1-3 4-7 10-8s10 1 9 4-5 6-10 7"/>',
  ),
};

/** Of a connector without a picture: two ends and what joins them. */
const PLAIN = svg(
  '<circle cx="5" cy="12" r="2"/><circle cx="19" cy="12" r="2"/><path d="M7 12h10"/>',
);

export const iconOf = (connector: string): string => ICONS[connector] ?? PLAIN;
