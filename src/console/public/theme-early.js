// Before the first paint, so that the page never flashes in the wrong colours.
try {
  const kept = localStorage.getItem('thalweg.theme');
  const light =
    kept === 'light' || (kept === null && matchMedia('(prefers-color-scheme: light)').matches);
  document.documentElement.dataset.theme = light ? 'light' : 'dark';
} catch {
  document.documentElement.dataset.theme = 'dark';
}
