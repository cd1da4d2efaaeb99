/** The phases of a checkpoint as bars, a row for each host and one for the leader. */
import { nowMicros } from '../../lib/clock.ts';
import { duration } from '../../lib/format.ts';
import { PHASE_WORDS, type Phased, type PhaseName, phaseChart } from './phases.ts';

const NAMES = Object.keys(PHASE_WORDS) as PhaseName[];

export function PhaseBars({ checkpoint }: { checkpoint: Phased }) {
  const running = checkpoint.published_at === null;
  const { total, rows } = phaseChart(checkpoint, running ? nowMicros.value : 0);
  return (
    <figure class="phases">
      {rows.map(({ name, stretches }) => (
        <div class="phase-row" key={name}>
          <span class="phase-name">{name}</span>
          <span class="phase-track">
            {stretches.map(({ phase, start, length, running: open }) => (
              <span
                key={phase}
                class={`phase ${phase} ${open ? 'open' : ''}`}
                style={{
                  left: `${(start / total) * 100}%`,
                  width: `max(2px, ${(length / total) * 100}%)`,
                }}
                title={`${PHASE_WORDS[phase]}: ${duration(length)}`}
              />
            ))}
          </span>
          <span class="phase-time">
            {stretches.map(({ phase, length }) => `${phase} ${duration(length)}`).join(', ') ||
              'nothing yet'}
          </span>
        </div>
      ))}
      <figcaption>
        <span>{duration(total)} in all</span>
        {NAMES.map((name) => (
          <span key={name} class="phase-key" title={PHASE_WORDS[name]}>
            <i class={`phase ${name}`} />
            {name}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}
