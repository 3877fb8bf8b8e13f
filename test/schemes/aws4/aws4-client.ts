import { createHash, createHmac } from 'node:crypto';
import type { IncomingRequest } from '../../../src/http/message.ts';
import { accessKeyId, received, secret } from '../../support/schemes/clients/aws4.ts';

export const sha256 = (text: string): string => createHash('sha256').update(text, 'latin1').digest('hex');
export const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text, 'latin1').digest();

/** What a client of AWS Signature Version 4 does, each step of which can be mistaken. It shares no code with the server. */
export interface Client {
  readonly service?: string;
  readonly method?: string;
  readonly target?: string;
  readonly fields?: readonly (readonly [name: string, value: string])[];
  /** The fields that are signed, with the values that are signed. Default: all that are sent. */
  readonly signedFields?: readonly (readonly [name: string, value: string])[];
  readonly signedHeaders?: string;
  readonly content?: string;
  readonly path?: string;
  readonly query?: string;
  readonly headers?: string;
  readonly payloadHash?: string;
  readonly canonical?: (text: string) => string;
  readonly stamp?: string;
  readonly signedStamp?: string;
  readonly signedScope?: string;
  readonly toSign?: (text: string, canonical: string) => string;
  readonly key?: () => string | Buffer;
  readonly secret?: string;
}

export const day = '20150830';
export const chain = (first: string | Buffer, ...parts: string[]): string | Buffer =>
  parts.reduce<string | Buffer>((key, part) => hmac(key, part), first);

/** Returns the request that the client signs. */
export function request(client: Client): IncomingRequest {
  const {
    service = 'service',
    method = 'GET',
    target = '/',
    content = '',
    stamp = `${day}T123600Z`,
  } = client;
  const [path = '', query = ''] = target.split('?', 2);
  const own: [string, string][] = [
    ['Host', 'example.amazonaws.com'],
    ['X-Amz-Date', stamp],
  ];
  const s3: [string, string][] = service === 's3' ? [['X-Amz-Content-Sha256', sha256(content)]] : [];
  const fields = [
    ...own.filter(([name]) => !client.fields?.some(([each]) => each === name)),
    ...s3,
    ...(client.fields ?? []),
  ];
  const lower = (client.signedFields ?? fields).map(([name, value]) => [name.toLowerCase(), value] as const);
  const sorted = [...lower].sort(([one], [other]) => (one < other ? -1 : 1));
  const names = client.signedHeaders ?? sorted.map(([name]) => name).join(';');
  const canonical = [
    method,
    client.path ?? path,
    client.query ?? query,
    client.headers ?? sorted.map(([name, value]) => `${name}:${value}\n`).join(''),
    names,
    client.payloadHash ?? sha256(content),
  ].join('\n');
  const scope = `${day}/us-east-1/${service}/aws4_request`;
  const changed = client.canonical?.(canonical) ?? canonical;
  const text = [
    'AWS4-HMAC-SHA256',
    client.signedStamp ?? stamp,
    client.signedScope ?? scope,
    sha256(changed),
  ].join('\n');
  const key =
    client.key?.() ?? chain(`AWS4${client.secret ?? secret}`, day, 'us-east-1', service, 'aws4_request');
  const signature = hmac(key, client.toSign?.(text, changed) ?? text).toString('hex');
  const sent = (
    client.signedHeaders === undefined ? sorted.map(([name]) => name).join(';') : client.signedHeaders
  ).replace(/,/g, ';');
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${sent}, Signature=${signature}`;
  return received({ method, target, content, fields: [...fields, ['Authorization', authorization]] });
}
