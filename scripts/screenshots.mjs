// Takes the screenshots of docs/console.md with Chromium, from the traffic of the demonstration. Needs `npm run build` and
// `npm ci --prefix test`.
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startDouble } from '../dist/esm/double/index.js';
import { demonstration, sendTraffic } from './console-traffic.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const images = join(root, 'docs', 'images');
const { chromium } = createRequire(join(root, 'test', 'package.json'))('playwright-core');

/** The pictures: a name, the address in the console, the scheme, an element that is shown last, and how far the table is scrolled. */
const pictures = [
  ['exchanges', '/exchanges', 'light', '.rows .row', 576],
  ['exchange', '/exchanges/28', 'light', '.steps'],
  ['signature', '/exchanges/9/signature', 'dark', '.timeline'],
];

const double = await startDouble({
  ...demonstration,
  now: '2026-03-01T12:00:00Z',
  randomSeed: 'screenshots',
});
await sendTraffic(double);
const control = await double.openControl();
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
mkdirSync(images, { recursive: true });
for (const [name, path, colorScheme, last, scrolled = 0] of pictures) {
  const page = await browser.newPage({ viewport: { width: 1240, height: 600 }, colorScheme });
  await page.goto(control.console);
  await page.goto(`${control.url}/#${path}`);
  await page.locator(last).first().waitFor();
  await page.locator('.rows .row').first().waitFor();
  if (scrolled > 0) await page.locator('.grid').evaluate((grid, top) => grid.scrollTo({ top }), scrolled);
  await page.locator('.rows .row').first().waitFor();
  await page.screenshot({ path: join(images, `console-${name}.png`) });
  await page.close();
}
await browser.close();
await double.close();
