import type { KeyObject } from 'node:crypto';
import { type OAuth1Method, oauth1Methods } from '../accounts/oauth1-methods.ts';
import { findClosestMatch } from '../did-you-mean.ts';
import type { Scheme } from '../schemes/defined/definition.ts';
import { createHmacScheme } from '../schemes/hmac/scheme.ts';
import { createOAuth1Scheme } from '../schemes/oauth1/scheme.ts';
import { filledText } from '../schemes/scheme-shapes.ts';
import { basicScheme, bearerScheme } from '../schemes/sent-credentials.ts';
import { defaulted, flag, type Members, read, word } from '../shape/shape.ts';
import type { SigningScheme } from './declarations.ts';
import { parsePrivateKey } from './private-key.ts';
import { type ReadDeclaration, readSigningDeclaration } from './read-declaration.ts';

/** Who signs a request: a scheme, with the keys that it requires. */
export type Credentials =
  | {
      /** Countersign's own scheme, HMAC-SHA256. It is the default. */
      readonly scheme?: 'hmac' | undefined;
      /** The name of the user. */
      readonly user: string;
      /** The shared secret. */
      readonly secret: string;
      /** `full` has a date and a nonce, so it can be used once; `simple` has neither and can be replayed. Default: `full`. */
      readonly form?: 'full' | 'simple' | undefined;
      /** The field for the date: `X-Date` if the client cannot set `Date`, as in a browser. Default: `Date`. */
      readonly dateField?: 'Date' | 'X-Date' | undefined;
      /** Whether the digest of the body is signed, and sent as Content-Digest (RFC 9530). Default: true. */
      readonly signBody?: boolean | undefined;
    }
  | {
      /** HTTP Basic (RFC 7617). */
      readonly scheme: 'basic';
      /** The name of the user. */
      readonly user: string;
      /** The password. */
      readonly password: string;
    }
  | {
      /** A bearer token (RFC 6750). */
      readonly scheme: 'bearer';
      /** The access token. */
      readonly token: string;
    }
  | {
      /** OAuth 1.0a (RFC 5849). */
      readonly scheme: 'oauth1';
      /** The key of the client (consumer). */
      readonly client: string;
      /** The secret of the client. Required unless there is `privateKey`. */
      readonly secret?: string | undefined;
      /** The RSA key of the client: PEM (PKCS #8), or a key of node:crypto. */
      readonly privateKey?: string | KeyObject | undefined;
      /** The access token. Default: none, and the client acts on its own behalf (two-legged). */
      readonly token?: string | undefined;
      /** The secret of the access token. Required with `token` unless there is `privateKey`. */
      readonly tokenSecret?: string | undefined;
      /** The signature method. Default: HMAC-SHA256, with a private key RSA-SHA256. */
      readonly signatureMethod?: OAuth1Method | undefined;
      /** Whether requests whose content is not a form have `oauth_body_hash`. Default: false. */
      readonly bodyHash?: boolean | undefined;
    }
  | {
      /**
       * A scheme that `defineScheme` returned, or a declaration. One of HTTP Message Signatures or of AWS Signature Version 4 contains
       * its key; then the other members are not permitted.
       */
      readonly scheme: Scheme | SigningScheme;
      /** The name of the user. Required if the scheme sends it, unless there is `keyId`. */
      readonly user?: string | undefined;
      /** The id of the key, which is sent in place of the user. Default: `user`. */
      readonly keyId?: string | undefined;
      /** The shared secret. */
      readonly secret?: string | undefined;
      /**
       * The private key of a scheme that has one, or an Ed25519 key in place of the secret, for `standard-webhooks`: PEM (PKCS #8), or a
       * key of node:crypto.
       */
      readonly privateKey?: string | KeyObject | undefined;
      /** The passphrase of the key, if the scheme sends one. */
      readonly passphrase?: string | undefined;
    };

/** The names of the schemes that need no declaration. */
export const plainSchemes = ['hmac', 'basic', 'bearer', 'oauth1'] as const;

/** The members of credentials, by the name of the scheme. */
const builtIn: Readonly<Record<(typeof plainSchemes)[number], readonly string[]>> = {
  hmac: ['user', 'secret', 'form', 'dateField', 'signBody'],
  basic: ['user', 'password'],
  bearer: ['token'],
  oauth1: ['client', 'secret', 'privateKey', 'token', 'tokenSecret', 'signatureMethod', 'bodyHash'],
};

/** The members of credentials beside a scheme in code, or a declaration. */
const keyNames: readonly string[] = ['user', 'keyId', 'secret', 'privateKey', 'passphrase'];

/** The names of all members of credentials. */
export const credentialNames: readonly string[] = [
  ...new Set(['scheme', ...Object.values(builtIn).flat(), ...keyNames]),
];

/**
 * Reads credentials. Members with other names than those of credentials are ignored.
 *
 * @param where The name of the object in messages.
 * @throws RangeError if something is missing or invalid, or a member is not one of the scheme
 */
export function readCredentials(members: Members, where: string): ReadDeclaration {
  const { scheme = 'hmac' } = members;
  const optional = (name: string): string | undefined => {
    const value = members[name];
    if (value === undefined || typeof value === 'string') return value;
    throw new RangeError(`${where}.${name} must be text`);
  };
  const text = (name: string): string => read(filledText, members[name], [`${where}.${name}`]);
  const plain = plainSchemes.find((each) => each === scheme);
  if (plain !== undefined) checkMembers(members, where, plain, builtIn[plain]);
  switch (scheme) {
    case 'hmac': {
      const options = {
        form: read(defaulted(word(['full', 'simple']), 'full'), members['form'], [`${where}.form`]),
        dateField: read(defaulted(word(['Date', 'X-Date']), 'Date'), members['dateField'], [
          `${where}.dateField`,
        ]),
        signBody: read(defaulted(flag(), true), members['signBody'], [`${where}.signBody`]),
      };
      const identity = { user: optional('user'), secret: text('secret') };
      return { scheme: createHmacScheme(options), identity, choices: {} };
    }
    case 'basic':
      return {
        scheme: basicScheme,
        identity: { user: text('user'), secret: text('password') },
        choices: {},
      };
    case 'bearer':
      return { scheme: bearerScheme, identity: { secret: text('token') }, choices: {} };
    case 'oauth1':
      return readOAuth1(members, where);
    default: {
      if (typeof scheme === 'string') {
        const meant = findClosestMatch(scheme, plainSchemes);
        const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
        throw new RangeError(`scheme must be an object${hint}`);
      }
      const user = optional('user');
      const read = readSigningDeclaration(scheme, user);
      const hasKey = Object.keys(read.identity).length > 0;
      for (const name of keyNames)
        if (hasKey && members[name] !== undefined)
          throw new RangeError(`${where}.${name}: the scheme ${read.scheme.name} has its own credentials`);
      checkMembers(members, where, read.scheme.name, keyNames);
      const { privateKey } = members;
      const identity = {
        user,
        keyId: optional('keyId'),
        secret: optional('secret'),
        passphrase: optional('passphrase'),
        privateKey: privateKey === undefined ? undefined : parsePrivateKey(privateKey, `${where}.privateKey`),
        ...read.identity,
      };
      return { ...read, identity };
    }
  }
}

/** Reads the credentials of OAuth 1.0a. */
function readOAuth1(members: Members, where: string): ReadDeclaration {
  const text = (name: string): string => read(filledText, members[name], [`${where}.${name}`]);
  const { secret, privateKey, token, tokenSecret, signatureMethod } = members;
  const isPrivate = privateKey !== undefined;
  const options = {
    signatureMethod:
      signatureMethod === undefined
        ? undefined
        : read(defaulted(word(oauth1Methods), 'HMAC-SHA256'), signatureMethod, [`${where}.signatureMethod`]),
    bodyHash: read(defaulted(flag(), false), members['bodyHash'], [`${where}.bodyHash`]),
  };
  if (token === undefined && tokenSecret !== undefined)
    throw new RangeError(`${where}.tokenSecret: there is no token`);
  const identity = {
    consumer: { key: text('client'), secret: isPrivate && secret === undefined ? undefined : text('secret') },
    privateKey: isPrivate ? parsePrivateKey(privateKey, `${where}.privateKey`) : undefined,
    token:
      token === undefined
        ? undefined
        : {
            token: text('token'),
            tokenSecret: isPrivate && tokenSecret === undefined ? '' : text('tokenSecret'),
          },
  };
  return { scheme: createOAuth1Scheme(options), identity, choices: {} };
}

/** Throws RangeError if there is a member of the credentials of other schemes only. */
function checkMembers(members: Members, where: string, scheme: string, names: readonly string[]): void {
  for (const name of credentialNames)
    if (name !== 'scheme' && !names.includes(name) && members[name] !== undefined)
      throw new RangeError(`${where}.${name} is not an option of the scheme ${scheme}`);
}
