import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { ServiceOptions } from '../../../src/index.ts';
import { createNonces, type NonceStore } from '../../../src/store/nonces/nonces.ts';
import { transport } from '../net/transport.ts';
import { exchange, type WireReply } from '../net/wire.ts';
import { keepSecret } from '../transcript.ts';
import { type OpenedService, openService } from './open-service.ts';

/** The secrets of the users `ann` and `bob`; no answer and no log may ever have them. */
export const secrets = {
  ann: 'Q7-hushed-ann-secret',
  bob: 'Q7-hushed-bob-secret',
} as const;

/** The password of `ann`; `bob` has none. */
export const password = 'Q7-hushed-ann:password';

keepSecret(password);
keepSecret(Buffer.from(`ann:${password}`).toString('base64'));

/** The time of the test server, as a full signature dates it. */
export const date = '29 feb 2024 12:00:00';

/** Readable by ann alone. */
export const target = '/users/ann/financialrecords';

/** A server on a port with a clock that stands, and a look at all that a request could change. */
export interface TestServer extends OpenedService {
  readonly port: number;
  /** Every resource with its representation and entity tag, and how many nonces are taken. */
  state(): Promise<string>;
  /** A nonce that was not used yet. */
  freshNonce(): string;
  close(): Promise<void>;
}

/**
 * Opens a server with the users ann and bob and three articles, over what the test's file has for a transport.
 */
export async function openTestServer(options: ServiceOptions = {}): Promise<TestServer> {
  const nonces = countedNonces();
  const service = openService({
    users: { ann: { secret: secrets.ann, password }, bob: { secret: secrets.bob } },
    nonces,
    seed: {
      '/articles': ['Tea', 'Salt', 'Rye'].map((title) => ({
        title,
        price: { value: '9.99', currency: 'EUR' },
      })),
    },
    ...options,
  });
  const { tls } = transport;
  const { port } = await service.service.listen(tls === undefined ? {} : { tls });
  let drawn = 0;
  return {
    ...service,
    port,
    freshNonce() {
      drawn += 1;
      return `nonce-${drawn}`;
    },
    async state() {
      const { status, text } = await service.ask('GET', '/articles?limit=500');
      assert.equal(status, 200);
      const paths = Array.from(text.matchAll(/href="([^"]+)"/g), ([, path = '']) => path);
      const tags = paths.map(async (path) => `${path} ${(await service.ask('GET', path)).field('ETag')}`);
      return [text, ...(await Promise.all(tags)), `${nonces.size} nonces`].join('\n');
    },
    close: () => service.service.close({ grace: 0 }),
  };
}

function countedNonces(): NonceStore {
  return createNonces({ bucketSpan: 150_000, max: 10_000, key: new Uint8Array(16), monotonic: () => 0 });
}

/** The signature of a message of which each character is one octet: made here, by what the design says. */
export function computeSignature(message: string, secret: string = secrets.ann): string {
  const key = Buffer.from(secret);
  const signature = createHmac('sha256', key).update(Buffer.from(message, 'latin1')).digest('base64');
  for (const each of [secret, signature]) keepSecret(each);
  return signature;
}

/** What a client signs. */
interface Signing {
  readonly verb?: string;
  readonly target?: string;
  /** As the field has it. */
  readonly date?: string;
  readonly nonce?: string;
  readonly secret?: string;
  /** The value of Content-Digest or Content-MD5. */
  readonly signBody?: string;
}

/** VERB+TARGET+DATE+NONCE, the date without its spaces. */
export function fullSignature(signing: Signing): string {
  const { verb = 'GET', signBody } = signing;
  const stamp = (signing.date ?? date).replaceAll(' ', '');
  const parts = [verb, signing.target ?? target, stamp, signing.nonce ?? 'n'];
  if (signBody !== undefined) parts.push(signBody);
  return computeSignature(parts.join('+'), signing.secret);
}

/** VERB+TARGET. */
export function simpleSignature({ verb = 'GET', signBody, secret, ...signing }: Signing): string {
  const parts = [verb, signing.target ?? target];
  if (signBody !== undefined) parts.push(signBody);
  return computeSignature(parts.join('+'), secret);
}

/** What is sent: octets for characters. */
interface Sending {
  readonly verb?: string;
  readonly target?: string;
  readonly version?: string;
  /** Lines of the header section besides Host. */
  readonly lines?: readonly string[];
  readonly content?: string;
}

/** The bytes of a request after which the connection ends. */
export function formatRequest({
  verb = 'GET',
  version = '1.1',
  content,
  lines = [],
  ...sending
}: Sending): string {
  const head = [`${verb} ${sending.target ?? target} HTTP/${version}`, 'Host: localhost', ...lines];
  if (content !== undefined) head.push('Content-Type: application/xml', `Content-Length: ${content.length}`);
  return `${head.join('\r\n')}\r\n\r\n${content ?? ''}`;
}

/** The lines that a full signature is sent in. */
export function fullLines(signing: Signing, user = 'ann'): string[] {
  const lines = [
    `Authentication: hmac ${user}:${signing.nonce ?? 'n'}:${fullSignature(signing)}`,
    `Date: ${signing.date ?? date}`,
  ];
  if (signing.signBody !== undefined) lines.push(`Content-Digest: ${signing.signBody}`);
  return lines;
}

/** The bytes of a request that is signed as it should be. */
export function signed(signing: Signing & { user?: string; content?: string } = {}): string {
  const { user = 'ann', verb = 'GET', content } = signing;
  const lines = fullLines(signing, user);
  const sending = { verb, target: signing.target ?? target, lines };
  return formatRequest(content === undefined ? sending : { ...sending, content });
}

/** The status of a reply, and its problem type if it is a problem: `401 nonce-replayed`. */
export function formatOutcome(reply: WireReply | undefined): string {
  if (reply === undefined) return 'no reply';
  const type = /"type":"\/problems\/([^"]*)"|<type>\/problems\/([^<]*)<\/type>/.exec(reply.text);
  return type === null ? String(reply.status) : `${reply.status} ${type[1] ?? type[2]}`;
}

/** Sends bytes on a connection of their own and gives the outcome of the first reply. */
export async function outcome(port: number, bytes: string): Promise<string> {
  const [reply] = await exchange(port, bytes, bytes.startsWith('HEAD '));
  return formatOutcome(reply);
}
