import type { ClientDeclaration, ConsumerDeclaration } from '../../accounts/registered.ts';
import {
  clientIdForm,
  clientSecretForm,
  grantTypes,
  maxConsumerKeyLength,
  signatureMethods,
} from '../../accounts/registration.ts';
import { isAsymmetric, keyAlgorithms, maxKeyIdLength } from '../../auth/parse-account-key.ts';
import { schemeNameForm } from '../../auth/scheme-limits.ts';
import { maxUserNameLength } from '../../auth/user-name.ts';
import { knownScopes } from '../../principal.ts';
import type { ConfiguredUser } from '../users.ts';
import {
  arrayOf,
  definition,
  described,
  type JsonSchema,
  type MembersOf,
  mapOf,
  objectOf,
  text,
  textOfForm,
  word,
} from './json-schema.ts';

// The readers limit names in bytes of UTF-8, of which a name has at least as many as characters.
const userNames = described('1 to 128 bytes, no colon and no control characters', {
  minLength: 1,
  maxLength: maxUserNameLength,
  pattern: '^[^:\\u0000-\\u001f\\u007f-\\u009f]*$',
});

const until = described('expiry time in milliseconds since 1970-01-01T00:00:00Z', { type: 'number' });
const secret = described('the shared secret', text);

const key: JsonSchema = {
  oneOf: [
    objectOf(
      {
        algorithm: word(keyAlgorithms.filter(isAsymmetric)),
        publicKey: described('PEM (SPKI), or a JWK (RFC 7517)', {
          anyOf: [text, { type: 'object', required: ['kty'] }],
        }),
        until,
      },
      ['algorithm', 'publicKey'],
    ),
    objectOf(
      {
        algorithm: word(keyAlgorithms.filter((name) => !isAsymmetric(name))),
        secret,
        passphrase: described('a second secret, which is sent beside the signature', text),
        until,
      },
      ['algorithm', 'secret'],
    ),
  ],
};

const userMembers: MembersOf<ConfiguredUser> = {
  secret: described('the secret that signs requests', text),
  password: described('the password of HTTP Basic', text),
  keys: described(
    'keys of signature schemes, by id',
    mapOf(
      { minLength: 1, maxLength: maxKeyIdLength, pattern: '^[^\\s"\\\\,\\u0000-\\u001f\\u007f-\\u009f]*$' },
      key,
    ),
  ),
  quota: definition('quota'),
  schemes: described(
    'names of the schemes with which the user can authenticate; default: all',
    arrayOf(textOfForm(schemeNameForm)),
  ),
};

/** The schema of `users`: each has a secret or a key. */
export const usersSchema = described(
  'users by name',
  mapOf(userNames, {
    ...objectOf(userMembers),
    anyOf: [{ required: ['secret'] }, { required: ['keys'], properties: { keys: { minProperties: 1 } } }],
  }),
);

const scopes = described('permitted scopes', arrayOf(word(knownScopes), { default: ['read'] }));

const clientMembers: MembersOf<Omit<ClientDeclaration, 'since'>> = {
  secret: described('the secret; none for a public client', textOfForm(clientSecretForm)),
  redirectUris: described('redirect URIs, compared exactly', arrayOf(text)),
  grants: described('permitted grants', arrayOf(word(grantTypes), { default: grantTypes.slice(0, 2) })),
  scopes,
  users: described('users whose resources client_credentials can access; * for all', {
    anyOf: [{ const: '*' }, arrayOf({ ...text, not: { const: '*' } })],
  }),
};

/** The schema of `clients`. */
export const clientsSchema = described(
  'clients of OAuth 2.0 by id',
  mapOf(textOfForm(clientIdForm), {
    ...objectOf(clientMembers),
    if: contains('grants', { const: 'client_credentials' }),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['secret'] },
  }),
);

const consumerMembers: MembersOf<Omit<ConsumerDeclaration, 'since'>> = {
  secret: described('the consumer secret', text),
  rsaPublicKey: described('the public key for RSA-SHA1, PEM (SPKI)', text),
  callbacks: described('callback URIs, compared exactly; oob: the user enters the verifier', arrayOf(text)),
  methods: described('permitted signature methods', arrayOf(word(signatureMethods))),
  scopes,
};

/** The schema of `consumers`. */
export const consumersSchema = described(
  'consumers of OAuth 1.0a by key',
  mapOf(
    { minLength: 1, maxLength: maxConsumerKeyLength },
    {
      ...objectOf(consumerMembers),
      anyOf: [{ required: ['secret'] }, { required: ['rsaPublicKey'] }],
      allOf: [
        ifContains('methods', { const: 'RSA-SHA1' }, ['rsaPublicKey']),
        ifContains('methods', word(signatureMethods.filter((name) => name !== 'RSA-SHA1')), ['secret']),
      ],
    },
  ),
);

/** Returns a schema that matches if a member is an array with such an item. `minItems` is for ajv 8.20, which needs it. */
function contains(member: string, item: JsonSchema): JsonSchema {
  return { required: [member], properties: { [member]: { type: 'array', minItems: 1, contains: item } } };
}

function ifContains(member: string, item: JsonSchema, required: readonly string[]): JsonSchema {
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { if: contains(member, item), then: { required } };
}
