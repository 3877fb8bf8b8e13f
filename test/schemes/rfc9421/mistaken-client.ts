/** A client that signs messages with its own code, and makes the mistakes that a test gives it. */
import { createHmac, sign } from 'node:crypto';
import type { IncomingRequest } from '../../../src/http/message.ts';
import { arriving, p384, secret, start } from '../../support/schemes/message-scheme.ts';
import { signingKey } from '../../support/schemes/rfc9421.ts';

type Sign = (base: string) => Buffer;

/** Signs with the secret of ann. */
const hmac: Sign = (base) => createHmac('sha256', secret).update(base).digest();
/** Signs with a private key of ann. */
export const withKey =
  (hash: string | null, id: string, parameters: object = {}): Sign =>
  (base) => {
    const key = id === 'p384' ? p384 : signingKey(id);
    if (!('privateKey' in key)) throw new RangeError(`${id} has no private key`);
    return sign(hash, Buffer.from(base), { key: key.privateKey, ...parameters });
  };

/** What a client sends and signs. By default, nothing is wrong. */
export interface Client {
  readonly target?: string;
  readonly host?: string;
  readonly keyid?: string;
  readonly created?: number;
  readonly components?: readonly string[];
  /** Changes the signature base. */
  readonly base?: (base: string) => string;
  readonly sign?: Sign;
}

/** The components that the client covers. */
const standard = ['@method', '@authority', '@path', '@query', '@target-uri', 'accept', 'x-list'];

/** Signs as the client does, with its own code. */
export function signRequest(client: Client): IncomingRequest {
  const { target = '/a%20b/../c?b=2&a=1', host = 'example.com', keyid = 'ann' } = client;
  const { created = start, components = standard, base = (text) => text } = client;
  const values: Readonly<Record<string, string>> = {
    '@method': 'GET',
    '@authority': host.toLowerCase().replace(/:443$/, ''),
    '@path': target.split('?')[0] ?? '',
    '@query': target.includes('?') ? target.slice(target.indexOf('?')) : '?',
    '@target-uri': `https://${host.toLowerCase().replace(/:443$/, '')}${target}`,
    '@scheme': 'https',
    accept: 'application/json',
    'x-list': 'a, b',
  };
  const params = `(${components.map((name) => `"${name}"`).join(' ')});created=${created};keyid="${keyid}"`;
  const lines = components.map((name) => `"${name}": ${values[name]}`);
  const text = base([...lines, `"@signature-params": ${params}`].join('\n'));
  const bytes = (client.sign ?? hmac)(text);
  const sent: [string, string][] = [
    ['Accept', 'application/json'],
    ['X-List', 'a'],
    ['X-List', 'b'],
    ['Signature-Input', `sig1=${params}`],
    ['Signature', `sig1=:${bytes.toString('base64')}:`],
  ];
  const url = 'https://example.com/';
  return arriving({ method: 'GET', url, target, fields: [['Host', host]] }, sent);
}
