/** The flights example in real workerd, quiet and while objects are reset: what it commits is what plain code computes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FeedEvent, feedFlights } from '../../examples/flights/feed.ts';
import { Thalweg } from '../harness/thalweg.ts';

describe('the flights example', () => {
  let thalweg: Thalweg;
  const fetchPath = (path: string, init?: RequestInit): Promise<Response> =>
    thalweg.fetch(path, init);
  beforeAll(async () => {
    thalweg = await Thalweg.start();
  });
  afterAll(async () => {
    await thalweg.close();
  });

  test('commits exactly the rows that plain code computes, and a second walk changes nothing', async () => {
    const events: FeedEvent[] = [];
    const options = { rows: 2_000, rate: 2_000, parallelism: 2, fresh: false };
    const result = await feedFlights(fetchPath, options, (event) => events.push(event));
    expect(result?.comparison).toEqual({
      same: result?.committedRows,
      missing: [],
      unexpected: [],
    });
    expect(result?.rowsCounted).toBe(2_000);
    expect(result?.files.length).toBeGreaterThan(0);
    expect(events.some((event) => event.tag === 'live' && event.rows.length > 0)).toBe(true);

    const again: FeedEvent[] = [];
    const second = await feedFlights(fetchPath, { ...options, rate: 1_000_000 }, (event) =>
      again.push(event),
    );
    expect(second).toEqual(result);
    expect(again.flatMap((event) => (event.tag === 'sent' ? [event.replayed] : []))).toEqual(
      Array.from({ length: 8 }, () => true),
    );
  });

  test('commits the same while host and leader are reset', async () => {
    const options = { rows: 2_000, rate: 400, parallelism: 2, fresh: true };
    let pipeline = '';
    const faults: Promise<void>[] = [];
    const result = await feedFlights(fetchPath, options, (event) => {
      if (event.tag === 'pipeline') pipeline = event.id;
      if (event.tag === 'sent' && event.rows === 750)
        faults.push(thalweg.crash(pipeline, 'host', 'now', 1));
      if (event.tag === 'sent' && event.rows === 1_500)
        faults.push(thalweg.crash(pipeline, 'leader'));
    });
    await Promise.all(faults);
    expect(faults.length).toBe(2);
    expect(result?.comparison).toEqual({
      same: result?.committedRows,
      missing: [],
      unexpected: [],
    });
    expect(result?.rowsCounted).toBe(2_000);
  });

  test('sends the rows also where the bucket cannot be read through the API', async () => {
    const sent: number[] = [];
    const deployed = async (path: string, init?: RequestInit): Promise<Response> =>
      path.startsWith('/api/v1/local/')
        ? new Response('{}', { status: 404 })
        : await fetchPath(path, init);
    const options = { rows: 500, rate: 1_000_000, parallelism: 1, fresh: true };
    const result = await feedFlights(deployed, options, (event) => {
      if (event.tag === 'sent') sent.push(event.rows);
    });
    expect(result).toBeNull();
    expect(sent).toEqual([250, 500]);
  });
});
