/** How long the page's only thread was busy at a stretch, and how long what the reader did waited to be drawn. */
import type { Page } from 'playwright-core';

/** Forgets what was seen so far. */
export async function watchLongTasks(page: Page): Promise<void> {
  await page.evaluate(`
    window.longTasks = [];
    window.interactions = [];
    window.longTaskObserver?.disconnect();
    window.interactionObserver?.disconnect();
    window.longTaskObserver = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.longTasks.push(entry.duration);
    });
    window.longTaskObserver.observe({ type: 'longtask', buffered: false });
    window.interactionObserver = new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        if (entry.interactionId > 0) window.interactions.push(entry.duration);
    });
    window.interactionObserver.observe({ type: 'event', durationThreshold: 16, buffered: false });
  `);
}

/** Milliseconds; below 50 a task is not reported as long. */
export async function longestTask(page: Page): Promise<number> {
  return (await page.evaluate('Math.max(0, ...window.longTasks)')) as number;
}

/** From each click or key to the frame that shows what it did, in milliseconds; shorter ones than a frame are not reported. */
export async function interactionDelays(page: Page): Promise<number[]> {
  return (await page.evaluate('window.interactions')) as number[];
}

/** Prints it. A time is measured here and not asserted. */
export async function tellLongestTask(page: Page, doing: string): Promise<void> {
  const longest = await longestTask(page);
  const told = longest === 0 ? 'below 50' : String(Math.round(longest));
  process.stdout.write(`longest task while ${doing}: ${told} ms\n`);
}
