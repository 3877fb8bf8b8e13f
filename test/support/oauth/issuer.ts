import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A key pair of an issuer, and its public key as a JWK. */
export interface IssuerKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly jwk: object;
}

/** Makes a key pair on P-256. */
export function makeKey(kid: string): IssuerKey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { kid, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' } };
}

/** Makes a JWT by hand, so that each part can be wrong. */
export function makeJwt({ kid, privateKey }: IssuerKey, claims: object, header: object = {}): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encode({ alg: 'ES256', typ: 'at+jwt', kid, ...header })}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

/** A server that publishes keys, or pretends to. */
export interface KeyServer extends AsyncDisposable {
  readonly url: string;
  /** The number of requests. */
  count: number;
  respond: RequestListener;
}

/** Starts a server of keys on 127.0.0.1. */
export async function serveKeys(respond: RequestListener): Promise<KeyServer> {
  const server = createServer((request, response) => {
    served.count += 1;
    served.respond(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address() as AddressInfo;
  const served: KeyServer = {
    url: `http://127.0.0.1:${address.port}/keys`,
    count: 0,
    respond,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
  return served;
}

/** Returns a listener that publishes these keys. */
export function publish(...keys: readonly Pick<IssuerKey, 'jwk'>[]): RequestListener {
  return (_, response) => response.end(JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }));
}
