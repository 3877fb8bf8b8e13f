import { createPublicKey } from 'node:crypto';
import { hasControlCharacter, hasLoneSurrogate } from '../http/syntax/control-character.ts';
import { isKnownScope, isScope, knownScopes, type Scope, scopePattern } from '../principal.ts';
import { seconds } from '../shape/duration.ts';
import { createFault, describeFault, formatPath, type ShapeFault, type ShapePath } from '../shape/fault.ts';
import {
  anything,
  convert,
  either,
  flag,
  type JsonSchema,
  listOf,
  mapOf,
  number,
  object,
  optional,
  refine,
  type Shape,
  type ShapesOf,
  text,
  textLike,
  word,
} from '../shape/shape.ts';
import { keyWeakness } from './key-weakness.ts';
import { isRsaMethod, oauth1Methods, rsaMethods, secretMethods } from './oauth1-methods.ts';
import { parsePublicKey } from './parse-account-key.ts';
import {
  type Client,
  type ClientDeclaration,
  type ClientSecret,
  type Consumer,
  type ConsumerDeclaration,
  type GrantType,
  listRegistered,
  type RegisteredBy,
  type SignatureMethod,
} from './registered.ts';

/** The grant types that a client of OAuth 2.0 may be registered for. */
export const grantTypes: readonly GrantType[] = ['authorization_code', 'refresh_token', 'client_credentials'];
/** The signature methods of a consumer that is registered without any: those with its secret, else those with its RSA key. */
export const defaultMethods = {
  secret: ['HMAC-SHA256', 'HMAC-SHA1'],
  rsaPublicKey: ['RSA-SHA256', 'RSA-SHA1'],
} as const satisfies Record<string, readonly SignatureMethod[]>;

/** The id of a client (RFC 6749 §A.1). Basic ends the id at the first colon (RFC 7617 §2). */
const clientIdForm = /^[\x20-\x39\x3b-\x7e]{1,128}$/;
/** The secret of a client (RFC 6749 §A.2). */
const clientSecretForm = /^[\x20-\x7e]+$/;
/** The maximum length of the key of a consumer, in bytes of UTF-8. */
const maxConsumerKeyLength = 128;

/** The registration of a client of OAuth 2.0 under an id, with all defaults. */
export type ClientRegistration = Omit<Client, 'id'>;
/** The registration of a consumer of OAuth 1.0a under a key, with all defaults. */
export type ConsumerRegistration = Omit<Consumer, 'key'>;

/** The forms of a registered secret: a string, or an object with the plain text, its SHA-256 in base64url, or its scrypt hash. */
type SecretForm = 'text' | 'plain' | 'sha256' | 'scrypt';

/**
 * Returns the registered clients of OAuth 2.0 by id. Throws RangeError, with the id, if one is invalid.
 * @param scopes the scopes that exist. A client has those beside `read` and `write` by default, if there are some
 * @param documented the scopes of a partner's document, which a client has by default, if there are some
 */
export function readClients(
  registered: RegisteredBy<ClientDeclaration>,
  scopes: readonly Scope[] = knownScopes,
  documented: readonly Scope[] = [],
): ReadonlyMap<string, Client> {
  const secretForms = ['text', 'plain', 'sha256', 'scrypt'] as const;
  const clients = readRegistered(
    registered,
    describeClients({ secretForms, scopes, isDated: true, ...(documented.length > 0 && { documented }) }),
    'client',
  );
  return new Map(clients.map(([id, client]) => [id, { id, ...client }]));
}

/** Returns the registered consumers of OAuth 1.0a by key. Throws RangeError, with the key, if one is invalid. */
export function readConsumers(registered: RegisteredBy<ConsumerDeclaration>): ReadonlyMap<string, Consumer> {
  const consumers = readRegistered(registered, describeConsumers({ isDated: true }), 'consumer');
  return new Map(consumers.map(([key, consumer]) => [key, { key, ...consumer }]));
}

/** Reads registrations by name. Throws RangeError with the first fault. */
function readRegistered<T>(
  registered: RegisteredBy<unknown>,
  shape: Shape<Readonly<Record<string, T>>>,
  one: string,
): readonly (readonly [name: string, registration: T])[] {
  const read = shape.read(Object.fromEntries(listRegistered(registered)));
  if ('value' in read) return Object.entries(read.value);
  const [fault] = read.faults;
  if (fault === undefined) return [];
  const [name, ...path] = fault.path;
  throw new RangeError(faultLine({ ...fault, path }, `the ${one} ${JSON.stringify(name)}`));
}

/** Returns the message of a fault, without a full stop. `owner` is the client or consumer. */
function faultLine(fault: ShapeFault, owner: string): string {
  const what = fault.path.length === 0 ? owner : `${formatPath(fault.path)} of ${owner}`;
  return `${what} ${describeFault(fault)}`;
}

/** The clients that a shape describes. */
interface ClientRules {
  /** The forms of their secrets. */
  readonly secretForms: readonly SecretForm[];
  /** The scopes that exist; undefined if that is not known, so that any can be registered. */
  readonly scopes?: readonly Scope[] | undefined;
  /** The scopes of a client without any. Default: those that exist beside `read` and `write`, if there are some, or `read`. */
  readonly documented?: readonly Scope[];
  /** Whether they have the time of their registration, which a configuration file does not contain. Default: false. */
  readonly isDated?: boolean;
}

/** Describes clients of OAuth 2.0 by id. They are read with all defaults. */
export function describeClients(rules: ClientRules): Shape<Readonly<Record<string, ClientRegistration>>> {
  const further = rules.scopes?.filter((scope) => !isKnownScope(scope)) ?? [];
  const defaultScopes = rules.documented ?? (further.length > 0 ? further : (['read'] as const));
  const client = convert(
    describeClient(rules),
    ({
      secret,
      redirectUris = [],
      grants = grantTypes.slice(0, 2),
      scopes = defaultScopes,
      users = [],
      ...others
    }) => ({ secret, redirectUris, grants, scopes, users, ...others }),
  );
  return mapOf(client, 'clients of OAuth 2.0 by id', {
    names: { type: 'string', pattern: clientIdForm.source },
    checkName: (id, path) =>
      clientIdForm.test(id)
        ? []
        : [createFault(path, 'needs an id of 1 to 128 printable ASCII characters without a colon')],
  });
}

/**
 * Describes consumers of OAuth 1.0a by key. They are read with all defaults.
 * @param rules.isDated as for clients
 */
export function describeConsumers({
  isDated = false,
}: Pick<ClientRules, 'isDated'> = {}): Shape<Readonly<Record<string, ConsumerRegistration>>> {
  const consumer = convert(
    describeConsumer(isDated),
    ({
      secret,
      rsaPublicKey,
      callbacks = [],
      methods = defaultMethods[secret === undefined ? 'rsaPublicKey' : 'secret'],
      scopes = ['read'],
      users = [],
      plainHttp = false,
      ...others
    }) => ({ secret, rsaPublicKey, callbacks, methods, scopes, users, plainHttp, ...others }),
  );
  return mapOf(consumer, 'consumers of OAuth 1.0a by key', {
    names: { minLength: 1, maxLength: maxConsumerKeyLength },
    checkName: (key, path) => (isConsumerKey(key) ? [] : [createFault(path, consumerKeyFault)]),
  });
}

const consumerKeyFault = `needs a key of 1 to ${maxConsumerKeyLength} bytes without control characters`;

function isConsumerKey(key: string): boolean {
  const bytes = Buffer.byteLength(key);
  return bytes >= 1 && bytes <= maxConsumerKeyLength && !hasControlCharacter(key) && !hasLoneSurrogate(key);
}

/** The time of a registration in milliseconds since 1970-01-01T00:00:00Z. */
const since = optional(number({ whole: false }));

const filled = 'a text of at least one character';
const isObject = { expected: 'an object' };

/** Describes a list of known words, which are read in the order in which they are known. */
function describeWords<const Word extends string>(
  known: readonly Word[],
  description: string,
  schema: JsonSchema = {},
): Shape<readonly Word[]> {
  const isKnown = (value: string): value is Word => known.some((word) => word === value);
  const item = textLike({ enum: known }, isKnown, () => `is not one of ${known.join(', ')}`, {
    min: 1,
    expected: filled,
  });
  const list = listOf(item, description, { expected: 'a list', schema });
  return convert(list, (given) => known.filter((word) => given.includes(word)));
}

/** Describes a list of texts. `findFault` returns the predicate of the message about one that is invalid. */
function describeTexts(
  description: string,
  findFault: (text: string) => string | undefined,
  schema: JsonSchema = {},
): Shape<readonly string[]> {
  const item = refine(
    text(undefined, { min: 1, expected: filled }),
    (value, path) => {
      const fault = findFault(value);
      return fault === undefined ? [] : [createFault(path, fault)];
    },
    schema,
  );
  return listOf(item, description, { expected: 'a list' });
}

/** Describes permitted scopes: some of those that exist, or any if that is not known. */
function describeScopes(scopes: readonly Scope[] | undefined): Shape<readonly Scope[]> {
  const [description, schema] = ['permitted scopes', { default: ['read'] }] as const;
  if (scopes !== undefined) return describeWords(scopes, description, schema);
  return describeTexts(
    description,
    (scope) => (isScope(scope) ? undefined : 'is not a scope of printable ASCII characters without spaces'),
    { pattern: scopePattern },
  );
}

const lifetime = optional(seconds({ min: 1, max: 31_536_000 }));

/** Describes a public key of a client (RFC 7517 §4). */
const jwkShape = refine(mapOf(anything), (jwk, path) => keyFaults(jwk, path), { required: ['kty'] });

/** Returns the fault of a public key: PEM, or a JWK. It contains nothing of the key. */
function keyFaults(key: unknown, path: ShapePath): readonly ShapeFault[] {
  try {
    const weakness = keyWeakness(parsePublicKey(key, 'the key'));
    return weakness === undefined ? [] : [createFault(path, weakness)];
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    return [createFault(path, message.replace(/^the key /, ''))];
  }
}

/** Describes the members of a client's registration. */
function describeClientMembers(secretForms: readonly SecretForm[], scopes: readonly Scope[] | undefined) {
  return {
    secret: optional(describeSecret(secretForms)),
    redirectUris: optional(describeTexts('redirect URIs, compared exactly', redirectUriFault)),
    grants: optional(describeWords(grantTypes, 'permitted grants', { default: grantTypes.slice(0, 2) })),
    scopes: optional(describeScopes(scopes)),
    users: optional(describeUsers('users whose resources client_credentials can access; * for all')),
    lifetimes: optional(object({ access: lifetime, refresh: lifetime }, 'lifetimes of its tokens')),
    postLogoutRedirectUris: optional(
      describeTexts('URIs after a logout, compared exactly', redirectUriFault),
    ),
    jwks: optional(
      object({ keys: listOf(jwkShape, 'public keys (RFC 7517)', { min: 1 }) }, 'keys that sign assertions'),
    ),
    publicKey: optional(
      refine(
        text('the key that signs assertions, PEM (SPKI)', { min: 1, expected: filled, isSecret: true }),
        (pem, path) => keyFaults(pem, path),
      ),
    ),
  } satisfies ShapesOf<Omit<ClientDeclaration, 'since'>>;
}

/** Describes the users for whom a client or consumer can act on its own behalf. */
function describeUsers(description: string): Shape<'*' | readonly string[]> {
  const names = describeTexts(
    'names of users',
    (name) => (name === '*' ? 'is only allowed alone, not in a list' : undefined),
    { not: { const: '*' } },
  );
  return either(word(['*'], undefined, '* or a list'), names, description);
}

/** Describes the registration of a client. */
function describeClient({ secretForms, scopes, isDated = false }: ClientRules) {
  const members = describeClientMembers(secretForms, scopes);
  return refine(
    object(isDated ? { ...members, since } : members, undefined, isObject),
    ({ secret, jwks, publicKey, grants = [] }, path) =>
      (secret ?? jwks ?? publicKey) === undefined && grants.includes('client_credentials')
        ? [createFault(path, 'has no secret, and so cannot have the grant client_credentials')]
        : [],
    requireOneIf('grants', { const: 'client_credentials' }, ['secret', 'jwks', 'publicKey']),
  );
}

/** Describes the secret of a client in one of these forms. */
function describeSecret(forms: readonly SecretForm[]): Shape<ClientSecret> {
  const expected = forms.includes('text') ? 'a text of printable ASCII characters' : 'a digest of a secret';
  return {
    schema: {
      description: 'the secret; none for a public client',
      type: 'string',
      pattern: clientSecretForm.source,
    },
    expected,
    read(value, path = []) {
      const secret = parseSecret(value, forms);
      return secret === undefined ? { faults: [{ path, kind: 'secret', expected }] } : { value: secret };
    },
  };
}

function parseSecret(value: unknown, forms: readonly SecretForm[]): ClientSecret | undefined {
  const isPlain = (text: string): boolean => clientSecretForm.test(text);
  if (typeof value === 'string' && forms.includes('text'))
    return isPlain(value) ? { plain: value } : undefined;
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const [[form, text] = [], ...more] = entries;
  if (typeof text !== 'string' || more.length > 0 || !forms.some((each) => each === form)) return undefined;
  if (form === 'plain' && isPlain(text)) return { plain: text };
  // SHA-256 in base64url.
  if (form === 'sha256' && /^[A-Za-z0-9_-]{43}$/.test(text)) return { sha256: text };
  return form === 'scrypt' && text.startsWith('scrypt$') ? { scrypt: text } : undefined;
}

const consumerMembers = {
  secret: optional(text('the consumer secret', { min: 1, expected: filled, isSecret: true })),
  rsaPublicKey: optional(
    refine(
      text('the public key for the methods with RSA, PEM (SPKI)', {
        min: 1,
        expected: filled,
        isSecret: true,
      }),
      (pem, path) => {
        const fault = rsaKeyFault(pem);
        return fault === undefined ? [] : [createFault(path, fault)];
      },
    ),
  ),
  callbacks: optional(
    describeTexts('callback URIs, compared exactly; oob: the user enters the verifier', callbackFault),
  ),
  methods: optional(describeWords(oauth1Methods, 'permitted signature methods')),
  scopes: optional(describeScopes(knownScopes)),
  users: optional(describeUsers('users whose resources the consumer can access without a token; * for all')),
  plainHttp: optional(flag('whether signed requests are accepted over plain HTTP')),
} satisfies ShapesOf<Omit<ConsumerDeclaration, 'since'>>;

/** Describes the registration of a consumer. */
function describeConsumer(isDated: boolean) {
  return refine(
    object(isDated ? { ...consumerMembers, since } : consumerMembers, undefined, isObject),
    ({ secret, rsaPublicKey, methods = [] }, path) => {
      const hasNone = secret === undefined && rsaPublicKey === undefined;
      const first = hasNone ? [createFault(path, 'has neither a secret nor an RSA key')] : [];
      const others = methods.flatMap((method) => {
        const needed = isRsaMethod(method) ? rsaPublicKey : secret;
        const name = isRsaMethod(method) ? 'rsaPublicKey' : 'secret';
        return needed === undefined
          ? [createFault([...path, 'methods'], `have ${method}, and there is no ${name}`)]
          : [];
      });
      return [...first, ...others];
    },
    {
      anyOf: [{ required: ['secret'] }, { required: ['rsaPublicKey'] }],
      allOf: [
        requireIf('methods', { enum: Object.keys(rsaMethods) }, ['rsaPublicKey']),
        requireIf('methods', { enum: Object.keys(secretMethods) }, ['secret']),
      ],
    },
  );
}

/**
 * Returns a schema that requires members if another one is an array with such an item. `minItems` is for ajv 8.20, which needs it.
 */
function requireIf(member: string, item: JsonSchema, required: readonly string[]): JsonSchema {
  const contains = { type: 'array', minItems: 1, contains: item };
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { if: { required: [member], properties: { [member]: contains } }, then: { required } };
}

/** Returns a schema that requires one of these members if another one is an array with such an item. */
function requireOneIf(member: string, item: JsonSchema, names: readonly string[]): JsonSchema {
  const anyOf = names.map((name) => ({ required: [name] }));
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { ...requireIf(member, item, []), then: { anyOf } };
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
