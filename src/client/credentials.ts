import type { KeyObject } from 'node:crypto';
import { type OAuth1Method, oauth1Methods } from '../accounts/oauth1-methods.ts';
import { findClosestMatch } from '../did-you-mean.ts';
import type { Scheme } from '../schemes/defined/definition.ts';
import { createHmacScheme } from '../schemes/hmac/scheme.ts';
import { createOAuth1Scheme } from '../schemes/oauth1/scheme.ts';
import { filledText } from '../schemes/scheme-shapes.ts';
import { basicScheme, bearerScheme } from '../schemes/sent-credentials.ts';
import { createFault } from '../shape/fault.ts';
import {
  convert,
  flag,
  type MemberShapes,
  type Members,
  type MembersRead,
  object,
  optional,
  read,
  refine,
  type Shape,
  selectMembers,
  text,
  word,
} from '../shape/shape.ts';
import type { SigningScheme } from './declarations.ts';
import { privateKeyShape } from './private-key.ts';
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

/** What credentials consist of beside the scheme. */
interface Keys {
  /** The names of the members. */
  readonly names: readonly string[];
  readonly shape: Shape<Omit<ReadDeclaration, 'choices'>>;
}

function keysOf<const M extends MemberShapes>(
  members: M,
  create: (given: MembersRead<M>) => Omit<ReadDeclaration, 'choices'>,
  check: Parameters<typeof refine<MembersRead<M>>>[1] = () => [],
): Keys {
  return { names: Object.keys(members), shape: convert(refine(object(members), check), create) };
}

/** The credentials of the schemes that need no declaration. */
export const plainKeys: Readonly<Record<(typeof plainSchemes)[number], Keys>> = {
  hmac: keysOf(
    {
      user: text(),
      secret: filledText,
      form: optional(word(['full', 'simple'])),
      dateField: optional(word(['Date', 'X-Date'])),
      signBody: optional(flag()),
    },
    ({ user, secret, ...options }) => ({ scheme: createHmacScheme(options), identity: { user, secret } }),
  ),
  basic: keysOf({ user: filledText, password: filledText }, ({ user, password: secret }) => ({
    scheme: basicScheme,
    identity: { user, secret },
  })),
  bearer: keysOf({ token: filledText }, ({ token: secret }) => ({
    scheme: bearerScheme,
    identity: { secret },
  })),
  oauth1: keysOf(
    {
      client: filledText,
      secret: optional(filledText),
      privateKey: optional(privateKeyShape),
      token: optional(filledText),
      tokenSecret: optional(filledText),
      signatureMethod: optional(word(oauth1Methods)),
      bodyHash: optional(flag()),
    },
    ({ client: key, secret, privateKey, token, tokenSecret = '', ...options }) => ({
      scheme: createOAuth1Scheme(options),
      identity: {
        consumer: { key, secret },
        privateKey,
        token: token === undefined ? undefined : { token, tokenSecret },
      },
    }),
    ({ secret, privateKey, token, tokenSecret }, path) => {
      if (token === undefined && tokenSecret !== undefined)
        return [createFault([...path, 'tokenSecret'], 'requires token')];
      if (privateKey !== undefined) return [];
      const secrets = Object.entries(token === undefined ? { secret } : { secret, tokenSecret });
      return secrets.flatMap(([name, value]) =>
        value === undefined
          ? [{ path: [...path, name], kind: 'missing', expected: filledText.expected }]
          : [],
      );
    },
  ),
};

/** The members of credentials beside a scheme in code, or a declaration. */
const keyMembers = {
  user: optional(text()),
  keyId: optional(text()),
  secret: optional(text()),
  privateKey: optional(privateKeyShape),
  passphrase: optional(text()),
};

const keyNames = Object.keys(keyMembers);
const keyShape = object(keyMembers);

/** The names of all members of credentials. */
export const credentialNames: readonly string[] = [
  ...new Set(['scheme', ...Object.values(plainKeys).flatMap(({ names }) => names), ...keyNames]),
];

/**
 * Reads credentials. Members with other names than those of credentials are ignored.
 *
 * @param where The name of the object in messages.
 * @throws RangeError if something is missing or invalid, or a member is not one of the scheme
 */
export function readCredentials(members: Members, where: string): ReadDeclaration {
  const { scheme = 'hmac' } = members;
  const plain = plainSchemes.find((each) => each === scheme);
  if (plain !== undefined) {
    const { names, shape } = plainKeys[plain];
    checkMembers(members, where, plain, names);
    return { ...read(shape, selectMembers(members, names), [where]), choices: {} };
  }
  if (typeof scheme === 'string') {
    const meant = findClosestMatch(scheme, plainSchemes);
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
    throw new RangeError(`scheme must be an object${hint}`);
  }
  const keys = read(keyShape, selectMembers(members, keyNames), [where]);
  const declared = readSigningDeclaration(scheme, keys.user);
  const hasKey = Object.keys(declared.identity).length > 0;
  for (const name of keyNames)
    if (hasKey && members[name] !== undefined)
      throw new RangeError(`${where}.${name}: the scheme ${declared.scheme.name} has its own credentials`);
  checkMembers(members, where, declared.scheme.name, keyNames);
  return { ...declared, identity: { ...keys, ...declared.identity } };
}

/** Throws RangeError if there is a member of the credentials of other schemes only. */
function checkMembers(members: Members, where: string, scheme: string, names: readonly string[]): void {
  for (const name of credentialNames)
    if (name !== 'scheme' && !names.includes(name) && members[name] !== undefined)
      throw new RangeError(`${where}.${name} is not an option of the scheme ${scheme}`);
}
