/** What the signs of the picture mean. */
const SIGNS: readonly [sign: string, word: string][] = [
  ['committed', 'canonical, output committed'],
  ['open', 'commit under way'],
  ['plain', 'nothing to commit'],
  ['fence', 'fence: a generation takes over'],
  ['reset', 'state forgotten'],
  ['lost', 'lost: another one is canonical'],
  ['cut', 'cut off, and read again'],
  ['running', 'being taken'],
  ['past', 'no longer kept'],
];

export function Legend() {
  return (
    <ul class="legend" aria-label="Signs">
      {SIGNS.map(([sign, word]) => (
        <li key={sign}>
          <svg viewBox="-9 -9 18 18" aria-hidden="true">
            <Sign name={sign} />
          </svg>
          {word}
        </li>
      ))}
    </ul>
  );
}

export function Sign({ name, size = 6 }: { name: string; size?: number }) {
  if (name === 'fence' || name === 'reset')
    return (
      <g class={`sign ${name}`}>
        <path d={`M0,${-size * 1.5}V${size * 1.5}`} />
        <rect
          x={-size * 0.75}
          y={-size * 0.75}
          width={size * 1.5}
          height={size * 1.5}
          transform="rotate(45)"
        />
      </g>
    );
  if (name === 'lost' || name === 'abandoned' || name === 'cut')
    return (
      <g class={`sign ${name}`}>
        <circle r={size} />
        <path
          d={`M${-size / 2.4},${-size / 2.4}L${size / 2.4},${size / 2.4}M${size / 2.4},${-size / 2.4}L${-size / 2.4},${size / 2.4}`}
        />
      </g>
    );
  return (
    <g class={`sign ${name}`}>
      <circle r={name === 'past' ? size * 0.55 : size} />
      {name === 'committed' && size >= 4 && (
        <path
          d={`M${-size * 0.45},0.3L${-size * 0.1},${size * 0.38}L${size * 0.5},${-size * 0.35}`}
        />
      )}
    </g>
  );
}
