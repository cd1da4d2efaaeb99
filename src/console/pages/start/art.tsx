/** A picture for each example: what its query does, drawn as lines and dots that move a little. */
import type { ComponentChildren } from 'preact';

/** `--delay` and `--from`, `--to` of an animation, in the style sheet of this page. */
const after = (seconds: number): { [name: string]: string } => ({
  '--delay': `${-seconds}s`,
});

function Picture({ children, kind }: { children: ComponentChildren; kind: string }) {
  return (
    <svg class={`art art-${kind}`} viewBox="0 0 240 96" aria-hidden="true">
      {children}
    </svg>
  );
}

const BARS = [34, 52, 26, 61, 44, 70, 38, 56, 30, 64, 47, 72] as const;

/** A window of bars that slides over time. */
function Clicks() {
  return (
    <Picture kind="clicks">
      <path class="art-line" d="M12 84H228" />
      {BARS.map((height, index) => (
        <rect
          key={index}
          class="art-bar"
          style={after(index * 0.31)}
          x={16 + index * 18}
          y={84 - height}
          width="11"
          height={height}
          rx="2"
        />
      ))}
      <rect class="art-window" x="92" y="6" width="90" height="82" rx="5" />
    </Picture>
  );
}

/** One card in three cities. */
function Fraud() {
  const cities = [
    [52, 66],
    [126, 22],
    [196, 62],
  ] as const;
  return (
    <Picture kind="fraud">
      {[30, 48, 66].map((y) => (
        <path key={y} class="art-depth" d={`M8 ${y}c40 -18 70 16 112 0s70 -14 112 4`} />
      ))}
      <path class="art-alarm" d="M52 66L126 22L196 62" />
      {cities.map(([x, y], index) => (
        <g key={x} class="art-city" style={{ '--delay': `${index * 0.7}s` }}>
          <circle cx={x} cy={y} r="11" />
          <circle cx={x} cy={y} r="4.500" class="art-core" />
        </g>
      ))}
    </Picture>
  );
}

/** Two streams that become one; a branch that finds nobody ends. */
function Join() {
  const upper = 'M6 22C70 22 90 48 132 48H234';
  const lower = 'M6 74C70 74 90 48 132 48H234';
  return (
    <Picture kind="join">
      <path class="art-bank" d={upper} />
      <path class="art-bank" d={lower} />
      <path class="art-flow" d={upper} />
      <path class="art-flow second" d={lower} />
      {[0, 1, 2].map((index) => (
        <g key={index}>
          <circle
            class="art-drop"
            r="4"
            style={{ ...after(index * 1.1), offsetPath: `path('${upper}')` }}
          />
          <circle
            class="art-drop second"
            r="4"
            style={{ ...after(index * 1.1), offsetPath: `path('${lower}')` }}
          />
        </g>
      ))}
    </Picture>
  );
}

const PLACES = [198, 168, 132, 104, 78] as const;

/** Five places; two of them change. */
function TopFive() {
  return (
    <Picture kind="top">
      {PLACES.map((width, index) => (
        <g key={width} class={index === 1 ? 'art-rises' : index === 2 ? 'art-falls' : ''}>
          <rect
            class={index === 0 ? 'art-first' : 'art-place'}
            x="22"
            y={8 + index * 17}
            width={width}
            height="11"
            rx="3"
          />
          <text x="8" y={17.5 + index * 17} class="art-number">
            {index + 1}
          </text>
        </g>
      ))}
    </Picture>
  );
}

/** A line with a hole in it, and readings that come too late. */
function Sensors() {
  return (
    <Picture kind="sensors">
      <rect class="art-gap" x="104" y="8" width="42" height="80" rx="4" />
      <path class="art-trace" d="M8 58L24 50L40 54L56 40L72 46L88 32L102 36" />
      <path class="art-trace" d="M148 48L164 40L180 46L196 30L212 36L232 24" />
      <path class="art-depth" d="M8 78C60 70 90 84 128 76S200 70 232 76" />
      {[118, 132].map((x, index) => (
        <circle key={x} class="art-late" style={after(index * 1.3)} cx={x} cy={50} r="3.500" />
      ))}
    </Picture>
  );
}

/** Rows of a table that come, change and go. */
function Customers() {
  return (
    <Picture kind="changes">
      {[0, 1, 2, 3].map((row) => (
        <g key={row} class={`art-row art-row-${row}`}>
          <rect class="art-cell" x="8" y={10 + row * 20} width="224" height="15" rx="3" />
          <rect class="art-mark" x="8" y={10 + row * 20} width="5" height="15" rx="2" />
          <path class="art-words" d={`M22 ${17.5 + row * 20}h${52 + row * 9}`} />
          <path class="art-words" d={`M120 ${17.5 + row * 20}h34`} />
          <path class="art-words" d={`M184 ${17.5 + row * 20}h${30 - row * 4}`} />
        </g>
      ))}
    </Picture>
  );
}

const ROUTES = ['M22 40Q80 2 132 58', 'M132 58Q180 12 222 30', 'M22 40Q110 96 222 30'] as const;

/** Departures between airports. */
function Flights() {
  return (
    <Picture kind="flights">
      <path
        class="art-coast"
        d="M10 22C50 12 96 20 140 16s72 4 92 10c4 20-10 34-18 44-20 10-44 4-64 12-34-4-60 2-84-10C34 62 10 48 10 22z"
      />
      {ROUTES.map((route, index) => (
        <g key={route}>
          <path class="art-route" d={route} />
          <circle
            class="art-drop"
            r="3.500"
            style={{ ...after(index * 1.4), offsetPath: `path('${route}')` }}
          />
        </g>
      ))}
      {[
        [22, 40],
        [132, 58],
        [222, 30],
      ].map(([x, y]) => (
        <circle key={x} class="art-port" cx={x} cy={y} r="4.500" />
      ))}
    </Picture>
  );
}

const PICTURES: Record<string, () => ComponentChildren> = {
  'shop-clicks': Clicks,
  'card-fraud': Fraud,
  'orders-and-payments': Join,
  'live-top-five': TopFive,
  sensors: Sensors,
  customers: Customers,
  'flight-delays': Flights,
};

export function Art({ example }: { example: string }) {
  const Drawn = PICTURES[example] ?? Join;
  return <Drawn />;
}

/** Depth lines of a river bed behind the first sentence; the thalweg runs where it is deepest. */
export function Riverbed() {
  const lines = [-60, -44, -28, -14, 14, 28, 44, 60, 78];
  const at = (y: number): string =>
    `M-20 ${130 + y}C160 ${60 + y * 1.15} 260 ${190 + y * 0.8} 430 ${140 + y}S720 ${
      60 + y * 1.2
    } 860 ${110 + y * 0.7}S1120 ${190 + y} 1300 ${120 + y}`;
  return (
    <svg
      class="riverbed"
      viewBox="0 0 1200 260"
      preserveAspectRatio="xMidYMid slice"
      aria-hidden="true"
    >
      {lines.map((y) => (
        <path key={y} class="riverbed-depth" d={at(y)} />
      ))}
      <path class="riverbed-line" d={at(0)} />
      <path class="riverbed-light" d={at(0)} pathLength="100" />
    </svg>
  );
}
