/** The present moment, once a second, for everything on the page that counts time. Microseconds since 1970. */
import { signal } from '@preact/signals';

export const nowMicros = signal(Date.now() * 1000);

setInterval(() => {
  if (document.visibilityState === 'visible') nowMicros.value = Date.now() * 1000;
}, 1000);
