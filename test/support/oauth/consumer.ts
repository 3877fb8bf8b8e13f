import { createHmac, createSign } from 'node:crypto';
import type { ServiceOptions } from '../../../src/index.ts';
import { keepSecret } from '../transcript.ts';
import { type Answer, type Asked, openServer, type Sending, type Server, start } from './server.ts';

/** Where the consumer `printer` is called back. */
export const callback = 'https://printer.example/ready?from=here';

/** The consumers of every test: an ordinary one, another one, one that reads alone, and one that sends its secret. */
export const consumers: NonNullable<ServiceOptions['consumers']> = {
  printer: {
    secret: 'printer-secret-0123456789',
    callbacks: [callback, 'oob', 'https://printer.example/bare'],
    scopes: ['read', 'write'],
  },
  rival: { secret: 'rival-secret-0123456789', callbacks: ['oob'], scopes: ['read', 'write'] },
  reader: { secret: 'reader-secret-0123456789', callbacks: ['oob'] },
};

/** A consumer that signs with PLAINTEXT alone. */
export const plain: NonNullable<ServiceOptions['consumers']> = {
  plain: { secret: 'plain&secret-0123456789', callbacks: ['oob'], methods: ['PLAINTEXT'] },
};

/** A token and its secret. */
export interface Credentials {
  readonly token: string;
  readonly secret: string;
}

type Changes = Readonly<Record<string, string | undefined>>;

/** What is signed, and what is to be different from an ordinary request of the consumer `printer`. */
export interface Signing {
  readonly method?: string;
  readonly target: string;
  readonly origin?: string;
  readonly place?: 'header' | 'query' | 'form';
  readonly key?: string;
  readonly secret?: string;
  readonly token?: Credentials | undefined;
  /** Parameters of the protocol that are added, changed or (undefined) left out, before it is signed. */
  readonly protocol?: Changes;
  /** Likewise, after it was signed. */
  readonly tampered?: Changes;
  readonly form?: Readonly<Record<string, string>>;
  readonly privateKey?: string;
  /** What is sent besides. */
  readonly sending?: Sending;
}

/** Opens a service with these consumers and no clients of OAuth 2.0. */
export function openTestService(options: ServiceOptions = {}): Server {
  return openServer({ clients: {}, consumers, ...options });
}

let drawn = 0;

/** A nonce that no other request of the process has. */
function nextNonce(): string {
  drawn += 1;
  return `nonce-${drawn}`;
}

/** RFC 3986 §2.3: all but the unreserved characters, in UTF-8. */
function escaped(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function changed(values: Readonly<Record<string, string>>, changes: Changes = {}): Record<string, string> {
  const pairs = Object.entries({ ...values, ...changes });
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => pair[1] !== undefined));
}

/** Signs a request as a consumer does, by a way of its own. Gives the target and what is sent with it. */
export function sign(server: Asked, signing: Signing): { method: string; target: string; sending: Sending } {
  const { method = 'POST', target, place = 'header', key = 'printer', token, form } = signing;
  const { origin = 'https://localhost', secret = `${key}-secret-0123456789` } = signing;
  const ordinary = {
    oauth_consumer_key: key,
    ...(token === undefined ? {} : { oauth_token: token.token }),
    oauth_signature_method: 'HMAC-SHA1',
    oauth_timestamp: String(Math.floor(server.clock.now() / 1000)),
    oauth_nonce: nextNonce(),
    oauth_version: '1.0',
  };
  const protocol = changed(ordinary, signing.protocol);
  const [path = '', query = ''] = target.split('?');
  const all = [...new URLSearchParams(query), ...Object.entries(form ?? {}), ...Object.entries(protocol)];
  const pairs = all.map((pair) => pair.map(escaped).join('\0')).sort();
  const normalized = pairs.map((pair) => pair.replace('\0', '=')).join('&');
  const base = [method, origin + path, normalized].map(escaped).join('&');
  const keyText = `${escaped(secret)}&${escaped(token?.secret ?? '')}`;
  const signature = signatureBy(protocol['oauth_signature_method'] ?? '', base, keyText, signing.privateKey);
  for (const word of [secret, token?.secret ?? '', signature]) keepSecret(word);
  const sent = changed({ ...protocol, oauth_signature: signature }, signing.tampered);
  return { method, ...placed(sent, place, target, signing) };
}

function signatureBy(method: string, base: string, keyText: string, privateKey: string | undefined): string {
  if (method === 'PLAINTEXT') return keyText;
  if (privateKey !== undefined) return createSign(method).update(base).sign(privateKey, 'base64');
  const [, size = '1'] = /^HMAC-SHA(256|512)$/.exec(method) ?? [];
  return createHmac(`sha${size}`, keyText).update(base).digest('base64');
}

function placed(
  sent: Readonly<Record<string, string>>,
  place: 'header' | 'query' | 'form',
  target: string,
  { form, sending = {} }: Signing,
): { target: string; sending: Sending } {
  const joined = (values: Readonly<Record<string, string>>): string =>
    Object.entries(values)
      .map((pair) => pair.map(escaped).join('='))
      .join('&');
  const content = form === undefined ? sending : { ...sending, form: joined(form) };
  if (place === 'query')
    return { target: target + (target.includes('?') ? '&' : '?') + joined(sent), sending: content };
  if (place === 'form') return { target, sending: { ...sending, form: joined({ ...form, ...sent }) } };
  const value = `OAuth realm="here", ${Object.entries(sent)
    .map(([name, one]) => `${escaped(name)}="${escaped(one)}"`)
    .join(', ')}`;
  return { target, sending: { ...content, fields: [...(sending.fields ?? []), ['Authorization', value]] } };
}

/** Sends a signed request. */
export function ask(server: Asked, signing: Signing): Promise<Answer> {
  const { method, target, sending } = sign(server, signing);
  return server.ask(method, target, sending);
}

/** A parameter of a form that was replied. */
export function given(answer: Answer, name: string): string {
  return new URLSearchParams(answer.text).get(name) ?? '';
}

function credentialsIn(answer: Answer): Credentials {
  const credentials = { token: given(answer, 'oauth_token'), secret: given(answer, 'oauth_token_secret') };
  if (credentials.token === '') throw new Error(`nothing was given: ${answer.status} ${answer.text}`);
  keepSecret(credentials.secret);
  return credentials;
}

/** Asks for a request token. */
export function askRequestToken(server: Asked, signing: Partial<Signing> = {}): Promise<Answer> {
  const protocol = { oauth_callback: callback, ...signing.protocol };
  return ask(server, { target: '/oauth1/request_token', ...signing, protocol });
}

/** Gets a request token. */
export async function requestToken(server: Asked, signing: Partial<Signing> = {}): Promise<Credentials> {
  return credentialsIn(await askRequestToken(server, signing));
}

/** Asks a user about a request token, without a browser. */
export function question(server: Asked, token: string, user = 'ann'): Promise<Answer> {
  const fields = [['Accept', 'application/json']] as const;
  return server.ask('GET', `/oauth1/authorize?oauth_token=${token}`, {
    basic: `${user}:${user}-password`,
    fields,
  });
}

/** Answers what a user was asked. */
export function answer(server: Asked, asked: Answer, decision = 'allow', user = 'ann'): Promise<Answer> {
  const form = { consent_ticket: asked.member('consent_ticket'), decision };
  const fields = [['Accept', 'application/json']] as const;
  return server.ask('POST', '/oauth1/authorize', { basic: `${user}:${user}-password`, form, fields });
}

/** Has a user allow a request token; gives the verifier. */
export async function approve(server: Asked, token: string, user = 'ann'): Promise<string> {
  const answered = await answer(server, await question(server, token, user), 'allow', user);
  const verifier = answered.returned('oauth_verifier') || answered.member('oauth_verifier');
  if (verifier === '') throw new Error(`nothing was allowed: ${answered.status} ${answered.text}`);
  keepSecret(verifier);
  return verifier;
}

/** Asks for an access token. */
export function askAccessToken(
  server: Asked,
  token: Credentials,
  verifier: string | undefined,
  signing: Partial<Signing> = {},
): Promise<Answer> {
  const protocol = { oauth_verifier: verifier, ...signing.protocol };
  return ask(server, { target: '/oauth1/access_token', token, ...signing, protocol });
}

/** Gets an access token, from the first request to the last. */
export async function accessToken(
  server: Asked,
  signing: Partial<Signing> = {},
  user = 'ann',
): Promise<Credentials> {
  const token = await requestToken(server, signing);
  const verifier = await approve(server, token.token, user);
  const { form: _, protocol, ...same } = signing;
  const kept = Object.entries(protocol ?? {}).filter(([name]) => name !== 'oauth_callback');
  return credentialsIn(
    await askAccessToken(server, token, verifier, { ...same, protocol: Object.fromEntries(kept) }),
  );
}

/** The second in which every test begins. */
export const startSecond = start / 1000;
