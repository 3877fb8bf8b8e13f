import type { Double } from '../../../src/double/index.ts';
import { transport } from '../net/transport.ts';
import { exchange } from '../net/wire.ts';
import { keepSaid } from '../transcript.ts';
import type { Sent } from './signer.ts';

/** What a double answered, and what its journal says of it. */
export interface Answer {
  readonly status: number;
  readonly fields: Headers;
  readonly text: string;
}

/** Whether a request must go over a socket, because `fetch` would change it. */
function needsSocket({ target, lines }: Sent): boolean {
  const names = lines.map(([name]) => name.toLowerCase());
  return /^[^/]|\/(?:[./]|%2e)|\?$/i.test(target) || new Set(names).size < names.length;
}

/** Sends a signed request as it is. */
export async function send(double: Double, sent: Sent): Promise<Answer> {
  const answer = needsSocket(sent) ? await sendOverSocket(double, sent) : await sendInProcess(double, sent);
  keepSaid(`${answer.status} ${JSON.stringify([...answer.fields])} ${answer.text}`);
  return answer;
}

async function sendInProcess(
  double: Double,
  { method, target, secure, lines, content }: Sent,
): Promise<Answer> {
  const headers = { ...Object.fromEntries(lines), Accept: 'application/json' };
  const response = await double.fetch(target, {
    method,
    headers,
    secure,
    redirect: 'manual',
    ...(content === undefined ? {} : { body: content }),
  });
  return { status: response.status, fields: response.headers, text: await response.text() };
}

async function sendOverSocket(
  double: Double,
  { method, target, secure, lines, content }: Sent,
): Promise<Answer> {
  const url = new URL(secure ? double.secureUrl : double.url);
  const length = content === undefined ? [] : [`Content-Length: ${Buffer.byteLength(content)}`];
  const fields = lines.map(([name, value]) => `${name}: ${value}`);
  const head = [
    `${method} ${target} HTTP/1.1`,
    ...fields,
    'Accept: application/json',
    ...length,
    '',
    '',
  ].join('\r\n');
  transport.tls = secure ? { cert: double.ca, key: '' } : undefined;
  const bytes = Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(content ?? '')]);
  const [reply] = await exchange(Number(url.port), bytes, method === 'HEAD');
  transport.tls = undefined;
  if (reply === undefined) throw new Error(`no reply to ${head}`);
  return {
    status: reply.status,
    fields: new Headers(reply.fields.map(([name, value]) => [name, value])),
    text: reply.text,
  };
}

/** What the response says of a refusal: its detail and its hint. */
export function saidBy({ text }: Answer): string {
  try {
    const problem: unknown = JSON.parse(text);
    if (typeof problem !== 'object' || problem === null) return text;
    const members: Readonly<Record<string, unknown>> = { ...problem };
    return [members['detail'], members['hint']].filter((part) => part !== undefined).join(' | ');
  } catch {
    return text;
  }
}

/** What the latest entry of the journal says of a refusal: its detail and its hint. */
export function recordedBy(double: Double): string {
  const entry = double.journal.last();
  const parts = [entry?.problem?.detail, entry?.auth?.hint, entry?.problem?.hint];
  return [...new Set(parts.filter((part) => part !== undefined))].join(' | ');
}
