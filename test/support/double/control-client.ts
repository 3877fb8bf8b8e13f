import assert from 'node:assert/strict';
import type { ControlServer, Double } from '../../../src/double/index.ts';

/** Sends what a program in another language would, over a socket. */
export function createConsole({ url, token }: Pick<ControlServer, 'url' | 'token'>) {
  const raw = (method: string, path: string, body?: string, type = 'application/json'): Promise<Response> => {
    const headers = { Authorization: `Bearer ${token}`, ...(body !== undefined && { 'Content-Type': type }) };
    return fetch(url + path, { method, headers, ...(body !== undefined && { body }) });
  };
  const exchange = async (method: string, path: string, content?: unknown) => {
    const reply = await raw(method, path, content === undefined ? undefined : JSON.stringify(content));
    const text = await reply.text();
    return { status: reply.status, value: text === '' ? undefined : JSON.parse(text) };
  };
  return {
    raw,
    exchange,
    /** Gives what is answered, which must be no refusal. */
    async send(method: string, path: string, content?: unknown) {
      const { status, value } = await exchange(method, path, content);
      assert.ok(status < 300, `${method} ${path} was answered ${status}: ${JSON.stringify(value)}`);
      return value;
    },
    /** Gives the problem that is answered with this status. */
    async refused(
      expected: number,
      method: string,
      path: string,
      content?: unknown,
    ): Promise<Record<string, unknown>> {
      const { status, value } = await exchange(method, path, content);
      assert.equal(status, expected, JSON.stringify(value));
      return value;
    },
  };
}

/** Opens the control interface of a double. */
export async function openConsole(double: Pick<Double, 'openControl'>) {
  return createConsole(await double.openControl());
}
