import { createPublicKey } from 'node:crypto';
import { keyWeakness } from '../auth/key-weakness.ts';
import { didYouMean } from '../did-you-mean.ts';
import { hasControlCharacter, hasLoneSurrogate } from '../http/syntax/control-character.ts';
import { knownScopes, type Scope } from '../principal.ts';
import type {
  Client,
  ClientDeclaration,
  ClientSecret,
  Consumer,
  ConsumerDeclaration,
  GrantType,
  RegisteredBy,
  SignatureMethod,
} from './registered.ts';

/** The grant types that a client of OAuth 2.0 may be registered for. */
export const grantTypes: readonly GrantType[] = ['authorization_code', 'refresh_token', 'client_credentials'];
/** The signature methods that a consumer of OAuth 1.0a may be registered for. */
export const signatureMethods: readonly SignatureMethod[] = [
  'HMAC-SHA256',
  'HMAC-SHA1',
  'PLAINTEXT',
  'RSA-SHA1',
];

/** The members of a client's registration. */
export const clientKeys: readonly string[] = ['secret', 'redirectUris', 'grants', 'scopes', 'users'];
/** The members of a consumer's registration. */
export const consumerKeys: readonly string[] = ['secret', 'rsaPublicKey', 'callbacks', 'methods', 'scopes'];

/** The id of a client (RFC 6749 §A.1). Basic ends the id at the first colon (RFC 7617 §2). */
export const clientIdForm = /^[\x20-\x39\x3b-\x7e]{1,128}$/;
/** The secret of a client (RFC 6749 §A.2). */
export const clientSecretForm = /^[\x20-\x7e]+$/;
/** The maximum length of the key of a consumer, in bytes of UTF-8. */
export const maxConsumerKeyLength = 128;

/** The registration of a client of OAuth 2.0 under an id, with all defaults. */
export type ClientRegistration = Omit<Client, 'id'>;
/** The registration of a consumer of OAuth 1.0a under a key, with all defaults. */
export type ConsumerRegistration = Omit<Consumer, 'key'>;

/** A fault of a registration. It contains no secret. */
export interface RegistrationFault {
  /** The member: `redirectUris[0]`; empty for the whole registration. */
  readonly at: string;
  /** The predicate of the message: `is not an absolute URI`. */
  readonly says: string;
}

/** The result of reading a registration. `made` is only valid if there are no faults. */
export interface Registered<T> {
  readonly made: T;
  readonly faults: readonly RegistrationFault[];
}

/** The forms of a registered secret: a string, or an object with the plain text, its SHA-256 in base64url, or its scrypt hash. */
export type SecretForm = 'text' | 'plain' | 'sha256' | 'scrypt';

/**
 * Returns the registered clients of OAuth 2.0 by id. Throws RangeError, with the id, if one is invalid.
 * @param scopes scopes beside `read` and `write`, which a client then has by default
 */
export function clientsOf(
  registered: RegisteredBy<ClientDeclaration>,
  scopes: readonly Scope[] = [],
): ReadonlyMap<string, Client> {
  return registry(registered, 'client', (id, option) => {
    const { since, parts } = withoutDate(option);
    const { made, faults } = readClient(id, parts, ['text', 'plain', 'sha256', 'scrypt'], scopes);
    return { made: { id, ...made, since }, faults };
  });
}

/** Returns the registered consumers of OAuth 1.0a by key. Throws RangeError, with the key, if one is invalid. */
export function consumersOf(registered: RegisteredBy<ConsumerDeclaration>): ReadonlyMap<string, Consumer> {
  return registry(registered, 'consumer', (key, option) => {
    const { since, parts } = withoutDate(option);
    const { made, faults } = readConsumer(key, parts);
    return { made: { key, ...made, since }, faults };
  });
}

/** Separates the time of registration, which a configuration does not contain. */
function withoutDate(option: ClientDeclaration | ConsumerDeclaration): {
  since: number | undefined;
  parts: unknown;
} {
  // In JavaScript, it may be any value.
  if (typeof option !== 'object' || option === null || Array.isArray(option))
    return { since: undefined, parts: option };
  const { since, ...parts } = option;
  return { since, parts };
}

function registry<Option, T>(
  registered: Readonly<Record<string, Option>> | ReadonlyMap<string, Option>,
  one: string,
  read: (name: string, option: Option) => Registered<T>,
): ReadonlyMap<string, T> {
  const entries = registered instanceof Map ? [...registered] : Object.entries(registered);
  return new Map(
    entries.map(([name, option]) => {
      const { made, faults } = read(name, option);
      const [first] = faults;
      if (first === undefined) return [name, made];
      throw new RangeError(faultLine(first, `the ${one} ${JSON.stringify(name)}`));
    }),
  );
}

/** Returns the message of a fault, without a full stop. `owner` is the client or consumer. */
export function faultLine({ at, says }: RegistrationFault, owner: string): string {
  return at === '' ? `${owner} ${says}` : `${at} of ${owner} ${says}`;
}

/** Reads the registration of a client of OAuth 2.0 from any value. Returns it with all its faults. */
export function readClient(
  id: string,
  value: unknown,
  secretForms: readonly SecretForm[],
  further: readonly Scope[] = [],
): Registered<ClientRegistration> {
  const parts = new MemberReader(value, clientKeys);
  if (!clientIdForm.test(id))
    parts.fault('', 'needs an id of 1 to 128 printable ASCII characters without a colon');
  const secret = parts.secret(secretForms);
  const grants = parts.words('grants', grantTypes) ?? grantTypes.slice(0, 2);
  if (secret === undefined && !parts.has('secret') && grants.includes('client_credentials'))
    parts.fault('', 'has no secret, and so cannot have the grant client_credentials');
  const redirectUris = parts.texts('redirectUris', redirectUriFault) ?? [];
  const made = {
    secret,
    redirectUris,
    grants,
    scopes: parts.words('scopes', [...knownScopes, ...further]) ?? (further.length > 0 ? further : ['read']),
    users: parts.get('users') === '*' ? ('*' as const) : (parts.texts('users', nameFault) ?? []),
  };
  return { made, faults: parts.faults };
}

/** Reads the registration of a consumer of OAuth 1.0a from any value. Returns it with all its faults. */
export function readConsumer(key: string, value: unknown): Registered<ConsumerRegistration> {
  const parts = new MemberReader(value, consumerKeys);
  const bytes = Buffer.byteLength(key);
  if (bytes < 1 || bytes > maxConsumerKeyLength || hasControlCharacter(key) || hasLoneSurrogate(key))
    parts.fault('', `needs a key of 1 to ${maxConsumerKeyLength} bytes without control characters`);
  const secret = parts.text('secret');
  const rsaPublicKey = parts.rsaKey('rsaPublicKey');
  if (!parts.has('secret') && !parts.has('rsaPublicKey'))
    parts.fault('', 'has neither a secret nor an RSA key');
  const defaults = parts.has('secret') ? signatureMethods.slice(0, 2) : (['RSA-SHA1'] as const);
  const given = parts.words('methods', signatureMethods);
  for (const method of given ?? []) {
    const needed = method === 'RSA-SHA1' ? 'rsaPublicKey' : 'secret';
    if (!parts.has(needed)) parts.fault('methods', `have ${method}, and there is no ${needed}`);
  }
  const callbacks = parts.texts('callbacks', callbackFault) ?? [];
  const made = {
    secret,
    rsaPublicKey,
    callbacks,
    methods: given ?? defaults,
    scopes: parts.words('scopes', knownScopes) ?? ['read'],
  };
  return { made, faults: parts.faults };
}

/** Returns why a text is not a valid redirect URI, or undefined. */
function redirectUriFault(uri: string): string | undefined {
  // RFC 6749 §3.1.2: absolute, without a fragment. RFC 3986 §2: only ASCII, so that it can be a field value.
  if (!/^[\x21\x22\x24-\x7e]+$/.test(uri) || !URL.canParse(uri))
    return 'is not an absolute URI without a fragment';
  const { protocol, hostname } = new URL(uri);
  if (protocol === 'https:') return undefined;
  // RFC 9700 §2.6, RFC 8252 §7.3: plain HTTP is only allowed to the user's own host.
  if (protocol === 'http:')
    return loopback.includes(hostname) ? undefined : 'is plain HTTP to another host than the loopback';
  // RFC 8252 §7.1 and §8.4: the scheme of an application is a reversed domain name, unlike javascript: and data:.
  return protocol.includes('.') ? undefined : 'has a scheme that is neither https nor a reversed domain name';
}

const loopback: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Returns why a text is not a valid callback: an absolute URI or `oob` (RFC 5849 §2.1), with the rules of redirect URIs. */
function callbackFault(callback: string): string | undefined {
  return callback === 'oob' ? undefined : redirectUriFault(callback);
}

function nameFault(name: string): string | undefined {
  return name === '*' ? 'is only allowed alone, not in a list' : undefined;
}

/** Reads the members of a registration, and collects its faults. */
class MemberReader {
  readonly faults: RegistrationFault[] = [];
  readonly #members: ReadonlyMap<string, unknown>;

  constructor(value: unknown, known: readonly string[]) {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isObject) this.fault('', 'is not an object');
    // In code, a member may be undefined.
    this.#members = new Map(
      Object.entries(isObject ? value : {}).filter(([, member]) => member !== undefined),
    );
    for (const key of this.#members.keys()) {
      if (!known.includes(key)) this.fault(key, `is not known${didYouMean(key, known)}`);
    }
  }

  fault(at: string, says: string): void {
    this.faults.push({ at, says });
  }

  has(key: string): boolean {
    return this.#members.has(key);
  }

  get(key: string): unknown {
    return this.#members.get(key);
  }

  /** Returns a non-empty string; undefined if there is none. */
  text(key: string): string | undefined {
    const value = this.get(key);
    if (value === undefined) return undefined;
    if (typeof value === 'string' && value !== '') return value;
    this.fault(key, 'is not a text of at least one character');
    return undefined;
  }

  /** Returns a list of non-empty strings, checked with `faultOf`; undefined if there is no list. */
  texts(key: string, faultOf: (text: string) => string | undefined): readonly string[] | undefined {
    const value = this.get(key);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) {
      this.fault(key, 'is not a list');
      return undefined;
    }
    return value.flatMap((text: unknown, index) => {
      const isText = typeof text === 'string' && text !== '';
      const fault = isText ? faultOf(text) : 'is not a text of at least one character';
      if (fault !== undefined) this.fault(`${key}[${index}]`, fault);
      return isText ? [text] : [];
    });
  }

  /** Returns a list of known words; undefined if there is no list. */
  words<T extends string>(key: string, known: readonly T[]): readonly T[] | undefined {
    const wrong = (text: string): string | undefined =>
      known.some((word) => word === text) ? undefined : `is not one of ${known.join(', ')}`;
    const given = this.texts(key, wrong);
    return given === undefined ? undefined : known.filter((word) => given.includes(word));
  }

  /** Returns the secret of a client in one of these forms; undefined if there is none. */
  secret(forms: readonly SecretForm[]): ClientSecret | undefined {
    const value = this.get('secret');
    if (value === undefined) return undefined;
    if (typeof value === 'string' && forms.includes('text')) return this.#plain(value);
    const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    const [[form, text] = [], ...more] = entries;
    if (typeof text === 'string' && more.length === 0) {
      if (form === 'plain' && forms.includes(form)) return this.#plain(text);
      // SHA-256 in base64url.
      if (form === 'sha256' && forms.includes(form) && /^[A-Za-z0-9_-]{43}$/.test(text))
        return { sha256: text };
      if (form === 'scrypt' && forms.includes(form) && text.startsWith('scrypt$')) return { scrypt: text };
    }
    const expected = forms.includes('text') ? 'a text of printable ASCII characters' : 'a digest of a secret';
    this.fault('secret', `is not ${expected}`);
    return undefined;
  }

  #plain(text: string): ClientSecret | undefined {
    if (clientSecretForm.test(text)) return { plain: text };
    this.fault('secret', 'is not a text of printable ASCII characters');
    return undefined;
  }

  /** Returns an RSA key as SPKI in PEM; undefined if there is none. */
  rsaKey(key: string): string | undefined {
    const text = this.text(key);
    const fault = text === undefined ? undefined : rsaKeyFault(text);
    if (fault === undefined) return text;
    this.fault(key, fault);
    return undefined;
  }
}

function rsaKeyFault(pem: string): string | undefined {
  const expected = 'is not an RSA public key as SPKI in PEM (-----BEGIN PUBLIC KEY-----)';
  // createPublicKey also accepts a private key, which contains the public one.
  if (!pem.trimStart().startsWith('-----BEGIN PUBLIC KEY-----') || pem.includes('PRIVATE')) return expected;
  try {
    const key = createPublicKey(pem);
    return key.asymmetricKeyType === 'rsa' ? keyWeakness(key) : expected;
  } catch {
    return expected;
  }
}
