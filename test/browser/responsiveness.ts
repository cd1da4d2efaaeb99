/** How long the page's only thread was busy at a stretch: nothing the reader does is answered meanwhile. */
import type { Page } from 'playwright-core';

/** Forgets what was seen so far. */
export async function watchLongTasks(page: Page): Promise<void> {
  await page.evaluate(`
    window.longTasks = [];
    window.longTaskObserver?.disconnect();
    window.longTaskObserver = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.longTasks.push(entry.duration);
    });
    window.longTaskObserver.observe({ type: 'longtask', buffered: false });
  `);
}

/** Prints it, in milliseconds; below 50 a task is not reported as long. A time is measured here and not asserted. */
export async function tellLongestTask(page: Page, doing: string): Promise<void> {
  const longest = (await page.evaluate('Math.max(0, ...window.longTasks)')) as number;
  const told = longest === 0 ? 'below 50' : String(Math.round(longest));
  process.stdout.write(`longest task while ${doing}: ${told} ms\n`);
}
