/**
 * Eight thermometers in turn. In every forty seconds one is silent for fifteen, and the next one reports in its place;
 * about one reading in a hundred was kept back and comes 15 to 30 seconds late.
 */
import { FLOAT64, TEXT, TIMESTAMP } from '../../batch/types.ts';
import { drawBelow } from './draw.ts';
import { type Dataset, field, listOf, real, stepOf, text, whole } from './fields.ts';

const SENSORS = listOf('cellar,kitchen,boiler,roof,greenhouse,garage,workshop,cold store');
/** Their usual temperatures in hundredths of a degree. */
const USUAL = [1150, 2140, 6250, 870, 2660, 940, 1780, 340];
const CYCLE_MICROS = 40_000_000;
const SILENT_FROM_MICROS = 12_000_000;
const SILENT_TO_MICROS = 27_000_000;
/** A temperature goes up and down in so long. */
const SWING_MICROS = 90_000_000;
const LATE_ONE_OF = 97;
const LATE_MIN_MICROS = 15_000_000;
const LATE_SPREAD_MICROS = 15_000_000;

/** From -150 to 150 and back, in straight lines. */
function swing(passed: number, sensor: number): number {
  const at = (passed + (sensor * SWING_MICROS) / SENSORS.length) % SWING_MICROS;
  const share = at / SWING_MICROS;
  return Math.round((share < 0.5 ? share * 4 - 1 : 3 - share * 4) * 150);
}

export const SENSORS_DATASET: Dataset = {
  schema: [field('sensor', TEXT), field('temperature', FLOAT64), field('ts', TIMESTAMP)],
  rowsPerSecond: 16,
  historySeconds: 60,
  make(beginning) {
    const { seed, startMicros } = beginning;
    const step = stepOf(beginning);
    return {
      write(row, columns) {
        const passed = Math.floor(row * step);
        const cycle = Math.floor(passed / CYCLE_MICROS);
        const inCycle = passed - cycle * CYCLE_MICROS;
        const silent =
          inCycle >= SILENT_FROM_MICROS && inCycle < SILENT_TO_MICROS
            ? drawBelow(seed, cycle, 60, SENSORS.length)
            : -1;
        const turn = row % SENSORS.length;
        const sensor = turn === silent ? (turn + 1) % SENSORS.length : turn;
        const hundredths =
          (USUAL[sensor] as number) + swing(passed, sensor) + drawBelow(seed, row, 61, 41) - 20;
        const late =
          passed > LATE_MIN_MICROS + LATE_SPREAD_MICROS &&
          drawBelow(seed, row, 62, LATE_ONE_OF) === 0
            ? LATE_MIN_MICROS + drawBelow(seed, row, 63, LATE_SPREAD_MICROS)
            : 0;
        const at = startMicros + passed - late;
        text(columns, 0, SENSORS[sensor] as Uint8Array);
        real(columns, 1, hundredths / 100);
        whole(columns, 2, at);
        return at;
      },
    };
  },
};
