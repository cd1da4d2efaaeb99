/**
 * `npm run example:earthquakes:data`: writes earthquakes.ndjson from the npm package `vega-datasets`: a week of the US Geological
 * Survey's feed (public domain), its quakes of magnitude 2.5 and over in the order of their times, which are UTC.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

type Feature = {
  id: string;
  properties: { mag: number | null; place: string; time: number };
  geometry: { coordinates: [longitude: number, latitude: number, depthKm: number] };
};

const MAGNITUDE_MIN = 2.5;

/** One line of JSON per quake. */
export function quakesOf(features: readonly Feature[]): string[] {
  return features
    .filter(({ properties }) => properties.mag !== null && properties.mag >= MAGNITUDE_MIN)
    .sort(
      (left, right) =>
        left.properties.time - right.properties.time || (left.id < right.id ? -1 : 1),
    )
    .map(({ id, properties: { mag, place, time }, geometry: { coordinates } }) =>
      JSON.stringify({
        id,
        time: new Date(time).toISOString(),
        magnitude: mag,
        depth_km: coordinates[2],
        place,
      }),
    );
}

/** The text of earthquakes.ndjson. */
export async function makeData(): Promise<string> {
  const main = createRequire(import.meta.url).resolve('vega-datasets');
  const path = join(dirname(main), '..', 'data', 'earthquakes.json');
  const { features } = JSON.parse(await readFile(path, 'utf8')) as { features: Feature[] };
  return `${quakesOf(features).join('\n')}\n`;
}

if (import.meta.main) {
  await writeFile(join(import.meta.dirname, 'earthquakes.ndjson'), await makeData());
}
