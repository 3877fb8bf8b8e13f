import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { temporaryDirectory } from '../temporary-directory.ts';

type Json = Readonly<Record<string, unknown>>;

/** One page of a headless Chromium. */
export interface Page {
  /** Calls a method of the DevTools protocol on the page. Rejects with what the browser says is wrong. */
  call(method: string, parameters?: Json): Promise<Json>;
  /** Goes to an address and waits until it is loaded. */
  open(url: string): Promise<void>;
  /** What an expression is in the page, or comes to if it is a promise; it has to be plain JSON. */
  evaluate<T>(expression: string): Promise<T>;
  /** Presses the mouse in the middle of the first element that the selector finds. */
  press(selector: string): Promise<void>;
}

interface Pending {
  resolve(result: Json): void;
  reject(error: Error): void;
}

/** Opens a page that is closed with the test. Certificates that nobody vouches for are taken. */
export async function openPage(context: TestContext): Promise<Page> {
  let close = async (): Promise<void> => {};
  context.after(() => close()); // before the directory is removed
  const home = temporaryDirectory(context);
  const flags = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--no-proxy-server',
    '--ignore-certificate-errors',
  ];
  const chromium = spawn('chromium', [...flags, '--remote-debugging-pipe', `--user-data-dir=${home}`], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    env: { ...process.env, HOME: home },
    // A group of its own, so that those that it starts end with it and write to its directory no more.
    detached: true,
  });
  close = async () => {
    if (chromium.exitCode !== null || chromium.signalCode !== null) return;
    if (chromium.pid !== undefined) process.kill(-chromium.pid, 'SIGKILL');
    await once(chromium, 'exit');
  };

  // Messages end with a NUL on this pipe (file descriptors 3 and 4 of the browser).
  const [, , , toBrowser, fromBrowser] = chromium.stdio;
  if (toBrowser === null || toBrowser === undefined || !('write' in toBrowser))
    throw new Error('no pipe to write to');
  if (fromBrowser === null || fromBrowser === undefined || !('read' in fromBrowser))
    throw new Error('no pipe to read');
  const pending = new Map<number, Pending>();
  const waiting: { method: string; resolve(): void }[] = [];
  const take = (message: {
    id?: number;
    method?: string;
    result?: Json;
    error?: { message: string };
  }): void => {
    const asked = message.id === undefined ? undefined : pending.get(message.id);
    if (message.id !== undefined) pending.delete(message.id);
    if (message.error !== undefined) asked?.reject(new Error(message.error.message));
    else asked?.resolve(message.result ?? {});
    for (const [at, { method, resolve }] of [...waiting.entries()].reverse())
      if (method === message.method) {
        waiting.splice(at, 1);
        resolve();
      }
  };
  let received = '';
  fromBrowser.setEncoding('utf8').on('data', (chunk: string) => {
    const messages = (received + chunk).split('\0');
    received = messages.pop() ?? '';
    for (const message of messages) take(JSON.parse(message));
  });
  toBrowser.on('error', () => {}); // it was closed with the test
  let calls = 0;
  const send = (method: string, params: Json, sessionId?: string): Promise<Json> =>
    new Promise((resolve, reject) => {
      calls += 1;
      pending.set(calls, { resolve, reject });
      toBrowser.write(`${JSON.stringify({ id: calls, method, params, sessionId })}\0`);
    });

  const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
  const call = (method: string, parameters: Json = {}): Promise<Json> =>
    send(method, parameters, String(sessionId));
  const event = (method: string): Promise<void> =>
    new Promise((resolve) => waiting.push({ method, resolve }));
  await call('Page.enable');

  const evaluate = async <T>(expression: string): Promise<T> => {
    const awaited = `(async () => JSON.stringify(await (${expression})))()`;
    const { result } = await call('Runtime.evaluate', { expression: awaited, awaitPromise: true });
    const value =
      typeof result === 'object' && result !== null && 'value' in result ? result.value : undefined;
    return JSON.parse(String(value));
  };
  return {
    call,
    evaluate,
    async open(url) {
      const loaded = event('Page.loadEventFired');
      await call('Page.navigate', { url });
      await loaded;
    },
    async press(selector) {
      const box = `document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect()`;
      const [x, y] = await evaluate<[number, number]>(
        `(b => [b.x + b.width / 2, b.y + b.height / 2])(${box})`,
      );
      const at = { x, y, button: 'left', clickCount: 1 };
      const loaded = event('Page.loadEventFired');
      await call('Input.dispatchMouseEvent', { ...at, type: 'mousePressed' });
      await call('Input.dispatchMouseEvent', { ...at, type: 'mouseReleased' });
      await loaded;
    },
  };
}
