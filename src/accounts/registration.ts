import { createPublicKey } from 'node:crypto';
import { didYouMean } from '../did-you-mean.ts';
import { hasControlCharacter, hasLoneSurrogate } from '../http/syntax/control-character.ts';
import { knownScopes } from '../principal.ts';
import type {
  Client,
  ClientOption,
  ClientSecret,
  Consumer,
  ConsumerOption,
  GrantType,
  RegisteredBy,
  SignatureMethod,
} from './registered.ts';

/** What a client of OAuth 2.0 may be registered for. */
export const grantTypes: readonly GrantType[] = ['authorization_code', 'refresh_token', 'client_credentials'];
/** How a consumer of OAuth 1.0a may be registered to sign. */
export const signatureMethods: readonly SignatureMethod[] = [
  'HMAC-SHA256',
  'HMAC-SHA1',
  'PLAINTEXT',
  'RSA-SHA1',
];

/** The parts of a client's registration, and those of a consumer's. */
export const clientKeys: readonly string[] = ['secret', 'redirectUris', 'grants', 'scopes', 'users'];
export const consumerKeys: readonly string[] = ['secret', 'rsaPublicKey', 'callbacks', 'methods', 'scopes'];

/** A client of OAuth 2.0 as it is registered under an id, with nothing left out. */
export type ClientRegistration = Omit<Client, 'id'>;
/** A consumer of OAuth 1.0a as it is registered under a key, with nothing left out. */
export type ConsumerRegistration = Omit<Consumer, 'key'>;

/** What is wrong with a registration. No secret is in it. */
export interface RegistrationFault {
  /** Which part: `redirectUris[0]`; empty where it is the whole. */
  readonly at: string;
  /** The rest of the sentence: `is not an absolute URI`. */
  readonly says: string;
}

/** What a registration comes to: it is `made` where it has no faults. */
export interface Registered<T> {
  readonly made: T;
  readonly faults: readonly RegistrationFault[];
}

/** In which forms a secret may be registered: as a text, in an object as such, its SHA-256 in base64url, its scrypt hash. */
export type SecretForm = 'text' | 'plain' | 'sha256' | 'scrypt';

/** Registered clients of OAuth 2.0 by their ids. Throws RangeError on one that cannot be, naming it. */
export function clientsOf(registered: RegisteredBy<ClientOption>): ReadonlyMap<string, Client> {
  return registry(registered, 'client', (id, option) => {
    const { since, parts } = dated(option);
    const { made, faults } = readClient(id, parts, ['text', 'plain', 'sha256', 'scrypt']);
    return { made: { id, ...made, since }, faults };
  });
}

/** Registered consumers of OAuth 1.0a by their keys. Throws RangeError on one that cannot be, naming it. */
export function consumersOf(registered: RegisteredBy<ConsumerOption>): ReadonlyMap<string, Consumer> {
  return registry(registered, 'consumer', (key, option) => {
    const { since, parts } = dated(option);
    const { made, faults } = readConsumer(key, parts);
    return { made: { key, ...made, since }, faults };
  });
}

/** Takes off when it was registered, which no configuration says. */
function dated(option: ClientOption | ConsumerOption): { since: number | undefined; parts: unknown } {
  // Called from JavaScript, it may be anything.
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

/** What is wrong in a sentence without its full stop; `who` is whose registration it is. */
export function faultLine({ at, says }: RegistrationFault, who: string): string {
  return at === '' ? `${who} ${says}` : `${at} of ${who} ${says}`;
}

/** Reads a client of OAuth 2.0 that may be anything, with every fault that it has. */
export function readClient(
  id: string,
  value: unknown,
  secretForms: readonly SecretForm[],
): Registered<ClientRegistration> {
  const parts = new Parts(value, clientKeys);
  // RFC 6749 §A.1; Basic ends the id at the first colon (RFC 7617 §2).
  if (!/^[\x20-\x39\x3b-\x7e]{1,128}$/.test(id))
    parts.fault('', 'needs an id of 1 to 128 printable ASCII characters without a colon');
  const secret = parts.secret(secretForms);
  const grants = parts.words('grants', grantTypes) ?? grantTypes.slice(0, 2);
  if (secret === undefined && !parts.has('secret') && grants.includes('client_credentials'))
    parts.fault('', 'has no secret, and so cannot have the grant client_credentials');
  const redirectUris = parts.texts('redirectUris', redirectUriFault) ?? [];
  const made = {
    ...{ secret, redirectUris, grants },
    scopes: parts.words('scopes', knownScopes) ?? ['read'],
    users: parts.get('users') === '*' ? ('*' as const) : (parts.texts('users', nameFault) ?? []),
  };
  return { made, faults: parts.faults };
}

/** Reads a consumer of OAuth 1.0a that may be anything, with every fault that it has. */
export function readConsumer(key: string, value: unknown): Registered<ConsumerRegistration> {
  const parts = new Parts(value, consumerKeys);
  const bytes = Buffer.byteLength(key);
  if (bytes < 1 || bytes > 128 || hasControlCharacter(key) || hasLoneSurrogate(key))
    parts.fault('', 'needs a key of 1 to 128 bytes without control characters');
  const secret = parts.text('secret');
  const rsaPublicKey = parts.rsaKey('rsaPublicKey');
  if (!parts.has('secret') && !parts.has('rsaPublicKey'))
    parts.fault('', 'has neither a secret nor an RSA key');
  const usual = parts.has('secret') ? signatureMethods.slice(0, 2) : (['RSA-SHA1'] as const);
  const given = parts.words('methods', signatureMethods);
  for (const method of given ?? []) {
    const needed = method === 'RSA-SHA1' ? 'rsaPublicKey' : 'secret';
    if (!parts.has(needed)) parts.fault('methods', `have ${method}, and there is no ${needed}`);
  }
  const callbacks = parts.texts('callbacks', callbackFault) ?? [];
  const made = {
    ...{ secret, rsaPublicKey, callbacks, methods: given ?? usual },
    scopes: parts.words('scopes', knownScopes) ?? ['read'],
  };
  return { made, faults: parts.faults };
}

/** Why this cannot be a redirect URI, which is compared character by character. */
function redirectUriFault(uri: string): string | undefined {
  // RFC 6749 §3.1.2: absolute, and without a fragment. RFC 3986 §2: of ASCII, so that it can stand in a field.
  if (!/^[\x21\x22\x24-\x7e]+$/.test(uri) || !URL.canParse(uri))
    return 'is not an absolute URI without a fragment';
  const { protocol, hostname } = new URL(uri);
  if (protocol === 'https:') return undefined;
  // RFC 9700 §2.6, RFC 8252 §7.3: what a code is sent to in the clear is on the user's own host.
  if (protocol === 'http:')
    return loopback.includes(hostname) ? undefined : 'is plain HTTP to another host than the loopback';
  // RFC 8252 §7.1 and §8.4: a name that an application has is a domain's, reversed; javascript: and data: are none.
  return protocol.includes('.') ? undefined : 'has a scheme that is neither https nor a reversed domain name';
}

const loopback: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** RFC 5849 §2.1: an absolute URI, or `oob`. What is true of where codes are sent is true of where verifiers are. */
function callbackFault(callback: string): string | undefined {
  return callback === 'oob' ? undefined : redirectUriFault(callback);
}

function nameFault(name: string): string | undefined {
  return name === '*' ? 'stands alone, and not in a list, when it means all' : undefined;
}

/** The least modulus of an RSA key that is taken, in bits. */
const leastModulus = 2048;

/** Takes a registration apart, and gathers what is wrong with it. */
class Parts {
  readonly faults: RegistrationFault[] = [];
  readonly #members: ReadonlyMap<string, unknown>;

  constructor(value: unknown, known: readonly string[]) {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isObject) this.fault('', 'is not an object');
    // In code, what is undefined is left out.
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

  /** A text of at least one character; undefined without one. */
  text(key: string): string | undefined {
    const value = this.get(key);
    if (value === undefined) return undefined;
    if (typeof value === 'string' && value !== '') return value;
    this.fault(key, 'is not a text of at least one character');
    return undefined;
  }

  /** A list of texts in which `faultOf` finds nothing wrong; undefined where there is no list. */
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

  /** A list of words that are known; undefined where there is no list. */
  words<T extends string>(key: string, known: readonly T[]): readonly T[] | undefined {
    const wrong = (text: string): string | undefined =>
      known.some((word) => word === text) ? undefined : `is not one of ${known.join(', ')}`;
    const given = this.texts(key, wrong);
    return given === undefined ? undefined : known.filter((word) => given.includes(word));
  }

  /** The secret of a client in one of these forms; undefined without one. */
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
    const wanted = forms.includes('text') ? 'a text of printable ASCII characters' : 'a digest of one';
    this.fault('secret', `is not ${wanted}`);
    return undefined;
  }

  #plain(text: string): ClientSecret | undefined {
    // RFC 6749 §A.2.
    if (/^[\x20-\x7e]+$/.test(text)) return { plain: text };
    this.fault('secret', 'is not a text of printable ASCII characters');
    return undefined;
  }

  /** An RSA key as SPKI in PEM; undefined without one. */
  rsaKey(key: string): string | undefined {
    const text = this.text(key);
    const fault = text === undefined ? undefined : rsaKeyFault(text);
    if (fault === undefined) return text;
    this.fault(key, fault);
    return undefined;
  }
}

function rsaKeyFault(pem: string): string | undefined {
  const expected = 'is not the public key of RSA as SPKI in PEM (-----BEGIN PUBLIC KEY-----)';
  // A private key would be taken too: what is public is in it.
  if (!pem.trimStart().startsWith('-----BEGIN PUBLIC KEY-----') || pem.includes('PRIVATE')) return expected;
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPublicKey(pem);
    if (asymmetricKeyType !== 'rsa') return expected;
    const bits = asymmetricKeyDetails?.modulusLength ?? 0;
    return bits < leastModulus ? `has ${bits} bits, and at least ${leastModulus} are needed` : undefined;
  } catch {
    return expected;
  }
}
