// Independent clients of providers, by the recipes of their documentation.
import { sign } from 'node:crypto';
import type { PresetName } from '../../../../src/schemes/scheme-declarations.ts';
import {
  identities,
  knowledge as ofSecrets,
  type SchemeSubject,
  secrets,
  users,
  usual,
  usualWithContent,
} from '../../scheme-contract.ts';
import { type DeclaredClient, declaredSigner } from '../declared.ts';
import { createPairs } from '../key-pairs.ts';
import { computeHmac, withField } from '../signer.ts';
import { generalDeclared, webhook } from '../webhooks.ts';

const general = [
  ...generalDeclared,
  /^The timestamp is not /,
  /^The signature is not /,
  /^The value does not have the form/,
];
const later = (text: string): string =>
  text.replace(/(\d{9})(\d)/, (_, all, last) => `${all}${(Number(last) + 1) % 10}`);

/** A webhook whose secret is ann's text. */
function hook(
  preset: PresetName,
  client: DeclaredClient & { readonly signature: { readonly field: string } },
  time: { readonly field: string; readonly changed: (text: string) => string } | undefined,
  more: Partial<SchemeSubject> = {},
): SchemeSubject {
  const subject = webhook(preset, client, time);
  return { ...subject, general, ...more, without: { ...subject.without, ...more.without } };
}

const svixSecret = (secret: string): string => `whsec_${Buffer.from(secret).toString('base64')}`;
const svixBase = hook(
  'svix',
  {
    message: ['nonce', '"."', 'time', '"."', 'content'],
    readKey: (secret) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64'),
    encoding: 'base64',
    signature: { field: 'svix-signature' },
    format: (signature) => `v1,${signature}`,
    timeField: 'svix-timestamp',
    nonceField: 'svix-id',
  },
  { field: 'svix-timestamp', changed: later },
);
const svix: SchemeSubject = {
  ...svixBase,
  ignoresParts: true,
  options: {
    ...svixBase.options,
    users: { ann: { secret: svixSecret(secrets.ann) }, bob: { secret: svixSecret(secrets.bob) } },
  },
  identities: {
    ann: { user: 'ann', secret: svixSecret(secrets.ann) },
    bob: { user: 'bob', secret: svixSecret(secrets.bob) },
  },
  rotate: (double) => ({
    user: 'ann',
    secret: double.auth.rotateSecret('ann', { grace: '1h', secret: svixSecret('another secret of ann') }),
  }),
};

const paddle = hook(
  'paddle',
  {
    message: ['time', '":"', 'content'],
    signature: { field: 'Paddle-Signature' },
    format: (signature, time) => `ts=${time};h1=${signature}`,
  },
  { field: 'Paddle-Signature', changed: later },
  { window: { late: 5, early: 5 }, ignoresParts: true },
);

const signsUrl = { path: 'signed', query: 'signed', host: 'signed' } as const;

const squareBase = hook(
  'square',
  {
    message: ['url', 'content'],
    encoding: 'base64',
    signature: { field: 'x-square-hmacsha256-signature' },
  },
  undefined,
);
const square: SchemeSubject = { ...squareBase, parts: { ...squareBase.parts, ...signsUrl } };

const hubspotBase = hook(
  'hubspot',
  {
    message: ['method', 'url', 'content', 'time'],
    encoding: 'base64',
    signature: { field: 'X-HubSpot-Signature-v3' },
    timeField: 'X-HubSpot-Request-Timestamp',
    formatTime: String,
  },
  { field: 'X-HubSpot-Request-Timestamp', changed: (text) => text.replace(/0$/, '1') },
);
const hubspot: SchemeSubject = {
  ...hubspotBase,
  parts: { ...hubspotBase.parts, ...signsUrl, method: 'signed' },
};

const zendesk = hook(
  'zendesk',
  {
    message: ['time', 'content'],
    encoding: 'base64',
    signature: { field: 'X-Zendesk-Webhook-Signature' },
    timeField: 'X-Zendesk-Webhook-Signature-Timestamp',
    formatTime: (ms) => new Date(ms).toISOString().replace('.000', ''),
  },
  { field: 'X-Zendesk-Webhook-Signature-Timestamp', changed: (text) => text.replace('0Z', '1Z') },
);

/** A webhook that is signed with a private key. */
function keyed(
  base: SchemeSubject,
  algorithm: 'ed25519' | 'ecdsa-p256-sha256',
  { ann, bob }: ReturnType<typeof createPairs>,
): SchemeSubject {
  return {
    ...base,
    options: {
      ...base.options,
      users: {
        ann: { keys: { 'key-a': { algorithm, publicKey: ann.publicKey } } },
        bob: { keys: { 'key-b': { algorithm, publicKey: bob.publicKey } } },
      },
    },
    identities: { ann: { user: 'ann', secret: ann.secret }, bob: { user: 'bob', secret: bob.secret } },
    knowledge: { other: /key of another user, bob/, former: 'none' },
    without: { ...base.without, rotation: 'a provider has one public key' },
  };
}

const discord = keyed(
  hook(
    'discord',
    {
      message: ['time', 'content'],
      sign: (message, key) => sign(null, message, key),
      signature: { field: 'X-Signature-Ed25519' },
      timeField: 'X-Signature-Timestamp',
    },
    { field: 'X-Signature-Timestamp', changed: later },
  ),
  'ed25519',
  createPairs('ed25519'),
);

const sendgrid = keyed(
  hook(
    'sendgrid',
    {
      message: ['time', 'content'],
      encoding: 'base64',
      sign: (message, key) => sign('sha256', message, key),
      signature: { field: 'X-Twilio-Email-Event-Webhook-Signature' },
      timeField: 'X-Twilio-Email-Event-Webhook-Timestamp',
    },
    { field: 'X-Twilio-Email-Event-Webhook-Timestamp', changed: later },
  ),
  'ecdsa-p256-sha256',
  createPairs('ecdsa'),
);

const accepted = 'the provider accepts a signature again';
const keyIdentities = {
  ann: { user: 'key-a', secret: secrets.ann },
  bob: { user: 'key-b', secret: secrets.bob },
};
const knowledge = { other: /secret of another user, bob/, former: 'none' } as const;
const without = {
  replay: accepted,
  restart: accepted,
  rotation: 'a key that replaces another has another id',
};
const passphrases = { 'key-a': 'open sesame', 'key-b': 'bobs passphrase' };
const hmacKey = (secret: string, passphrase: string) =>
  ({ algorithm: 'hmac-sha256', secret, passphrase }) as const;

const coinbase: SchemeSubject = {
  scheme: 'coinbase',
  options: {
    users: {
      ann: { keys: { 'key-a': hmacKey(secrets.ann, passphrases['key-a']) } },
      bob: { keys: { 'key-b': hmacKey(secrets.bob, passphrases['key-b']) } },
    },
    schemes: { coinbase: { preset: 'coinbase' } },
  },
  identities: keyIdentities,
  signer: () =>
    declaredSigner({
      message: ['time', 'method', 'target', 'content'],
      readKey: (secret) => Buffer.from(secret, 'base64'),
      encoding: 'base64',
      signature: { field: 'CB-ACCESS-SIGN' },
      userField: 'CB-ACCESS-KEY',
      timeField: 'CB-ACCESS-TIMESTAMP',
      formatTime: (ms) => String(ms / 1000),
      listLines: (user) => [
        ['CB-ACCESS-PASSPHRASE', user === 'key-b' ? passphrases['key-b'] : passphrases['key-a']],
      ],
    }),
  window: { late: 30, early: 30 },
  parts: {
    host: { unsigned: 'Coinbase signs path and query' },
    time: (sent) => withField(sent, 'CB-ACCESS-TIMESTAMP', later),
    nonce: { absent: 'Coinbase has none' },
    user: (sent) => withField(sent, 'CB-ACCESS-KEY', () => 'key-b'),
  },
  credentialFields: ['CB-ACCESS-SIGN', 'CB-ACCESS-TIMESTAMP', 'CB-ACCESS-KEY', 'CB-ACCESS-PASSPHRASE'],
  meaning: (text) => text.replace(/[\s"\\]/g, ''),
  general,
  knowledge,
  without,
  own: {
    'the passphrase of another key': {
      sent: (sent) => withField(sent, 'CB-ACCESS-PASSPHRASE', () => 'guess'),
    },
  },
};

const binance: SchemeSubject = {
  scheme: 'binance',
  options: {
    users: {
      ann: { keys: { 'key-a': { algorithm: 'hmac-sha256', secret: secrets.ann } } },
      bob: { keys: { 'key-b': { algorithm: 'hmac-sha256', secret: secrets.bob } } },
    },
    schemes: { binance: { preset: 'binance' } },
  },
  identities: keyIdentities,
  signer: () =>
    declaredSigner({
      message: ['query', 'content'],
      signature: { query: 'signature' },
      userField: 'X-MBX-APIKEY',
      timeParameter: 'timestamp',
      formatTime: String,
    }),
  request: { ...usual, query: 'limit=5&recvWindow=60000' },
  write: { ...usualWithContent, query: 'limit=5&recvWindow=60000' },
  window: { late: 60, early: 0 },
  parts: {
    method: { unsigned: 'Binance signs the parameters' },
    path: { unsigned: 'Binance signs the parameters' },
    query: 'signed',
    host: { unsigned: 'Binance signs the parameters' },
    content: 'signed',
    time: (sent) => ({ ...sent, target: sent.target.replace(/timestamp=(\d+)0&/, 'timestamp=$11&') }),
    nonce: { absent: 'Binance has none' },
    user: (sent) => withField(sent, 'X-MBX-APIKEY', () => 'key-b'),
  },
  credentialFields: ['X-MBX-APIKEY'],
  meaning: (text) => text.replace(/[\s"\\]/g, ''),
  general,
  knowledge,
  without,
};

const fixed = 'the scheme has one user, whom the request does not name';
const inContent: Pick<
  SchemeSubject,
  'identities' | 'request' | 'credentialFields' | 'general' | 'ignoresParts'
> = {
  identities,
  request: usualWithContent,
  credentialFields: [],
  general,
  ignoresParts: true,
};
const withoutInContent = {
  'unknown user': fixed,
  work: fixed,
  'second scheme': 'content is not searched for credentials if a field has some',
};
const unsigned = { unsigned: 'the provider signs members of the content' };

interface MailgunContent {
  readonly signature: { readonly timestamp: string; readonly token: string; readonly signature?: string };
}

const changedSignature = (content: string, change: (one: MailgunContent['signature']) => object): string => {
  const parsed: MailgunContent = JSON.parse(content);
  return JSON.stringify({ ...parsed, signature: { ...parsed.signature, ...change(parsed.signature) } });
};

const mailgun: SchemeSubject = {
  ...inContent,
  scheme: 'mailgun',
  options: { users, schemes: { mailgun: { preset: 'mailgun', user: 'ann' } } },
  signer: () =>
    declaredSigner({
      message: ['time', 'nonce'],
      inContent: (content, timestamp, token) =>
        JSON.stringify({
          signature: { timestamp, token },
          'event-data': JSON.parse(content === '' ? '{}' : content),
        }),
      signature: { content: (content, signature) => changedSignature(content, () => ({ signature })) },
    }),
  window: { late: 300, early: 300 },
  parts: {
    method: unsigned,
    path: unsigned,
    query: unsigned,
    host: unsigned,
    content: unsigned,
    time: (sent) => ({
      ...sent,
      content: changedSignature(sent.content ?? '', ({ timestamp }) => ({ timestamp: later(timestamp) })),
    }),
    nonce: (sent) => ({
      ...sent,
      content: changedSignature(sent.content ?? '', ({ token }) => ({ token: `${token}1` })),
    }),
    user: { absent: fixed },
  },
  knowledge: ofSecrets,
  without: withoutInContent,
};

interface AdyenItem {
  readonly [name: string]: unknown;
  readonly amount: { readonly value: number; readonly currency: string };
}

const item = {
  pspReference: '7914073381342284',
  merchantAccountCode: 'TestMerchant',
  merchantReference: 'Tea',
  amount: { value: 1130, currency: 'EUR' },
  eventCode: 'AUTHORISATION',
  success: 'true',
};
const notification = (own: object): string =>
  JSON.stringify({ live: 'false', notificationItems: [{ NotificationRequestItem: own }] });
const itemIn = (content: string): AdyenItem =>
  JSON.parse(content).notificationItems[0].NotificationRequestItem;

const adyen: SchemeSubject = {
  ...inContent,
  scheme: 'adyen',
  options: { users, schemes: { adyen: { preset: 'adyen', user: 'ann' } } },
  request: { ...usualWithContent, content: notification(item) },
  write: { ...usualWithContent, content: notification(item) },
  signer: () =>
    declaredSigner({
      message: ['content'],
      encoding: 'base64',
      signature: {
        content(content, signature) {
          const own = itemIn(content);
          return notification({ ...own, additionalData: { hmacSignature: signature } });
        },
      },
      readKey: (secret) => Buffer.from(secret, 'hex'),
      sign(message, secret) {
        if (message[0] !== 0x7b) return computeHmac('sha256', Buffer.from(secret, 'hex'), message);
        const own = itemIn(message.toString());
        const members = [
          own['pspReference'],
          own['originalReference'] ?? '',
          own['merchantAccountCode'],
          own['merchantReference'],
          own.amount.value,
          own.amount.currency,
          own['eventCode'],
          own['success'],
        ];
        return computeHmac('sha256', Buffer.from(secret, 'hex'), members.join(':'));
      },
    }),
  parts: {
    method: unsigned,
    path: unsigned,
    query: unsigned,
    host: unsigned,
    time: { absent: 'Adyen signs no time' },
    nonce: { absent: 'Adyen has none' },
    user: { absent: fixed },
  },
  knowledge: ofSecrets,
  without: {
    ...withoutInContent,
    replay: accepted,
    restart: accepted,
    window: 'Adyen signs no time',
    'changed item': 'an item has no members for credentials',
  },
};

/** The subjects of the contract, by name. */
export const subjects: Readonly<Record<string, SchemeSubject>> = {
  Svix: svix,
  Paddle: paddle,
  Square: square,
  HubSpot: hubspot,
  Zendesk: zendesk,
  Discord: discord,
  SendGrid: sendgrid,
  'Coinbase Exchange': coinbase,
  Binance: binance,
  Mailgun: mailgun,
  Adyen: adyen,
};
