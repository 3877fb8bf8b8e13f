/**
 * Verifiers of declared signatures, and the packages of the providers. All have one user and a window of 300 s. The package of a
 * provider knows neither users nor nonces.
 */

import { createHmac } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createAccounts } from '../../src/accounts/accounts.ts';
import { systemClock } from '../../src/clock.ts';
import { createRequest, type IncomingRequest } from '../../src/http/message.ts';
import { createVerifier } from '../../src/schemes/create-verifier.ts';
import { readDeclaredOptions } from '../../src/schemes/declared/options.ts';
import { createDeclaredScheme } from '../../src/schemes/declared/scheme.ts';
import type { Verifier } from '../../src/schemes/verifier.ts';
import { accepts, flat, newNonce, newNonces, type Peer, peers, targetOf } from './peers.ts';

const require = createRequire(import.meta.url);
/** Some packages are installed for the tests only. */
const requireInstalled = createRequire(join(import.meta.dirname, '../../test/package.json'));
const user = 'johndoe';
const secret = 'KZ4pT2mQv8sWx1Rb6nYc3dFg7hJk9LzE';
const webhookSecret = `whsec_${Buffer.from(secret).toString('base64')}`;
const payload = `{"id":"1","type":"article.created","text":"${'x'.repeat(400)}"}`;

/** Each peer is created only when it is measured. A missing package throws. */
export const declaredPeers: ReadonlyMap<string, () => Peer | Promise<Peer>> = new Map<
  string,
  () => Peer | Promise<Peer>
>([
  ['the own scheme, with a nonce', ownScheme],
  ['declared, the same message with a nonce', () => sameMessage()],
  ['declared, in hexadecimal with a nonce', () => sameMessage('hex')],
  ['declared, preset stripe', stripePreset],
  ['stripe verifyHeader', stripePackage],
  ['declared, preset standard-webhooks', webhooksPreset],
  ['standardwebhooks verify', webhooksPackage],
  ['declared, preset github', githubPreset],
  ['@octokit/webhooks-methods verify', octokit],
]);

function ownScheme(): Peer {
  const own = peers.get('countersign')?.();
  if (own === undefined) throw new RangeError('the own scheme is not measured');
  return own;
}

function schemeOf(declaration: unknown): Verifier {
  return createVerifier(createDeclaredScheme('bench', readDeclaredOptions(declaration, 'bench')), {
    realm: 'bench',
    accounts: createAccounts(new Map([[user, { secrets: [{ secret: secretOf(declaration) }] }]])),
    nonces: newNonces(300_000),
    clock: systemClock,
    nonceWindow: 300_000,
    explain: false,
    bodyLimit: 1_000_000,
  });
}

function secretOf(declaration: unknown): string {
  return JSON.stringify(declaration).includes('standard-webhooks') ? webhookSecret : secret;
}

function verifierOf(scheme: Verifier, signed: (number: number) => IncomingRequest): Peer {
  return async (number) => {
    const request = signed(number);
    return () => accepts(scheme, request, '');
  };
}

const now = (): string => String(Math.floor(Date.now() / 1000));

/** The message has the same parts as that of the own scheme, and about the same length. */
function sameMessage(encoding: 'base64' | 'hex' = 'base64'): Peer {
  const scheme = schemeOf({
    message: '{method}+{target}+{timestamp}+{nonce}',
    encoding,
    signature: { field: 'X-Signature' },
    user: { field: 'X-Api-Key' },
    timestamp: { field: 'Date', unit: 'http-date' },
    nonce: { field: 'X-Nonce' },
  });
  return verifierOf(scheme, (number) => {
    const target = flat(targetOf(number));
    const date = new Date().toUTCString();
    const nonce = newNonce();
    const signature = createHmac('sha256', secret).update(`GET+${target}+${date}+${nonce}`).digest(encoding);
    const fields: [string, string][] = [
      ['Host', 'localhost'],
      ['Date', flat(date)],
      ['X-Api-Key', flat(user)],
      ['X-Nonce', flat(nonce)],
      ['X-Signature', flat(signature)],
    ];
    return createRequest({ method: 'GET', target, headers: fields });
  });
}

function posted(fields: readonly (readonly [string, string])[]): IncomingRequest {
  const lines = fields.map(([name, value]) => [name, flat(value)] as const);
  return createRequest({ method: 'POST', target: '/', headers: lines, body: payload });
}

function stripePreset(): Peer {
  return verifierOf(schemeOf({ preset: 'stripe', user }), () => {
    const time = now();
    const signature = createHmac('sha256', secret).update(`${time}.${payload}`).digest('hex');
    return posted([['Stripe-Signature', `t=${time},v1=${signature}`]]);
  });
}

interface Webhooks {
  signature: { verifyHeader(payload: string, header: string, secret: string, tolerance: number): boolean };
  generateTestHeaderString(options: { payload: string; secret: string }): string;
}

function stripePackage(): Peer {
  const Stripe: new (key: string) => { webhooks: Webhooks } = require('stripe');
  const { webhooks } = new Stripe('sk_test_none');
  return async () => {
    const header = flat(webhooks.generateTestHeaderString({ payload, secret }));
    return () => webhooks.signature.verifyHeader(payload, header, secret, 300);
  };
}

const webhookFields = (time: string, signature: string): [string, string][] => [
  ['webhook-id', 'msg_1'],
  ['webhook-timestamp', time],
  ['webhook-signature', signature],
];

function webhooksPreset(): Peer {
  return verifierOf(schemeOf({ preset: 'standard-webhooks', user }), () => {
    const time = now();
    const signature = createHmac('sha256', secret).update(`msg_1.${time}.${payload}`).digest('base64');
    return posted(webhookFields(time, `v1,${signature}`));
  });
}

function webhooksPackage(): Peer {
  const {
    Webhook,
  }: { Webhook: new (secret: string) => { verify(payload: string, fields: object): object } } =
    requireInstalled('standardwebhooks');
  const webhook = new Webhook(webhookSecret);
  return async () => {
    const time = now();
    const signature = createHmac('sha256', secret).update(`msg_1.${time}.${payload}`).digest('base64');
    const fields = Object.fromEntries(webhookFields(time, `v1,${signature}`));
    return () => typeof webhook.verify(payload, fields) === 'object';
  };
}

function githubPreset(): Peer {
  return verifierOf(schemeOf({ preset: 'github', user }), () => {
    const signature = createHmac('sha256', secret).update(payload).digest('hex');
    return posted([['X-Hub-Signature-256', `sha256=${signature}`]]);
  });
}

async function octokit(): Promise<Peer> {
  const path = join(
    import.meta.dirname,
    '../../test/node_modules/@octokit/webhooks-methods/dist-node/index.js',
  );
  const methods: { verify(secret: string, payload: string, signature: string): Promise<boolean> } =
    await import(path);
  return async () => {
    const signature = `sha256=${createHmac('sha256', secret).update(payload).digest('hex')}`;
    return () => methods.verify(secret, payload, signature);
  };
}
