import { get as getPlain, type IncomingMessage } from 'node:http';
import { get as getSecure } from 'node:https';
import { clearTimeout, setTimeout } from '../timers.ts';

/** The limits of a response that another server determines. */
export interface FetchLimits {
  /** Milliseconds from the request to the last octet. */
  readonly timeout: number;
  /** Octets of content. */
  readonly length: number;
}

/**
 * Fetches a document of JSON from another server. Follows no redirect, because the URL alone is trusted.
 * @throws Error (as a rejection) that says why there is no document
 */
export function fetchJson(url: string, { timeout, length }: FetchLimits): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const { protocol } = new URL(url);
    // Names and addresses of a failed connection would show in an explanation what this host can reach.
    const fail = (reason: string): void => {
      clearTimeout(timer);
      reject(new Error(reason));
      request.destroy();
    };
    const headers = { Accept: 'application/json', 'Accept-Encoding': 'identity' };
    const request = (protocol === 'https:' ? getSecure : getPlain)(url, { agent: false, headers });
    const timer = setTimeout(() => fail(`no complete response within ${timeout / 1000} s`), timeout);
    timer.unref();
    request.on('error', (error) =>
      fail(
        `the connection failed${'code' in error && typeof error.code === 'string' ? `: ${error.code}` : ''}`,
      ),
    );
    request.on('response', (response) => {
      if (response.statusCode === 200) read(response, length).then(settle, (error) => fail(error.message));
      else
        fail(
          `the status is ${response.statusCode}${isRedirect(response) ? ', and no redirect is followed' : ''}`,
        );
    });
    const settle = (value: unknown): void => {
      clearTimeout(timer);
      resolve(value);
    };
  });
}

function isRedirect({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 300 && statusCode < 400;
}

async function read(response: IncomingMessage, length: number): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += chunk.length;
    if (size > length) throw new Error(`the response has more than ${length} octets`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new Error('the response is not JSON');
  }
}
