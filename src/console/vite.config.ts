/**
 * How the console is built: `npm run build` (and `npm run dev`, when its sources have changed) makes `dist/console`, which
 * the Worker serves as static assets. `npm run console` serves it from its sources instead, for work on the console itself;
 * the API is then that of a running `npm run dev`.
 */
import { resolve } from 'node:path';
import { defineConfig } from 'vite';

const HERE = import.meta.dirname;

export default defineConfig({
  root: HERE,
  base: '/',
  publicDir: resolve(HERE, 'public'),
  cacheDir: resolve(HERE, '../../.thalweg/vite'),
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: resolve(HERE, '../../dist/console'),
    emptyOutDir: true,
    target: 'es2023',
    // The pages' modules name what they preload themselves; the polyfill is for browsers older than the target.
    modulePreload: { polyfill: false },
    // The page's policy allows fonts from the server only, not from data URLs.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 600,
  },
  server: {
    host: '127.0.0.1',
    proxy: {
      // Not /api alone: that is also a folder of the console's sources.
      '/api/v1': {
        target: process.env['THALWEG_API'] ?? 'http://127.0.0.1:8787',
        changeOrigin: true,
      },
    },
  },
});
