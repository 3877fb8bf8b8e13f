import { flag, listOf, number, object, optional, text } from '../../../shape/shape.ts';
import { anyObject } from '../content.ts';
import { createListing } from '../listing.ts';
import { type Controlled, createBareOperation, type Operation, operation } from '../operation.ts';

/** The maximum number of tokens in a list. */
const maxTokens = 1000;
/** The maximum number of items of a page. */
const maxItems = 100;

/** The operations that list accounts, tokens, collections and items. No response contains a secret or a token's value. */
export function listingOperations({ core }: Pick<Controlled, 'core'>): readonly Operation[] {
  const listing = createListing(core);
  const list = (name: string, shape: typeof user | typeof record | typeof token) =>
    ({ method: 'GET', path: `/${name}`, returns: object({ [name]: listOf(shape) }).schema }) as const;
  return [
    createBareOperation({
      ...list('users', user),
      id: 'users',
      summary: 'Lists the users and their keys, without secrets',
      run: () => ({ users: listing.users() }),
    }),
    createBareOperation({
      ...list('clients', record),
      id: 'clients',
      summary: 'Lists the clients of OAuth 2.0, without secrets',
      run: () => ({ clients: listing.clients() }),
    }),
    createBareOperation({
      ...list('consumers', record),
      id: 'consumers',
      summary: 'Lists the consumers of OAuth 1.0a, without secrets',
      run: () => ({ consumers: listing.consumers() }),
    }),
    createBareOperation({
      ...list('tokens', token),
      id: 'tokens',
      summary: 'Lists the tokens by fingerprint, oldest first',
      description: `At most the latest ${maxTokens}. A ticket that is live belongs to a consent page whose answer is pending.`,
      run: async () => ({ tokens: await listing.tokens(maxTokens) }),
    }),
    createBareOperation({
      ...list('collections', record),
      id: 'collections',
      summary: 'Lists the collections with their fields and access rules',
      run: () => ({ collections: listing.collections() }),
    }),
    operation({
      method: 'POST',
      path: '/items',
      id: 'items',
      returns: itemsSchema,
      summary: 'Lists the items of a collection in both formats, in the order of their creation',
      description: 'The access rules of the collection do not apply.',
      accepts: object({
        collection: text('the path of the collection, such as /users/ann/notes'),
        after: optional(number({ min: 0 }, 'the sequence number of the item before the first')),
        limit: optional(number({ min: 1, max: maxItems }, `default: ${maxItems}`)),
      }),
      run: ({ collection, after = 0, limit = maxItems }) => listing.items(collection, after, limit),
    }),
  ];
}

const time = (of: string) => number({ whole: false }, `${of}, in ms since 1970-01-01T00:00:00Z`);

const user = object({
  name: text(),
  disabled: flag(),
  password: flag('whether the user has a password'),
  secrets: listOf(object({ until: optional(time('end of a former secret')) }), 'newest first'),
  keys: listOf(object({ id: text(), algorithm: text(), until: optional(time('expiry')) })),
});

const record = anyObject();

const token = object({
  fingerprint: text('SHA-256 of the token’s value, in base64url'),
  mechanism: text('oauth1 or oauth2'),
  kind: text(),
  client: text(),
  user: optional(text()),
  scopes: listOf(text()),
  issued: time('time of issue'),
  expires: time('expiry'),
  live: flag('whether it is neither used nor expired, and its grant neither revoked nor ended'),
  used: flag(),
  grant: optional(object({ id: text(), ends: time('end'), revoked: flag() })),
});

const itemsSchema = object({
  items: listOf(
    object({
      id: text(),
      path: text(),
      sequence: number({}),
      revision: number({}),
      modified: time('last change'),
      xml: text(),
      json: text(),
      tags: object({ xml: text(), json: text() }, 'entity tags'),
    }),
  ),
  more: flag('whether there are further items'),
  revision: number({}, 'revision of the collection'),
}).schema;
