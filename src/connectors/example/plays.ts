/** Songs as they are played: a few are played much more than the others, and which ones changes little by little. */
import { INT64, TEXT, TIMESTAMP } from '../../batch/types.ts';
import { drawAt, drawBelow, drawRank, ranksOf } from './draw.ts';
import { type Dataset, field, listOf, stepOf, text, whole } from './fields.ts';

const SONGS = listOf(
  'Paper Lanterns,Low Tide,Northbound,Marble Sky,The Last Tram,Salt and Sugar,Slow Lightning,Hollow Hills,Kitchen Radio,' +
    'Amber Light,Seven Bridges,Tin Roof Rain,Blue Hour,Letters Home,Glass Harbour,Winter Oranges,Night Bus,Cloud Atlas Road,' +
    'Silver Birch,Hand in Pocket,Old Maps,Summer Static,Firefly Season,Wide Open',
);
const ARTISTS = listOf(
  'Vera Lindqvist,The Ferrymen,Odalys,Kite Theory,Milo Brandt,Sister Canary,Harbour Lights,Juno Okafor',
);
const COUNTRIES = listOf('US,GB,DE,SE,BR,JP,NG,FR');
const COUNTRY_RANKS = ranksOf(COUNTRIES.length);
const LISTENERS = 5_000;
const SONG_RANKS = ranksOf(SONGS.length);
/** In so many seconds every song moves one place. */
const DRIFT_SECONDS = 15;
/** From one rank to the next song: no divisor of their number. */
const STRIDE = 7;

export const PLAYS: Dataset = {
  schema: [
    field('user_id', INT64),
    field('song', TEXT),
    field('artist', TEXT),
    field('country', TEXT),
    field('ts', TIMESTAMP),
  ],
  rowsPerSecond: 50,
  historySeconds: 60,
  make(beginning) {
    const { seed, startMicros } = beginning;
    const step = stepOf(beginning);
    const drift = 1_000_000 * DRIFT_SECONDS;
    return {
      write(row, columns) {
        const passed = Math.floor(row * step);
        // Between two orders of the songs the later one is the more likely, the nearer it is.
        const phase = passed / drift;
        const order = Math.floor(phase) + (drawAt(seed, row, 50) / 4294967296 < phase % 1 ? 1 : 0);
        const rank = drawRank(seed, row, 51, SONG_RANKS);
        const song = (seed + rank * STRIDE + order) % SONGS.length;
        const at = startMicros + passed;
        whole(columns, 0, 1 + drawBelow(seed, row, 52, LISTENERS));
        text(columns, 1, SONGS[song] as Uint8Array);
        text(columns, 2, ARTISTS[song % ARTISTS.length] as Uint8Array);
        text(columns, 3, COUNTRIES[drawRank(seed, row, 53, COUNTRY_RANKS)] as Uint8Array);
        whole(columns, 4, at);
        return at;
      },
    };
  },
};
