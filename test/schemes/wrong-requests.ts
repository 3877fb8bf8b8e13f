// Requests that are wrong in more than one step of signing, or that are not signed at all. hints.json has what is said of each.
import { createHash, createHmac, sign } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Double, DoubleOptions } from '../../src/double/index.ts';
import { aws4Signer } from '../support/schemes/aws4.ts';
import { createPairs } from '../support/schemes/key-pairs.ts';
import type { Mistake, PlainRequest } from '../support/schemes/signer.ts';

/** A request to a double, of which a POST has content. */
export interface WrongRequest {
  readonly target?: string;
  readonly secure?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** A double without TLS, unless its options say otherwise, the schemes that its only route accepts, and the requests by what is wrong with them. */
export interface WrongRequests {
  readonly options: DoubleOptions;
  readonly schemes?: readonly string[];
  readonly requests: Readonly<Record<string, WrongRequest | ((double: Double) => Promise<WrongRequest>)>>;
}

export const now = Date.UTC(2026, 2, 1, 12);
export const secret = 'a-signing-secret-of-32-characters';
const seconds = String(now / 1000);
const users = {
  shop: { secret, keys: { 'key-1': { algorithm: 'hmac-sha256', secret } } },
} as const;
const hmac = (text: string | Buffer, hash = 'sha256'): Buffer =>
  createHmac(hash, secret).update(text).digest();
const hex = (text: string | Buffer): string => hmac(text).toString('hex');
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const asJson = { 'Content-Type': 'application/json' } as const;
const asForm = { 'Content-Type': 'application/x-www-form-urlencoded' } as const;

/** Changes each entry of a record. */
function each<Given, Made>(
  given: Readonly<Record<string, Given>>,
  make: (given: Given) => Made,
): Record<string, Made> {
  return Object.fromEntries(Object.entries(given).map(([what, value]) => [what, make(value)]));
}

/** Requests with this value in a field, over TLS. */
const sendIn = (field: string, values: Readonly<Record<string, string>>): Record<string, WrongRequest> =>
  each(values, (value) => ({ secure: true, headers: { [field]: value } }));

export const key = 'k3y-of-ann-0123456789abcdef';
const openKeys = (place: { field: string } | { query: string } | { authorization: string }) => ({
  https: true,
  users: { ann: { secret: key } },
  schemes: { partner: { secret: place } },
});

const inField: WrongRequests = {
  options: openKeys({ field: 'X-Api-Key' }),
  requests: {
    ...sendIn('X-Api-Key', {
      'the key after Bearer': `Bearer ${key}`,
      'the key in base64 with a name': base64(`ann:${key}`),
      'the key with a name': `ann:${key}`,
      'the key twice': `${key}, ${key}`,
      'a typing error': key.replace('of', 'fo'),
    }),
    ...sendIn('Authorization', {
      'raw in Authorization': key,
      'after another word': `ApiKey ${key}`,
      'a key of another server': 'a-key-of-another-server',
      'a key of another server and more': `${'k'.repeat(40)} x`,
    }),
    'in the query': { secure: true, target: `/a?k=${key}` },
    'in a cookie': { secure: true, headers: { Cookie: `k=${key}` } },
    ...each(
      {
        'in JSON': [asJson, { api_key: key }],
        'in JSON, deeper': [asJson, { a: { b: key } }],
        'an unknown key in JSON': [asJson, { apiKey: 'another-key' }],
      } as const,
      ([headers, body]) => ({ secure: true, headers, body: JSON.stringify(body) }),
    ),
    'in a form': { secure: true, headers: asForm, body: `k=${key}` },
  },
};

const partner = {
  message: '{timestamp}.{body}',
  signature: { field: 'X-Sign' },
  user: { field: 'X-Key' },
  timestamp: { field: 'X-Time' },
} as const;
const beside = { 'X-Key': 'shop', 'X-Time': '1' };

const withoutCredentials = (explain: boolean): WrongRequests => ({
  options: { explain, users, schemes: { partner, hook: { preset: 'github', user: 'shop' } } },
  schemes: ['partner', 'hook'],
  requests: {
    nothing: { body: '' },
    'fields of another purpose': { body: '', headers: { 'X-Request-Id': 'abc', 'User-Agent': 'x' } },
    'a signature in JSON': { body: '{"sign":"0123456789abcdef"}' },
    'a signature in a form': { body: 'a=1&signature=0123456789abcdef' },
    'a signature in the query': { target: '/a?sign=0123456789abcdef', headers: beside, body: '' },
    'a signature in JSON, beside fields': {
      headers: { ...beside, ...asJson },
      body: '{"signature":"0123456789abcdef"}',
    },
  },
});

const tokens: WrongRequests = {
  options: {
    https: true,
    users: { ann: { secret: key } },
    clients: {
      app: { grants: ['client_credentials'], scopes: ['read'], users: '*', secret: 'client-secret-123456' },
    },
  },
  requests: {
    ...sendIn('Authorization', {
      undefined: 'Bearer undefined',
      'a secret': `Bearer ${key}`,
      'a client': 'Bearer app',
      'a JWT': 'Bearer eyJhbGciOiJub25lIn0.e30.',
      'a name and a password': `Bearer ${base64('ann:a password')}`,
    }),
    ...each<(token: string) => string, (double: Double) => Promise<WrongRequest>>(
      {
        'Bearer twice': (token) => `Bearer Bearer ${token}`,
        'the token in quotes': (token) => `Bearer "${token}"`,
        'the token in base64': (token) => `Bearer ${base64(token)}`,
        'the response as JSON': (token) => `Bearer {"access_token":"${token}"}`,
        'a colon after the scheme': (token) => `Bearer: ${token}`,
      },
      (write) =>
        async ({ oauth2 }) => {
          const { accessToken } = await oauth2.issueToken({ user: 'ann' });
          return { secure: true, headers: { Authorization: write(accessToken) } };
        },
    ),
    'in the query': { secure: true, target: '/a?access_token=abc' },
    'in another field': { secure: true, headers: { 'X-Auth-Token': 'abc' } },
  },
};

const named = {
  message: '{timestamp}{body}',
  signature: { field: 'X-Api-Sign' },
  user: { field: 'X-Api-Key' },
  timestamp: { field: 'X-Api-Time', unit: 'ms' },
} as const;
const besideNamed = { 'X-Api-Key': 'shop', 'X-Api-Time': '1' };

/** Fields and parameters that are named otherwise than a scheme expects. */
const names: Readonly<Record<string, WrongRequests>> = {
  'names of GitHub': {
    options: { users, schemes: { github: { preset: 'github', user: 'shop' } } },
    schemes: ['github'],
    requests: {
      'the SHA-1 signature': { body: '', headers: { 'X-Hub-Signature': `sha1=${'0a'.repeat(20)}` } },
    },
  },
  'names of Standard Webhooks': {
    options: { users, schemes: { hooks: { preset: 'standard-webhooks', user: 'shop' } } },
    schemes: ['hooks'],
    requests: {
      'the signature of Svix': { body: '', headers: { 'svix-signature': 'v1,AAAA' } },
      'the timestamp of Svix': {
        body: '',
        headers: {
          'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
          'webhook-id': 'msg_1',
          'svix-timestamp': '1',
        },
      },
    },
  },
  'names of Svix': {
    options: { users, schemes: { hooks: { preset: 'svix', user: 'shop' } } },
    schemes: ['hooks'],
    requests: {
      'the signature of Standard Webhooks': { body: '', headers: { 'webhook-signature': 'v1,AAAA' } },
    },
  },
  'names of a declared scheme': {
    options: {
      users,
      schemes: { named, other: { ...partner, signature: { field: 'X-Partner-Signature' } } },
    },
    schemes: ['named', 'other'],
    requests: each(
      {
        'without hyphens': { PartnerSignature: 'a' },
        'a typing error': { 'X-Partner-Signatur': 'a' },
        'X-Api-Signature': { ...besideNamed, 'X-Api-Signature': 'a' },
        'X-Sign': { ...besideNamed, 'X-Sign': 'a' },
        'X-Signature': { ...besideNamed, 'X-Signature': 'a' },
        'the timestamp': { 'X-Api-Key': 'shop', 'X-Api-Timestamp': '1', 'X-Api-Sign': '0a'.repeat(32) },
      },
      (headers) => ({ body: '', headers }),
    ),
  },
  'names of a parameter': {
    options: { users, schemes: { key: { message: '{path}', signature: { query: 'sig' }, user: 'shop' } } },
    schemes: ['key'],
    requests: { 'another letter case': { target: '/a?Sig=a' } },
  },
  'names of AWS': {
    options: { users, schemes: { aws4: { region: 'eu-central-1', service: 'execute-api' } } },
    schemes: ['aws4'],
    requests: {
      'version 2': { headers: { Authorization: 'AWS shop:c2lnbmF0dXJl' } },
      'version 2 in the query': { target: '/a?AWSAccessKeyId=shop&Expires=1&Signature=a' },
    },
  },
  'names in Authorization': {
    options: openKeys({ authorization: 'Bot' }),
    schemes: ['partner'],
    requests: sendIn('Authorization', {
      'another scheme': 'Token 0123456789',
      'a typing error': 'Bott 0123456789',
      'a key': 'a-key-of-another-server',
      'a key with a space': 'sk_live_51Habcdef b',
      'a long word': `${'a-long-word-'.repeat(3)} b`,
    }),
  },
};

const ed25519 = createPairs('ed25519');
const ecdsa = createPairs('ecdsa');
const rsa = createPairs('rsa');

/** Signatures by a private key, of a message with a time in ms. */
function keyed(
  algorithm: 'ed25519' | 'ecdsa-p256' | 'rsa-v1_5',
  kind: 'ed25519' | 'ecdsa-p256-sha256' | 'rsa-v1_5-sha256',
  { ann, bob }: typeof rsa,
): WrongRequests {
  const usual = algorithm === 'ed25519' ? null : 'sha256';
  const post = (message: string, privateKey = ann.secret, hash = usual): WrongRequest => ({
    headers: {
      'X-Key': 'key-a',
      'X-Time': String(now),
      'X-Sign': sign(hash, Buffer.from(message), privateKey).toString('base64'),
    },
    body: '{"a": 1}',
  });
  return {
    options: {
      users: {
        ann: { keys: { 'key-a': { algorithm: kind, publicKey: ann.publicKey } } },
        bob: { keys: { 'key-b': { algorithm: kind, publicKey: bob.publicKey } } },
      },
      schemes: {
        partner: { ...partner, algorithm, encoding: 'base64', timestamp: { field: 'X-Time', unit: 'ms' } },
      },
    },
    requests: {
      'the clock read twice': post(`${now + 7}.{"a": 1}`),
      'the key of another user': post(`${now}.{"a": 1}`, bob.secret),
      ...(usual !== null && { 'another hash function': post(`${now}.{"a": 1}`, ann.secret, 'sha512') }),
    },
  };
}

const form = 'To=%2B1555&Body=hi+there%21&Empty=';
const twilio: WrongRequests = {
  options: { users, schemes: { hook: { preset: 'twilio', user: 'shop' } } },
  requests: {
    ...each<string, (double: Double) => Promise<WrongRequest>>(
      {
        '"+" not decoded': 'Bodyhi+there!EmptyTo+1555',
        'without empty parameters': 'Bodyhi there!To+1555',
        'not sorted, and without empty parameters': 'To+1555Bodyhi there!',
        'in the escapes of the form': 'Bodyhi+there%21EmptyTo%2B1555',
        'in other escapes': 'Bodyhi%20there!EmptyTo%2B1555',
        'as JSON': '{"To":"+1555","Body":"hi there!","Empty":""}',
      },
      (signed) => async (double) => ({
        headers: {
          ...asForm,
          'X-Twilio-Signature': hmac(`${double.url}/a${signed}`, 'sha1').toString('base64'),
        },
        body: form,
      }),
    ),
    ...Object.fromEntries(
      ['with', 'without'].flatMap((port) =>
        Object.entries({
          'the query left out': '/aa1b2',
          'not sorted': '/a?x=1b2a1',
          'with "=" and "&"': '/a?x=1a=1&b=2',
          'left out': '/a?x=1',
          'https for http': '/a?x=1a1b2',
        }).map(([what, signed]) => [
          `${what}, ${port} the port`,
          async ({ url }: Double): Promise<WrongRequest> => {
            const origin = port === 'with' ? url : url.replace(/:\d+$/, '');
            const text = (what === 'https for http' ? origin.replace('http:', 'https:') : origin) + signed;
            const headers = { ...asForm, 'X-Twilio-Signature': hmac(text, 'sha1').toString('base64') };
            return { target: '/a?x=1', headers, body: 'b=2&a=1' };
          },
        ]),
      ),
    ),
  },
};

const payload = '{"text":"Hello (world)! It\'s *bold* ~old~ a+b","at":"\u00e9/x"}';
/** Writes octets as percent-encoded, but for these characters. */
const write = (kept: string, space: string): string =>
  Array.from(Buffer.from(payload), (code) => {
    const octet = String.fromCharCode(code);
    if (/[A-Za-z0-9]/.test(octet) || kept.includes(octet)) return octet;
    return octet === ' ' ? space : `%${code.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
const toSlack = (message: string, body: string): WrongRequest => ({
  headers: { ...asForm, 'X-Slack-Request-Timestamp': seconds, 'X-Slack-Signature': `v0=${hex(message)}` },
  body,
});
const slack: WrongRequests = {
  options: { users, schemes: { hook: { preset: 'slack', user: 'shop' } } },
  requests: {
    ...each(
      {
        URLSearchParams: String(new URLSearchParams({ payload, text: '' })),
        encodeURIComponent: `payload=${encodeURIComponent(payload)}&text=`,
        'encodeURIComponent with "+" for spaces': `payload=${encodeURIComponent(payload).replaceAll('%20', '+')}&text=`,
        'URLEncoder of Java': `payload=${write('.-*_', '+')}&text=`,
        'urlencode of Python': `payload=${write('_.-~', '+')}&text=`,
        'urlencode of Python with quote': `payload=${write('_.-~/', '%20')}&text=`,
        'rawurlencode of PHP': `payload=${write('_.-~', '%20')}&text=`,
        'HttpUtility of .NET': `payload=${write('-_.!*()', '+').replace(/%../g, (octet) => octet.toLowerCase())}&text=`,
      },
      (signed) => toSlack(`v0:${seconds}:${signed}`, `payload=${write('-_.', '+')}&text=`),
    ),
    'text of another version': toSlack(`v1:${seconds}:a=1`, 'a=1'),
    'other separators': toSlack(`v0.${seconds}.a=1`, 'a=1'),
  },
};

const accented = '{"tier":"Gr\u00f6\u00dfe \u{1f680}"}';
const toGithub = (signature: string, body: string | Buffer = '{}'): WrongRequest => ({
  headers: { ...asJson, 'X-Hub-Signature-256': signature },
  body,
});
/** Content that a client on another system compressed, with the octet of the system in its header. */
const compressed = (system: number): Buffer => {
  const content = gzipSync(accented);
  content[9] = system;
  return content;
};
const deep = (items: number): string => `${'['.repeat(60)}${'1,'.repeat(items)}1${']'.repeat(60)}`;
const indented = (json: string): WrongRequest =>
  toGithub(`sha256=${hex(JSON.stringify(JSON.parse(json), null, 2))}`, json);
const github: WrongRequests = {
  options: { users, schemes: { hook: { preset: 'github', user: 'shop' } } },
  requests: {
    'other than ASCII as "?"': toGithub(`sha256=${hex(accented.replace(/[^\0-\x7f]/gu, '?'))}`, accented),
    'other than ASCII left out': toGithub(`sha256=${hex(accented.replace(/[^\0-\x7f]/gu, ''))}`, accented),
    'a signature of another algorithm': toGithub(`sha1=${hmac('{}', 'sha1').toString('hex')}`),
    'a signature without its prefix': toGithub(hex('{}')),
    'compressed after signing': toGithub(`sha256=${hex('a'.repeat(100))}`, gzipSync('a'.repeat(100))),
    'compressed before signing, on Unix': toGithub(`sha256=${hex(compressed(3))}`, accented),
    'compressed before signing, elsewhere': toGithub(`sha256=${hex(compressed(255))}`, accented),
    'a decimal in another notation': toGithub(`sha256=${hex('{"price":1.1}')}`, '{"price":1.10}'),
    'a decimal in another notation, with spaces': toGithub(
      `sha256=${hex('{"price": 1.1}')}`,
      '{"price": 1.10}',
    ),
    'a decimal of a form in another notation': {
      headers: { ...asForm, 'X-Hub-Signature-256': `sha256=${hex('id=7&price=1.1')}` },
      body: 'id=7&price=1.10',
    },
    'indented, and deep': indented(deep(10)),
    'indented, and too large for an explanation': indented(deep(7000)),
  },
};

const query: WrongRequests = {
  options: {
    users,
    schemes: { partner: { message: '{method}{target}', signature: { field: 'X-Sign' }, user: 'shop' } },
  },
  requests: each(
    {
      'with brackets, signed without': ['ids%5B%5D=1&ids%5B%5D=2', 'ids=1&ids=2'],
      'without brackets, signed with indexes': ['z=0&ids=1&ids=2', 'z=0&ids[0]=1&ids[1]=2'],
      'signed as one value': ['ids=1&ids=2&z=0', 'ids=1,2&z=0'],
      'with indexes, signed as one value': ['ids[0]=1&ids[1]=2', 'ids=1,2'],
    } as const,
    ([sent, signed]) => ({ target: `/a?${sent}`, headers: { 'X-Sign': hex(`GET/a?${signed}`) } }),
  ),
};

const adyenKey = '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056';
const item = {
  pspReference: '7914073381342284',
  originalReference: '',
  merchantAccountCode: 'TestMerchant',
  merchantReference: 'Test:1',
  value: '1130',
  currency: 'EUR',
  eventCode: 'AUTHORISATION',
  success: 'true',
};
const adyen: WrongRequests = {
  options: { users: { shop: { secret: adyenKey } }, schemes: { hook: { preset: 'adyen', user: 'shop' } } },
  requests: each<Partial<typeof item>, WrongRequest>(
    {
      'with its colons escaped': { merchantReference: 'Test\\:1' },
      'as Python writes it': { success: 'True' },
      'that is not set': { originalReference: 'undefined' },
      'in units of a hundred': { value: '11.30' },
    },
    (changed) => {
      const text = Object.values({ ...item, ...changed }).join(':');
      const hmacSignature = createHmac('sha256', Buffer.from(adyenKey, 'hex')).update(text).digest('base64');
      const { value, currency, ...own } = item;
      const amount = { value: Number(value), currency };
      const notification = { NotificationRequestItem: { ...own, amount, additionalData: { hmacSignature } } };
      return { headers: asJson, body: JSON.stringify({ live: 'false', notificationItems: [notification] }) };
    },
  ),
};

const ordered = (text: string, own = ''): string => `symbol=BTC&timestamp=${text}${own}`;
const binance: WrongRequests = {
  options: { users, schemes: { hook: { preset: 'binance' } } },
  requests: {
    'the clock read twice': {
      target: `/a?${ordered(String(now), `&signature=${hex(ordered(String(now + 1)))}`)}`,
      headers: { 'X-MBX-APIKEY': 'key-1' },
    },
    'the secret as the name of the key': {
      target: `/a?${ordered(String(now))}&signature=${createHmac('sha256', 'key-1')
        .update(ordered(String(now)))
        .digest('hex')}`,
      headers: { 'X-MBX-APIKEY': secret },
    },
  },
};

/** A request to the partner with another secret than the user's. */
function signedWith(used: string): WrongRequest {
  const signature = createHmac('sha256', used).update(`${seconds}.{}`).digest('hex');
  return { headers: { 'X-Time': seconds, 'X-Sign': signature }, body: '{}' };
}

const withEscapes = 'wJalrXUtnFEMI/K7MDENG+bPx%2FRfiCYEXAMPLE';
const other: Readonly<Record<string, WrongRequests>> = {
  Square: {
    options: {
      users,
      publicUrl: 'https://hooks.example',
      schemes: { hook: { preset: 'square', user: 'shop' } },
    },
    requests: {
      ...each<(double: Double) => string, (double: Double) => Promise<WrongRequest>>(
        { 'with the public URL': () => 'https://hooks.example', 'with that of the double': ({ url }) => url },
        (origin) => async (double) => ({
          headers: {
            ...asJson,
            'x-square-hmacsha256-signature': hmac(`${origin(double)}/a{"a":1}`).toString('base64'),
          },
          body: '{ "a": 1 }',
        }),
      ),
      'something else': {
        headers: {
          'x-square-hmacsha256-signature': hmac('something else').toString('base64'),
          'Content-Type': 'multipart/form-data; boundary=b',
        },
        body: '--b--',
      },
    },
  },
  Zendesk: {
    options: { users, schemes: { hook: { preset: 'zendesk', user: 'shop' } } },
    requests: {
      'milliseconds signed, not sent': {
        headers: {
          'X-Zendesk-Webhook-Signature-Timestamp': '2026-03-01T12:00:00Z',
          'X-Zendesk-Webhook-Signature': hmac('2026-03-01T12:00:00.123Z{}').toString('base64'),
        },
        body: '{}',
      },
    },
  },
  'a separator in front of no content': {
    options: { users, schemes: { hook: { ...partner, user: 'shop' } } },
    requests: { 'left out': { headers: { 'X-Time': seconds, 'X-Sign': hex(seconds) }, body: '' } },
  },
  'a signed media type': {
    options: {
      users,
      schemes: { hook: { ...partner, user: 'shop', message: '{timestamp}{field:Content-Type}' } },
    },
    requests: each(
      {
        'in another form': 'application/json;charset=UTF-8',
        'chosen by the client library': 'text/plain;charset=UTF-8',
      },
      (signed) => ({
        headers: {
          'Content-Type': 'application/json; charset=utf-8',
          'X-Time': seconds,
          'X-Sign': hex(seconds + signed),
        },
        body: '{}',
      }),
    ),
  },
  'a short secret': {
    options: { users: { shop: { secret: 'Short Secret' } }, schemes: { hook: { ...partner, user: 'shop' } } },
    requests: { 'in another letter case': signedWith('short secret') },
  },
  'a secret with escapes': {
    options: { users: { shop: { secret: withEscapes } }, schemes: { hook: { ...partner, user: 'shop' } } },
    requests: {
      'percent-decoded': signedWith(withEscapes.replace('%2F', '/')),
      'decoded as a form': signedWith(withEscapes.replace('%2F', '/').replace('+', ' ')),
    },
  },
};

const parameters = ';created=1;keyid="k"';
/** A signature by the key e, with this key id. */
function withEd25519(id: string, change: (params: string) => string, created = seconds): WrongRequest {
  const params = `("@method");created=${created};keyid="${id}"`;
  const base = `"@method": GET\n"@signature-params": ${change(params)}`;
  const signature = sign(null, Buffer.from(base), ed25519.ann.secret).toString('base64');
  return { headers: { 'Signature-Input': `sig1=${params}`, Signature: `sig1=:${signature}:` } };
}
const messageSignatures: WrongRequests = {
  options: {
    users: {
      ann: {
        keys: {
          k: { algorithm: 'hmac-sha256', secret },
          e: { algorithm: 'ed25519', publicKey: ed25519.ann.publicKey },
        },
      },
    },
    schemes: { 'message-signatures': { components: ['@method'] } },
  },
  requests: {
    ...each(
      {
        'names without quotes': [`sig1=(@method)${parameters}`, 'sig1=:AA==:'],
        'commas between names': [`sig1=("@method", "@path")${parameters}`, 'sig1=:AA==:'],
        'base64 without colons': [`sig1=("@method")${parameters}`, 'sig1=AAAA'],
        'base64 in quotes': [`sig1=("@method")${parameters}`, 'sig1="AAAA"'],
        'base64 without a label': [`sig1=("@method")${parameters}`, 'A'.repeat(44)],
        'no Signature-Input': [undefined, 'sig1=:AA==:'],
        'a signature of draft-cavage': [undefined, 'keyId="k",signature="AA=="'],
      } as const,
      ([input, signature]) => ({
        headers: { Signature: signature, ...(input !== undefined && { 'Signature-Input': input }) },
      }),
    ),
    'texts signed without quotes': withEd25519('e', (params) => params.replace('"e"', 'e')),
    'another key of the user': withEd25519('k', (params) => params),
    'a time out of range': withEd25519('e', () => 'other', '999999999999999'),
  },
};

const date = new Date(now).toUTCString();
const toDraft = (
  hash: string,
  algorithm: string,
  change: (value: string) => string = (value) => value,
  [sentDigest, signedDigest]: readonly string[] = [],
): WrongRequest => {
  const isPost = sentDigest !== undefined;
  const text = `(request-target): ${isPost ? 'post' : 'get'} /a\nhost: a.example\ndate: ${date}`;
  const message = isPost ? `${text}\ndigest: ${signedDigest}` : text;
  const signature = sign(hash, Buffer.from(message), rsa.ann.secret).toString('base64');
  const names = `(request-target) host date${isPost ? ' digest' : ''}`;
  const value = `keyId="main",algorithm="${algorithm}",headers="${names}",signature="${signature}"`;
  return {
    headers: {
      Host: 'a.example',
      Date: date,
      Signature: change(value),
      ...(isPost && { Digest: sentDigest }),
    },
    ...(isPost && { body: '{"a":1}' }),
  };
};
const digestOf = (content: string, encoding: 'base64' | 'hex' = 'base64'): string =>
  `SHA-256=${createHash('sha256').update(content).digest(encoding)}`;
const rightDigest = digestOf('{"a":1}');
const rsaKey = { algorithm: 'rsa-v1_5-sha256', publicKey: rsa.ann.publicKey } as const;
const draftCavage: WrongRequests = {
  options: {
    aliases: ['http://a.example'],
    users: { ann: { keys: { main: rsaKey, 'https://a.example/ann#main-key': rsaKey } } },
    schemes: { 'draft-cavage': {} },
  },
  requests: {
    'nothing, with rsa-sha512': toDraft('sha512', 'rsa-sha512'),
    'SHA-256 with rsa-sha512': toDraft('sha256', 'rsa-sha512'),
    'a key id without its fragment': toDraft('sha256', 'rsa-sha256', (value) =>
      value.replace('"main"', '"https://a.example/ann"'),
    ),
    'another key': toDraft('sha256', 'rsa-sha256', (value) =>
      value.replace(/(?<=signature=").{8}/, 'AAAAAAAA'),
    ),
    'a digest signed in hexadecimal': toDraft('sha256', 'rsa-sha256', undefined, [
      rightDigest,
      digestOf('{"a":1}', 'hex'),
    ]),
    'a digest signed in lower case': toDraft('sha256', 'rsa-sha256', undefined, [
      rightDigest,
      rightDigest.replace('SHA', 'sha'),
    ]),
    'a digest of other content': toDraft('sha256', 'rsa-sha256', undefined, [digestOf('{}'), rightDigest]),
  },
};

const aws = (service: string, presign?: number): ReturnType<typeof aws4Signer> =>
  aws4Signer({ region: 'eu-central-1', service, ...(presign !== undefined && { presign }) });
const toAws = (
  request: Partial<PlainRequest>,
  mistake: Mistake = {},
  client = aws('execute-api'),
): WrongRequest => {
  const method = request.content === undefined ? 'GET' : 'POST';
  const plain = { method, path: '/a', host: 'a.example', secure: false, lines: [], ...request };
  const { target, lines, content } = client(plain, { user: 'shop', secret, now, nonce: '' }, mistake);
  return { target, headers: Object.fromEntries(lines), ...(content !== undefined && { body: content }) };
};
const hashed = (content: string, sent: string): WrongRequest =>
  toAws({ content: sent }, { sentDigest: () => createHash('sha256').update(content).digest('hex') });
const awsOptions = (service: string): DoubleOptions => ({
  aliases: ['http://a.example'],
  users,
  schemes: { aws4: { region: 'eu-central-1', service } },
});
const awsRequests: WrongRequests = {
  options: awsOptions('execute-api'),
  requests: {
    '"+" of the query signed as %2B': toAws({ query: 'q=a+b' }),
    'the path not normalized': toAws(
      { path: '/a//b' },
      { values: (values) => ({ ...values, path: '/a//b' }) },
    ),
    'the hash of no content': hashed('', 'abc'),
    'the hash with a line feed': hashed('abc\n', 'abc'),
    'the hash of JSON that was indented': hashed('{\n  "a": 1\n}', '{"a":1}'),
    'the hash of other content': hashed('xyz', 'abc'),
  },
};
const awsPresigned: WrongRequests = {
  options: awsOptions('s3'),
  requests: { 'the hash of no content': toAws({}, {}, aws('s3', 60)) },
};

const ownDate = '01 mar 2026 12:00:00';
const ownScheme: WrongRequests = {
  options: { users },
  requests: each(
    {
      'a trailing slash sent, not signed': ['/a/?q', '/a?q'],
      'double slashes sent, one signed': ['/a//b', '/a/b'],
      'a date that does not exist': ['/a', '/a', '30 feb 2026 12:00:00'],
      'a date without spaces': ['/a', '/a', '01mar202612:00:00'],
      'a date that is off by 5.75 hours': ['/a', '/a', '01 mar 2026 17:45:00'],
    } as const,
    ([target, signed, date = ownDate]) => {
      const digest = hmac(`GET+${signed}+${date.replaceAll(' ', '')}+n1`).toString('base64');
      return { target, headers: { Date: date, Authentication: `hmac shop:n1:${digest}` } };
    },
  ),
};

/** What a client signs in place of the parts of `{timestamp}|{method}|{target}|{body-sha256}`, and the secret that it uses. */
interface SignedLines {
  readonly time?: string;
  readonly method?: string;
  readonly target?: string;
  readonly digest?: string;
  readonly separator?: string;
  readonly secret?: string;
  readonly body?: string;
}

const order = '{"id":7,"name":"Zo\u00eb"}';
const sha256 = (text: string, encoding: 'hex' | 'base64' = 'hex'): string =>
  createHash('sha256').update(text).digest(encoding);
const indentedOrder = sha256(JSON.stringify(JSON.parse(order), null, 2));

function toLines(signed: SignedLines): WrongRequest {
  const { time = seconds, method = 'POST', target = '/a?b=x%20y&a=1', body = order } = signed;
  const { digest = sha256(body), separator = '|' } = signed;
  const signature = createHmac('sha256', signed.secret ?? secret)
    .update([time, method, target, digest].join(separator))
    .digest('hex');
  return {
    target: '/a?b=x%20y&a=1',
    headers: { ...asJson, 'X-Time': seconds, 'X-Sign': signature },
    body,
  };
}

const lines: WrongRequests = {
  options: {
    users,
    schemes: {
      hook: { ...partner, user: 'shop', message: '{timestamp}|{method}|{target}|{body-sha256}' },
    },
  },
  requests: each<SignedLines, WrongRequest>(
    {
      'blanks around the separators': { separator: ' | ' },
      'a name in front of the time': { time: `t=${seconds}` },
      'milliseconds of ISO 8601': { time: '2026-03-01T12:00:00.123Z' },
      'a fraction of a second': { time: `${seconds}.123` },
      'a capital letter in the method': { method: 'Post' },
      'other separators in the query': { target: '/a?b=x%20y;a=1' },
      'the query written again and sorted': { target: '/a?a=1&b=x+y' },
      'a name in front of the digest': { digest: `sha256=${sha256(order)}` },
      'the base64 of hexadecimal digits': { digest: base64(sha256(order)) },
      'no digest of no content': { digest: '', body: '' },
      'JSON indented, and another separator': { digest: indentedOrder, separator: '.' },
      'JSON indented, and milliseconds': { digest: indentedOrder, time: `${seconds}123` },
      'JSON indented, and the secret in base64': { digest: indentedOrder, secret: base64(secret) },
      'no content signed as {}, and the query sorted': {
        digest: sha256('{}'),
        body: '',
        target: '/a?a=1&b=x%20y',
      },
    },
    toLines,
  ),
};

const members = { order: { id: 'ord_7\u00e4', note: 'b' } };
const ofMembers: WrongRequests = {
  options: {
    users,
    schemes: {
      hook: { message: '{json:/order/id}:{json:/order/note}', signature: { field: 'X-Sign' }, user: 'shop' },
    },
  },
  requests: each<string | Buffer, WrongRequest>(
    {
      'in Latin-1': Buffer.from('ord_7\u00e4:b', 'latin1'),
      'other than ASCII as "?"': 'ord_7?:b',
      'other than ASCII as in JSON': 'ord_7\\u00e4:b',
      'percent-encoded': 'ord_7%C3%A4:b',
      'without a prefix': '7\u00e4:b',
      'with their names': 'id=ord_7\u00e4&note=b',
      'as the whole object': JSON.stringify(members.order),
      'as the whole content': JSON.stringify(members),
    },
    (signed) => ({ headers: { ...asJson, 'X-Sign': hex(signed) }, body: JSON.stringify(members) }),
  ),
};

/** What a client of OAuth 1.0a signs otherwise than RFC 5849 requires. */
interface SignedOauth {
  readonly target?: string;
  readonly token?: string;
  readonly added?: readonly string[];
  readonly order?: (pairs: readonly string[]) => readonly string[];
  readonly uri?: (uri: string) => string;
  readonly secret?: string;
}

const consumerSecret = 'a secret of the consumer';
const toOauth =
  ({ target = '/a?z=1&b=2', token, added = [], ...signed }: SignedOauth) =>
  async ({ url }: Double): Promise<WrongRequest> => {
    const [path, query = ''] = target.split('?');
    const nameOf = (pair: string): string => pair.replace(/=.*/, '');
    const sort = (pairs: readonly string[]): readonly string[] =>
      pairs.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
    const { order = sort, uri = encodeURIComponent } = signed;
    const protocol = [
      'oauth_consumer_key=shop',
      'oauth_nonce=n1',
      'oauth_signature_method=HMAC-SHA1',
      `oauth_timestamp=${seconds}`,
      ...(token === undefined ? [] : [`oauth_token=${token}`]),
    ];
    const parameters = order([...query.split('&'), ...protocol, ...added]).join('&');
    const base = `GET&${uri(url + path)}&${encodeURIComponent(parameters)}`;
    const key = signed.secret ?? encodeURIComponent(consumerSecret);
    const signature = createHmac('sha1', `${key}&`).update(base).digest('base64');
    const fields = [...protocol, `oauth_signature=${encodeURIComponent(signature)}`];
    const value = fields.map((pair) => pair.replace(/=(.*)/, '="$1"')).join(', ');
    return { target, headers: { Authorization: `OAuth ${value}` } };
  };
const oauth: WrongRequests = {
  options: {
    users: { ann: {} },
    consumers: { shop: { secret: consumerSecret, users: ['ann'], plainHttp: true } },
  },
  requests: each(
    {
      'not sorted': { order: (pairs) => pairs },
      'a base URI that is not encoded': { uri: (uri) => uri },
      'an object beside its members': { target: '/a?f%5Bb%5D=1', added: ['f=%5Bobject%20Object%5D'] },
      'spaces of the secret as "+"': { secret: consumerSecret.replaceAll(' ', '+') },
      'a callback that was not sent': { added: ['oauth_callback=oob'] },
      'a token that is not set': { token: 'undefined' },
    } satisfies Readonly<Record<string, SignedOauth>>,
    toOauth,
  ),
};

const words = 'text=%2Abold%2A+caf%C3%A9&team=T1';
const further: Readonly<Record<string, WrongRequests>> = {
  'lines of a declared scheme': lines,
  'members of JSON': ofMembers,
  'OAuth 1.0a': oauth,
  'a form for Slack': {
    options: slack.options,
    requests: each(
      {
        'escapes in lower case': `v0:${seconds}:${words.toLowerCase().replace('t1', 'T1')}`,
        'escapes of Latin-1': `v0:${seconds}:${words.replace('%C3%A9', '%E9')}`,
        'decoded, but for "+"': `v0:${seconds}:${decodeURIComponent(words)}`,
        'written again and sorted': `v0:${seconds}:team=T1&text=*bold*+caf%C3%A9`,
        'another character after the version': `v0=${seconds}:${words}`,
      },
      (message) => toSlack(message, words),
    ),
  },
  'content for GitHub': {
    options: github.options,
    requests: {
      ...each(
        {
          'as Python prints its bytes': 'b\'{"tier":"Gr\\xc3\\xb6\\xc3\\x9fe \\xf0\\x9f\\x9a\\x80"}\'',
          'escaped for HTML': accented.replaceAll('"', '&quot;'),
        },
        (signed) => toGithub(`sha256=${hex(signed)}`, accented),
      ),
      'the value of a member': toGithub(`sha256=${hex('{"b":1}')}`, '{"a":{"b":1}}'),
      'the JSON of a form, indented': {
        headers: { ...asForm, 'X-Hub-Signature-256': `sha256=${hex('{\n  "a": 1\n}')}` },
        body: `payload=${encodeURIComponent('{"a":1}')}`,
      },
    },
  },
  'a form and a query for Twilio': {
    options: twilio.options,
    requests: {
      ...each<(url: string) => string, (double: Double) => Promise<WrongRequest>>(
        {
          'the query among the form': (url) => `${url}/a?x=1a1b2x1`,
          'https, and not sorted': (url) => `${url.replace('http:', 'https:')}/a?x=1b2a1`,
          'https, and no query': (url) => `${url.replace('http:', 'https:')}/aa1b2`,
        },
        (message) =>
          async ({ url }) => ({
            target: '/a?x=1',
            headers: { ...asForm, 'X-Twilio-Signature': hmac(message(url), 'sha1').toString('base64') },
            body: 'b=2&a=1',
          }),
      ),
      'the digest of other JSON': async ({ url }) => {
        const target = `/a?bodySHA256=${sha256('{"a": 1}')}`;
        const signature = hmac(url + target, 'sha1').toString('base64');
        return { target, headers: { ...asJson, 'X-Twilio-Signature': signature }, body: '{"a":1}' };
      },
    },
  },
  'the host that arrived': {
    options: { ...twilio.options, aliases: ['http://a.example'], publicUrl: 'https://hooks.example' },
    requests: {
      'with https': {
        headers: {
          ...asForm,
          Host: 'a.example',
          'X-Twilio-Signature': hmac('https://a.example/aa1', 'sha1').toString('base64'),
        },
        body: 'a=1',
      },
    },
  },
  'a secret of Standard Webhooks': {
    options: {
      users: { shop: { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' } },
      schemes: { hook: { preset: 'standard-webhooks', user: 'shop' } },
    },
    requests: {
      'with v1 in front': {
        headers: {
          'webhook-id': 'msg_1',
          'webhook-timestamp': seconds,
          'webhook-signature': `v1,${createHmac(
            'sha256',
            Buffer.from('v1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64'),
          )
            .update(`msg_1.${seconds}.{}`)
            .digest('base64')}`,
        },
        body: '{}',
      },
    },
  },
  'a method in front of a path': {
    options: {
      users,
      schemes: { hook: { message: '{path}?{query}', signature: { field: 'X-Sign' }, user: 'shop' } },
    },
    requests: { 'with a blank': { target: '/a?b=1', headers: { 'X-Sign': hex('GET /a?b=1') } } },
  },
  'a signature in Authorization': {
    options: { users, schemes: { partner } },
    requests: {
      'after the name of its algorithm': {
        headers: { 'X-Key': 'shop', 'X-Time': seconds, Authorization: `HMAC-SHA256 ${'0a'.repeat(32)}` },
        body: '',
      },
    },
  },
  'a key after Token': {
    options: openKeys({ authorization: 'Token' }),
    requests: sendIn('Authorization', {
      'as a parameter in quotes': `Token token="${key}"`,
      'as Python prints its bytes': `Token b'${key}'`,
    }),
  },
};

/** The groups of requests, by the scheme that they miss. */
export const wrongRequests: Readonly<Record<string, WrongRequests>> = {
  'an API key in a field': inField,
  'an API key in the query': {
    options: openKeys({ query: 'api_key' }),
    requests: sendIn('X-Key', { 'in a field': key }),
  },
  'an API key for Bearer': {
    options: openKeys({ authorization: 'Bearer' }),
    requests: {
      ...sendIn('X-Key', { 'in a field': key }),
      ...sendIn('Authorization', { 'another key': 'Bearer a-key-of-nobody-at-all' }),
    },
  },
  'no credentials, explained': withoutCredentials(true),
  'no credentials': withoutCredentials(false),
  'an access token': tokens,
  ...names,
  Ed25519: keyed('ed25519', 'ed25519', ed25519),
  ECDSA: keyed('ecdsa-p256', 'ecdsa-p256-sha256', ecdsa),
  RSA: keyed('rsa-v1_5', 'rsa-v1_5-sha256', rsa),
  Twilio: twilio,
  Slack: slack,
  GitHub: github,
  'a list in a query': query,
  'a member in a notification of Adyen': adyen,
  Binance: binance,
  ...other,
  'the fields of an HTTP message signature': messageSignatures,
  'draft-cavage': draftCavage,
  'the scheme hmac': ownScheme,
  AWS: awsRequests,
  'a presigned URL for Amazon S3': awsPresigned,
  ...further,
};
