// What a user of a double signs with.

import { isRsaMethod } from '../../accounts/oauth1-methods.ts';
import { isSignatureAlgorithm, type SignatureAlgorithm } from '../../algorithms.ts';
import { plainSchemes } from '../../client/credentials.ts';
import { targetSentByFetch } from '../../client/fetch-target.ts';
import { parsePrivateKey } from '../../client/private-key.ts';
import type { SignedRequest } from '../../client/sign.ts';
import { didYouMean } from '../../did-you-mean.ts';
import { once } from '../../once.ts';
import { type AuthScheme, createSign } from '../../schemes/auth-scheme.ts';
import { createHmacScheme } from '../../schemes/hmac/scheme.ts';
import type { NamedPart } from '../../schemes/message.ts';
import { createOAuth1Scheme } from '../../schemes/oauth1/scheme.ts';
import { basicScheme, bearerScheme } from '../../schemes/sent-credentials.ts';
import type { SigningChoices, SigningIdentity } from '../../schemes/signing.ts';
import { anything, mapOf, read, text, word } from '../../shape/shape.ts';
import { type DoubleOAuth1, type DoubleOAuth2, findClient, findConsumer } from '../auth/oauth.ts';
import type { Core } from '../compose.ts';
import { toTime } from '../state/clock.ts';
import { type DoubleUsers, requirePassword } from '../state/users.ts';
import {
  type AsOptions,
  type ConfiguredSchemeOptions,
  checkAsOptions,
  checkConfiguredOptions,
  readPresign,
} from './as-options.ts';

/** The parts of a double that signing requires. */
export interface SigningParts {
  readonly core: Core;
  readonly oauth1: Pick<DoubleOAuth1, 'issueToken'>;
  readonly oauth2: Pick<DoubleOAuth2, 'issueToken'>;
}

/** A request to sign. */
interface Unsigned {
  readonly method: string;
  /** The absolute URL. */
  readonly url: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly content: string | Uint8Array | undefined;
}

/** A scheme with an identity, which is read for each request: a secret may have been rotated, and a token is issued on first use. */
interface Choice {
  readonly scheme: AuthScheme;
  readonly identity: () => SigningIdentity | Promise<SigningIdentity>;
  readonly choices: SigningChoices;
  /** Whether the credentials are accepted over plain HTTP although the scheme requires TLS. Default: false. */
  readonly isPlain?: boolean;
}

const anyOptions = mapOf(anything, undefined, { expected: "an object such as { scheme: 'basic' }" });

/** Chooses how a user signs. Throws RangeError if an option is unknown or invalid, or credentials are missing. */
export function createSigning(
  user: string,
  options: AsOptions | ConfiguredSchemeOptions,
  parts: SigningParts,
) {
  read(text(), user, 'the user of as');
  read(anyOptions, options, { optionsOf: 'as' });
  const { scheme, identity, choices, isPlain = false } = choose(user, options, parts);
  const { time, random } = parts.core;
  const { date } = options;
  return {
    /** Returns the URL to send a request to, and the fields to add. */
    async sign({ method, url, fields, content }: Unsigned): Promise<SignedRequest> {
      const parsed = new URL(url);
      const target = targetSentByFetch(url.slice(parsed.origin.length));
      const bytes = content === undefined ? undefined : Buffer.from(content);
      const signNow = createSign(scheme, await identity(), choices);
      const now = date === undefined ? time.clock.now() : toTime(date);
      const signed = signNow({ method, url: parsed, target, fields, content: bytes }, { now, random });
      const isChanged = signed.target !== target;
      const result = {
        url: isChanged ? parsed.origin + signed.target : url,
        headers: Object.fromEntries(signed.fields),
        body: signed.content,
      };
      messages.set(result, signed.parts);
      return result;
    },
    /** Whether paths count as requested over TLS. */
    secure: scheme.tlsOnly === true && !isPlain,
  };
}

/** The signed messages, which users of a double do not get. */
const messages = new WeakMap<SignedRequest, readonly NamedPart[]>();

/** Returns the parts of the message that was signed, in order; none if the scheme signs nothing. */
export function listSignedParts(signed: SignedRequest): readonly NamedPart[] {
  return messages.get(signed) ?? [];
}

function isBuiltIn(options: AsOptions | ConfiguredSchemeOptions): options is AsOptions {
  return options.scheme === undefined || plainSchemes.some((name) => name === options.scheme);
}

function choose(user: string, options: AsOptions | ConfiguredSchemeOptions, parts: SigningParts): Choice {
  const { schemes, partner } = parts.core;
  /** Those in the partner's document. */
  const schemeNames = partner?.schemeNames ?? new Map<string, string>();
  const { scheme: given = 'hmac' } = options;
  const isOwn = schemes.some((each) => each.name === given);
  const name = isOwn ? given : (schemeNames.get(given) ?? given);
  const own = schemes.find((each) => each.name === name);
  if (own !== undefined) return chooseConfigured(own, user, { ...options, scheme: own.name }, parts.core);
  const names = new Set([...plainSchemes, ...schemes.map((each) => each.name), ...schemeNames.keys()]);
  read(word([...names], undefined, 'the name of a scheme'), name, ['scheme']);
  const chosen: AsOptions | ConfiguredSchemeOptions = name === given ? options : { ...options, scheme: name };
  if (!isBuiltIn(chosen)) throw new RangeError(`${name} is not a scheme`);
  checkAsOptions(chosen);
  return chooseBuiltIn(user, chosen, parts);
}

function chooseBuiltIn(user: string, options: AsOptions, parts: SigningParts): Choice {
  const { core, oauth2 } = parts;
  const { users } = core;
  const { credentials } = users.control;
  const { scheme: name = 'hmac', nonce, client, token } = options;
  switch (name) {
    case 'hmac': {
      const { form, dateField, signBody, secret } = options;
      if (secret === undefined) credentials(user);
      const identity = () => ({ user, secret: secret ?? credentials(user).secret });
      const choices = form === 'simple' ? {} : { nonce };
      return { scheme: createHmacScheme({ form, dateField, signBody }), identity, choices };
    }
    case 'basic': {
      const identity = () => ({ user, secret: options.password ?? requirePassword(users, user) });
      identity();
      return { scheme: basicScheme, identity, choices: {} };
    }
    case 'bearer': {
      if (token === undefined) credentials(user);
      const issued = once(async () => {
        if (token !== undefined) return token;
        const { id, scopes } = findClient(core, client);
        return (await oauth2.issueToken({ client: id, user, scope: scopes })).accessToken;
      });
      return {
        scheme: bearerScheme,
        identity: async () => ({ secret: await issued() }),
        choices: {},
      };
    }
    case 'oauth1':
      return chooseOAuth1(user, options, parts);
  }
}

function chooseOAuth1(
  user: string,
  { client, nonce, privateKey: given, bodyHash, twoLegged = false, ...options }: AsOptions,
  { core, oauth1 }: SigningParts,
): Choice {
  if (!twoLegged) core.users.control.credentials(user);
  const { key, methods, plainHttp } = findConsumer(core, twoLegged ? user : client);
  const privateKey = given === undefined ? undefined : parsePrivateKey(given, 'privateKey');
  const signatureMethod =
    options.signatureMethod ?? methods.find((method) => isRsaMethod(method) === (privateKey !== undefined));
  const issued = once(async () => (twoLegged ? undefined : await oauth1.issueToken({ client: key, user })));
  const identity = async (): Promise<SigningIdentity> => {
    const { secret } = findConsumer(core, key);
    return { consumer: { key, secret }, privateKey, token: await issued() };
  };
  return {
    scheme: createOAuth1Scheme({ signatureMethod, bodyHash }),
    identity,
    choices: { nonce },
    isPlain: plainHttp && signatureMethod !== 'PLAINTEXT',
  };
}

function chooseConfigured(
  scheme: AuthScheme,
  user: string,
  options: ConfiguredSchemeOptions,
  { users }: Core,
): Choice {
  checkConfiguredOptions(options);
  const { nonce, id, components, sessionToken } = options;
  const presign = options.presign === undefined ? undefined : readPresign(options.presign);
  const choices = { nonce, id, components, presign, sessionToken };
  const identity = () => readIdentity(scheme, user, options, users);
  createSign(scheme, identity(), choices);
  return { scheme, identity, choices };
}

/** Returns the credentials of a configured scheme. */
function readIdentity(
  scheme: AuthScheme,
  user: string,
  options: ConfiguredSchemeOptions,
  users: DoubleUsers,
): SigningIdentity {
  const { keyId, algorithm } = options;
  if (options.privateKey !== undefined) {
    const privateKey = parsePrivateKey(options.privateKey, 'privateKey');
    return { user, keyId, privateKey, algorithm: algorithm ?? findAlgorithm(users, user, keyId) };
  }
  if (options.secret !== undefined) return { user, keyId, secret: options.secret };
  const id = keyId ?? (scheme.privateKeys === 'usual' ? findGeneratedKey(users, user) : undefined);
  return id === undefined
    ? { user, secret: users.control.credentials(user).secret }
    : { user, ...requireKey(users, user, id) };
}

/** Returns the id of the key that was generated last; undefined if there is none. */
function findGeneratedKey(users: DoubleUsers, user: string): string | undefined {
  const keys = Object.entries(users.keys(user));
  return keys.findLast(([, key]) => users.findPrivateKey(key) !== undefined)?.[0];
}

function requireKey(users: DoubleUsers, user: string, id: string): SigningIdentity {
  const keys = users.keys(user);
  const key = Object.hasOwn(keys, id) ? keys[id] : undefined;
  if (key === undefined)
    throw new RangeError(`the user ${user} has no key ${id}${didYouMean(id, Object.keys(keys))}`);
  if ('secret' in key) return { keyId: id, secret: key.secret, passphrase: key.passphrase };
  const privateKey = users.findPrivateKey(key);
  if (privateKey !== undefined) return { keyId: id, privateKey, algorithm: key.algorithm };
  throw new RangeError(`the private key of ${id} is not known; use the option privateKey or generateKey`);
}

function findAlgorithm(
  users: DoubleUsers,
  user: string,
  id: string | undefined,
): SignatureAlgorithm | undefined {
  if (id === undefined || !users.all.has(user)) return undefined;
  const keys = users.keys(user);
  const named = Object.hasOwn(keys, id) ? keys[id]?.algorithm : undefined;
  return named !== undefined && isSignatureAlgorithm(named) ? named : undefined;
}
