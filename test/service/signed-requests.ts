import { type SigningScheme, signRequest, signUrl } from '../../src/client/index.ts';
import { createManualClock } from '../../src/clock.ts';
import type { RequestParts } from '../../src/http/message.ts';
import { createRequest } from '../../src/http/message.ts';
import type { ServiceOptions } from '../../src/index.ts';
import { accessToken, type Credentials, openTestService, sign } from '../support/oauth/consumer.ts';
import { type Server, start, users } from '../support/oauth/server.ts';

const secret = users()['ann']?.secret ?? '';

const partner = {
  message: '{timestamp}.{nonce}.{method}.{target}',
  signature: { field: 'X-Partner-Signature' },
  user: { field: 'X-Partner-Key' },
  timestamp: { field: 'X-Partner-Time' },
  nonce: { field: 'X-Partner-Nonce' },
} as const;
const region = { region: 'eu-central-1', service: 'execute-api' } as const;

/** The schemes that the services of these tests accept beside `hmac` and `oauth`. */
const schemes = {
  partner,
  aws4: { ...region, replay: 'refuse' },
  'message-signatures': {},
} as const;

const signings: Readonly<Record<string, { scheme: SigningScheme; user?: string; secret?: string }>> = {
  partner: { scheme: partner, user: 'ann', secret },
  aws4: { scheme: { type: 'aws4', ...region, accessKeyId: 'ann', secret } },
  'message-signatures': { scheme: { type: 'message-signatures', key: { id: 'ann', secret } } },
};

/** The names of all schemes with nonces. */
export const schemeNames: readonly string[] = ['hmac', ...Object.keys(signings), 'oauth'];

/** A signed request, which can be sent several times. */
type Signed = Required<Pick<RequestParts, 'method' | 'target' | 'headers'>> & RequestParts;

/** A request to sign. */
export interface Unsigned {
  readonly method: string;
  readonly target: string;
  /** JSON. */
  readonly content?: string;
  readonly fields?: readonly (readonly [string, string])[];
  /** The nonce, if the scheme has one. Default: a random one; in OAuth 1.0a always. */
  readonly nonce?: string;
  /** Whether `hmac` has the simple form, without a nonce. Default: false. */
  readonly simple?: boolean;
}

/** A response in full. */
export interface Reply {
  readonly status: number;
  readonly fields: readonly (readonly [string, string])[];
  readonly text: string;
}

/** A service, and what its clients sign with. */
export interface SignedService {
  readonly server: Server;
  /** Signs a request with a nonce of its own. */
  sign(scheme: string, unsigned: Unsigned): Signed;
  send(signed: Signed): Promise<Reply>;
}

/** Opens a service with the user ann, all schemes and an OAuth 1.0a token of ann. */
export async function openSigned(options: ServiceOptions = {}): Promise<SignedService> {
  const server = openTestService({ schemes, ...options });
  return signedService(server, await accessToken(server));
}

/** Opens such a service without a token, so that nothing has been claimed. */
export function openUnused(options: ServiceOptions = {}): SignedService {
  return signedService(openTestService({ schemes, ...options }), { token: '', secret: '' });
}

function signedService(server: Server, token: Credentials): SignedService {
  return {
    server,
    sign: (scheme, unsigned) => signedBy(scheme, unsigned, server, token),
    async send(signed) {
      const {
        status,
        headers: fields,
        body: content,
      } = await server.service.respond(createRequest({ ...signed }));
      return { status, fields, text: Buffer.from(content ?? '').toString() };
    },
  };
}

function signedBy(
  name: string,
  { method, target, content, fields: given = [], nonce, simple = false }: Unsigned,
  server: Server,
  token: Credentials,
): Signed {
  const type = content === undefined ? [] : [['Content-Type', 'application/json'] as const];
  const before = [['Host', 'localhost'] as const, ...type, ...given];
  const parts = { method, target, secure: true, ...(content === undefined ? {} : { body: content }) };
  if (name === 'oauth') {
    const { target: sent, sending } = sign(server, { method, target, token });
    return { ...parts, target: sent, headers: [...before, ...(sending.fields ?? [])] };
  }
  const url = `https://localhost${target}`;
  const clock = createManualClock(start);
  if (name === 'hmac') {
    const chosen = simple ? ({ form: 'simple' } as const) : nonce === undefined ? {} : { nonce };
    const headers = signRequest({ method, url, user: 'ann', secret, clock, ...chosen });
    return { ...parts, headers: [...before, ...Object.entries(headers)] };
  }
  const signing = signings[name];
  if (signing === undefined) throw new RangeError(`${name} is not a scheme of these tests`);
  const { headers } = signUrl({
    method,
    url,
    clock,
    headers: before,
    ...signing,
    ...(content === undefined ? {} : { body: content }),
    ...(nonce === undefined || name === 'aws4' ? {} : { nonce }),
  });
  const replaced = new Set(Object.keys(headers).map((field) => field.toLowerCase()));
  const kept = before.filter(([field]) => !replaced.has(field.toLowerCase()));
  return { ...parts, headers: [...kept, ...Object.entries(headers)] };
}

/** Returns the value of a field; '' without it. */
export function readField({ fields }: Reply, name: string): string {
  return fields.find(([known]) => known.toLowerCase() === name.toLowerCase())?.[1] ?? '';
}

/** Returns the name of the problem type that a response in XML reports; '' if it reports none. */
export function problemIn({ text }: Reply): string {
  return /\/problems\/([a-z0-9-]+)/.exec(text)?.[1] ?? '';
}

/** An article that can be written. */
export const article = '{"title":"Tea","price":{"value":"3.50","currency":"EUR"}}';
