import assert from 'node:assert/strict';
import { type Page, until } from '../support/browser.ts';

/** The number of presses after which an element counts as unreachable. */
const patience = 150;

/** The name of the focused element: its label, its `aria-label` or its text. */
const focused = `(({ labels, ariaLabel, textContent }) => ariaLabel ?? labels?.[0]?.textContent ?? textContent)(document.activeElement)`;

/** Presses Tab until the element with a name that begins like this has the focus. Fails if it cannot be reached. */
export async function pressUntilFocused(page: Page, name: string, key = 'Tab'): Promise<void> {
  const passed: string[] = [];
  for (let presses = 0; presses < patience; presses += 1) {
    const current = await page.evaluate<string>(`${focused}.slice(0, 60)`);
    if (current.startsWith(name)) return;
    passed.push(current);
    await page.keyboard.press(key);
  }
  assert.fail(`${name} is not reached; passed: ${passed.slice(0, 60).join(' | ')}`);
}

/** Waits until the view contains a text, or no longer does. */
export function shows(page: Page, part: string, isShown = true): Promise<void> {
  const all = `document.querySelector('main').innerText`;
  return until(page, `${all}.includes(${JSON.stringify(part)}) === ${isShown}`, all);
}
