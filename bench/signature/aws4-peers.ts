/** Verifiers of AWS Signature Version 4: this project's, and packages that sign the request again and compare. */

import { createHmac, timingSafeEqual } from 'node:crypto';
import { createAccounts } from '../../src/accounts/accounts.ts';
import { systemClock } from '../../src/clock.ts';
import { parseCredentials } from '../../src/http/headers/authorization.ts';
import { createRequest, type IncomingRequest } from '../../src/http/message.ts';
import { readAws4Options } from '../../src/schemes/aws4/options.ts';
import { createAws4Scheme } from '../../src/schemes/aws4/scheme.ts';
import { signAws4 } from '../../src/schemes/aws4/sign.ts';
import { createVerifier } from '../../src/schemes/create-verifier.ts';
import { formatSignedDate } from '../../src/schemes/hmac/credentials.ts';
import type { Verifier } from '../../src/schemes/verifier.ts';
import { accessKeyId, secret } from '../../test/support/schemes/clients/aws4.ts';
import { signWithAws4, smithySigner } from '../../test/support/schemes/clients/aws4-clients.ts';
import { createHmacVerifier } from '../../test/support/schemes/hmac-verifier.ts';
import { accepts, type Check, flat, newNonce, newNonces, type Peer, targetOf } from './peers.ts';

const scope = { region: 'eu-central-1', service: 'execute-api' };
const host = 'localhost';
const window = 900_000;

/** Each peer is created only when it is measured. A missing package throws. */
export const aws4Peers: ReadonlyMap<string, () => Peer> = new Map([
  ['countersign, SigV4', countersign],
  ['countersign, HMAC over as many bytes', countersignHmac],
  ['aws4, signed again', () => aws4(1)],
  ['aws4, signed again, of 2,000 users', () => aws4(2000)],
  ['@smithy/signature-v4, signed again', smithy],
]);

const accounts = createAccounts(new Map([[accessKeyId, { secrets: [{ secret }] }]]));
const nonces = newNonces(window);

/** Signs requests as clients of AWS do: host and date, without a hash of the content. */
function signedRequest(number: number): IncomingRequest {
  const target = flat(targetOf(number));
  const request = { method: 'GET', target, fields: [['Host', host]] as const };
  const { normalizePath, doubleEncode, plusInPath } = readAws4Options(scope, 'aws4');
  const rules = { normalizePath, doubleEncode, plusInPath };
  const options = { accessKeyId, secret, ...scope, ...rules, time: Date.now() };
  const fields = signAws4(request, options).fields.map(([name, value]): [string, string] => [
    name,
    flat(value),
  ]);
  return createRequest({ method: 'GET', target, headers: [['Host', host], ...fields] });
}

/** Verifies with a scheme. */
function verifiedBy(scheme: Verifier, request: IncomingRequest): ReturnType<Check> {
  const rest = parseCredentials(request.headers.get('authorization') ?? '')?.rest ?? '';
  return accepts(scheme, request, rest);
}

function countersign(): Peer {
  const context = { realm: 'bench', accounts, nonces, clock: systemClock };
  const limits = { nonceWindow: window, explain: false, bodyLimit: 1_000_000 };
  const scheme = createVerifier(createAws4Scheme('aws4', readAws4Options(scope, 'aws4')), {
    ...context,
    ...limits,
  });
  return (number) => {
    const request = signedRequest(number);
    return () => verifiedBy(scheme, request);
  };
}

/** The length by which the target is extended, so that both messages have the same length. */
const padding = 'x'.repeat(220);

function countersignHmac(): Peer {
  const options = { simple: 'safe', requireBodyDigest: false, explain: false } as const;
  const scheme = createHmacVerifier({
    realm: 'bench',
    accounts,
    nonces,
    clock: systemClock,
    window,
    ...options,
  });
  return (number) => {
    const target = flat(`${targetOf(number)}&${padding}`);
    const date = flat(formatSignedDate(Date.now()));
    const nonce = newNonce();
    const message = `GET+${target}+${date.replaceAll(' ', '')}+${nonce}`;
    const digest = createHmac('sha256', secret).update(message).digest('base64');
    const authorization = flat(`hmac ${accessKeyId}:${nonce}:${digest}`);
    const fields = [
      ['Host', host],
      ['Date', date],
      ['Authorization', authorization],
    ] as const;
    const request = createRequest({ method: 'GET', target, headers: fields });
    return () => verifiedBy(scheme, request);
  };
}

/** Returns whether two values of Authorization are equal, and the time is within the window. */
function isSame(expected: string, given: string, stamp: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)];
  if (one.length !== other.length || !timingSafeEqual(one, other)) return false;
  const iso = stamp.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, '$1-$2-$3:$4:$5');
  return Math.abs(Date.now() - Date.parse(iso)) <= window;
}

/** Signs with the secrets of several users. The package keeps the derived keys of the last thousand. */
function aws4(users: number): Peer {
  return (number) => {
    const signing = { ...scope, secretAccessKey: `${secret}${number % users}` };
    const request = { method: 'GET', path: flat(targetOf(number)), headers: { Host: host } };
    const { headers } = signWithAws4(request, signing);
    const [date, given] = [flat(headers['X-Amz-Date'] ?? ''), flat(headers['Authorization'] ?? '')];
    return () => {
      const sent = { ...request, headers: { Host: host, 'X-Amz-Date': date } };
      return isSame(signWithAws4(sent, signing).headers['Authorization'] ?? '', given, date);
    };
  };
}

function smithy(): Peer {
  const signer = smithySigner(scope);
  return async (number) => {
    const query = { limit: '5', offset: String(number % 1000) };
    const request = {
      protocol: 'http:',
      hostname: host,
      method: 'GET',
      path: '/articles',
      query,
      headers: { host },
    };
    const signingDate = new Date();
    const { headers } = await signer.sign(request, { signingDate });
    const [date, given] = [flat(headers['x-amz-date'] ?? ''), flat(headers['authorization'] ?? '')];
    return async () => {
      const again = await signer.sign(request, { signingDate });
      return isSame(again.headers['authorization'] ?? '', given, date);
    };
  };
}
