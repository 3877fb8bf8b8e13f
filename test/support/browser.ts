import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, loadavg } from 'node:os';
import { after, type TestContext } from 'node:test';
import type { ControlOptions, Double } from '../../src/double/index.ts';
import { missing } from './net/program.ts';
import { missingPackage } from './packages.ts';

/** An element of the page, found anew by each call. The part of Playwright's interface that the tests use. */
interface Locator {
  click(): Promise<void>;
  fill(text: string): Promise<void>;
  selectOption(value: string): Promise<unknown>;
  innerText(): Promise<string>;
  allInnerTexts(): Promise<string[]>;
  inputValue(): Promise<string>;
  getAttribute(name: string): Promise<string | null>;
  count(): Promise<number>;
  isVisible(): Promise<boolean>;
  focus(): Promise<void>;
  first(): Locator;
  nth(index: number): Locator;
  locator(selector: string): Locator;
  waitFor(options?: { readonly state?: 'visible' | 'hidden' | 'attached' | 'detached' }): Promise<void>;
}

/** A page of the browser. The part of Playwright's interface that the tests use. */
export interface Page {
  readonly keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> };
  goto(url: string): Promise<unknown>;
  reload(): Promise<unknown>;
  url(): string;
  setDefaultTimeout(milliseconds: number): void;
  title(): Promise<string>;
  locator(selector: string): Locator;
  getByRole(
    role: string,
    options?: { readonly name?: string | RegExp | undefined; readonly exact?: boolean },
  ): Locator;
  getByLabel(text: string | RegExp, options?: { readonly exact?: boolean }): Locator;
  /** Evaluates an expression. */
  evaluate<T = unknown>(expression: string): Promise<T>;
  waitForEvent(name: 'download'): Promise<{ path(): Promise<string>; suggestedFilename(): string }>;
  waitForEvent(name: 'load'): Promise<unknown>;
  emulateMedia(options: { readonly colorScheme: 'light' | 'dark' }): Promise<void>;
  setViewportSize(size: { readonly width: number; readonly height: number }): Promise<void>;
  on(name: 'pageerror', listener: (error: Error) => void): unknown;
  on(name: 'console', listener: (message: { type(): string; text(): string }) => void): unknown;
}

interface Context {
  newPage(): Promise<Page>;
  clearCookies(): Promise<void>;
}

interface Browser {
  newContext(options: object): Promise<Context>;
  close(): Promise<void>;
}

const require = createRequire(import.meta.url);

/** Options of tests that need a browser. */
export const inBrowser = {
  skip: missing('chromium') || missingPackage('playwright-core') || missingPackage('axe-core'),
};

/** An open console. */
export interface OpenedConsole {
  readonly page: Page;
  readonly double: Double;
  readonly control: Awaited<ReturnType<Double['openControl']>>;
}

/**
 * Opens the console of a double in a browser. After the test the page is left, and it fails if the policy of the page was
 * violated or a script threw an error.
 */
export async function openConsole(
  t: TestContext,
  double: Double,
  { path = '', ...options }: ControlOptions & { readonly path?: string } = {},
): Promise<OpenedConsole> {
  const control = await double.openControl(options);
  const page = await openPage(t);
  await page.goto(control.console);
  if (path !== '') await openView(page, control.url, path);
  return { page, double, control };
}

/**
 * Opens another view of the console in a page, and waits until it has replaced the view before. On a busy machine that stays for a while,
 * and its controls can have the same labels.
 */
export async function openView(page: Page, url: string, path: string): Promise<void> {
  await page.goto(`${url}/#${path}`);
  const link = `#/${path.split(/[/?]/)[1]}`;
  const current = `document.querySelector('#views [aria-current]')?.getAttribute('href')`;
  await until(page, `${current} === ${JSON.stringify(link)}`, current);
}

/** The browser of the tests of a process: starting one takes longer than most tests. */
let browser: Promise<Browser> | undefined;

after(async () => (await browser)?.close());

/** How a page is opened. */
interface PageOptions {
  /** Whether the browser accepts every certificate. Default: false. */
  readonly ignoreHTTPSErrors?: boolean;
  /** Pixels. Default: 1400 by 900. */
  readonly viewport?: { readonly width: number; readonly height: number };
  /** Whether the page is shown as a telephone does. Default: false. */
  readonly isMobile?: boolean;
  /** Whether the test expects violations of the policy of the page. Default: false, they are reported after the test. */
  readonly violatesPolicy?: boolean;
}

/** A page, and what it has reported. */
interface Watched {
  readonly page: Page;
  readonly context: Context;
  readonly violations: string[];
  readonly errors: Promise<string | undefined>[];
}

/** The pages that no test uses, by their options: a new context costs a second of processor time. */
const unused = new Map<string, Watched[]>();

/** Opens an empty page, without cookies. After the test another one gets it. */
export async function openPage(
  t: TestContext,
  { violatesPolicy = false, ...options }: PageOptions = {},
): Promise<Page> {
  const emulated = { viewport: { width: 1400, height: 900 }, reducedMotion: 'reduce', ...options };
  const key = JSON.stringify(emulated);
  const watched = unused.get(key)?.pop() ?? (await createPage(emulated));
  const { page, context, violations, errors } = watched;
  page.setDefaultTimeout(patience());
  t.after(async () => {
    await page.goto('about:blank');
    await context.clearCookies();
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(emulated.viewport);
    unused.set(key, [...(unused.get(key) ?? []), watched]);
    const thrown = (await Promise.all(errors.splice(0))).filter((error) => error !== undefined);
    const violated = violations.splice(0);
    assert.deepEqual([...thrown, ...(violatesPolicy ? [] : violated)], []);
  });
  return page;
}

async function createPage(options: object): Promise<Watched> {
  browser ??= launch();
  const context = await (await browser).newContext(options);
  const page = await context.newPage();
  const violations: string[] = [];
  const errors: Promise<string | undefined>[] = [];
  page.on('pageerror', ({ message }) =>
    errors.push(failedAfterServer(message).then((isLate) => (isLate ? undefined : message))),
  );
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) violations.push(message.text());
  });
  return { page, context, violations, errors };
}

/** Returns whether a module failed to load because the test has ended and closed its server. */
async function failedAfterServer(message: string): Promise<boolean> {
  const url = /^Failed to fetch dynamically imported module: (http\S+)/.exec(message)?.[1];
  if (url === undefined) return false;
  return fetch(url).then(
    () => false,
    () => true,
  );
}

async function launch(): Promise<Browser> {
  const { chromium } = require('playwright-core');
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
}

/** Clicks an element that leads to another page, and waits until that is loaded. */
export async function follow(page: Page, selector: string): Promise<void> {
  const loaded = page.waitForEvent('load');
  await page.locator(selector).click();
  await loaded;
}

/** All rules of axe-core that are checked, and the only one that depends on colours. */
const allRules = `runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  rules: { 'label-content-name-mismatch': { enabled: true } }`;
const colourRules = `runOnly: { type: 'rule', values: ['color-contrast'] }`;

/** Returns what axe-core finds wrong with the page, one line for each element. */
async function accessibilityProblems(page: Page, rules: string): Promise<string[]> {
  // Evaluated by the debugger, which the policy of the page does not concern.
  if (!(await page.evaluate<boolean>(`typeof axe === 'object'`)))
    await page.evaluate(`${readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')}; undefined`);
  return page.evaluate(`axe.run({ ${rules}, resultTypes: ['violations'], selectors: false }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 200) + ' ' + failureSummary)))`);
}

/** Asserts that axe-core finds nothing in both colour schemes. */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  for (const [colorScheme, rules] of [
    ['light', allRules],
    ['dark', colourRules],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await accessibilityProblems(page, rules), [], `${what}, ${colorScheme}`);
  }
}

/** Activates a button by the keyboard: a click can miss a button that moves meanwhile, on a busy machine. */
export async function activate(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).focus();
  await page.keyboard.press('Enter');
}

/** Returns the time (ms) after which a wait fails: longer on a busy machine, where a run is slow and does not fail. */
function patience(): number {
  return 60_000 * Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
}

/** Waits until an expression is true in the page. Fails with the value of `shown`, if given. */
export async function until(page: Page, expression: string, shown = expression): Promise<void> {
  const end = performance.now() + patience();
  // Playwright's own wait evaluates the text in the page, which the policy of the console forbids. The page repeats it for a second at
  // a time: a question of this process for each look would take most of the time of a test.
  const look = `(async () => {
    for (const end = performance.now() + 1000; performance.now() < end; await new Promise((next) => setTimeout(next, 20)))
      if ((${expression}) === true) return true;
    return false;
  })()`;
  const isTrue = (): Promise<boolean> =>
    page.evaluate<boolean>(look).catch((error: Error) => {
      if (/context was destroyed/.test(error.message)) return false; // the page has been left meanwhile
      throw error;
    });
  while (!(await isTrue()))
    if (performance.now() > end) assert.fail(`not true: ${expression}; ${await page.evaluate(shown)}`);
}
