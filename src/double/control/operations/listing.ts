import { toAccountRecord } from '../../../auth/user-declaration.ts';
import { type Grants, isLive } from '../../../oauth/grants.ts';
import { flag, listOf, number, object, optional, type ReadBy, text } from '../../../shape/shape.ts';
import { listNames } from '../../compose.ts';
import { anyObject } from '../content.ts';
import { listCollections, listItems } from '../data-listing.ts';
import { type Controlled, type Operation, operation, requireMemory } from '../operation.ts';

/** The maximum number of tokens in a list. */
const maxTokens = 1000;
/** The maximum number of items of a page. */
const maxItems = 100;

/** The operations that list accounts, tokens, collections and items, and add collections. No response contains a secret or a token's value. */
export function listingOperations({ core }: Pick<Controlled, 'core'>): readonly Operation[] {
  const { clients, consumers, grants } = core.service.oauth;
  return [
    operation('GET', '/users', 'users', {
      summary: 'Lists the users and their keys, without secrets',
      returns: object({ users: listOf(user) }),
      run: () => ({
        users: [...core.users.all].map(([name, declared]) => toListedUser(name, toAccountRecord(declared))),
      }),
    }),
    operation('GET', '/clients', 'clients', {
      summary: 'Lists the clients of OAuth 2.0, without secrets',
      returns: object({ clients: listOf(record) }),
      run: () => ({
        clients: findAll(core.options.clients, clients).map(({ secret, since: _, ...shown }) => ({
          ...shown,
          confidential: secret !== undefined,
        })),
      }),
    }),
    operation('GET', '/consumers', 'consumers', {
      summary: 'Lists the consumers of OAuth 1.0a, without secrets',
      returns: object({ consumers: listOf(record) }),
      run: () => ({
        consumers: findAll(core.options.consumers, consumers).map(
          ({ secret, rsaPublicKey, since: _, ...shown }) => ({
            ...shown,
            secret: secret !== undefined,
            rsa: rsaPublicKey !== undefined,
          }),
        ),
      }),
    }),
    operation('GET', '/tokens', 'tokens', {
      summary: 'Lists the tokens by fingerprint, oldest first',
      description: `At most the latest ${maxTokens}. A ticket that is live belongs to a consent page whose answer is pending.`,
      returns: object({ tokens: listOf(token) }),
      run: async () => ({ tokens: await listTokens(grants, core.time.clock.now()) }),
    }),
    operation('GET', '/collections', 'collections', {
      summary: 'Lists the collections with their fields and access rules',
      returns: object({ collections: listOf(record) }),
      run: () => ({ collections: listCollections(core) }),
    }),
    operation('POST', '/collections', 'addCollection', {
      summary: 'Adds or replaces a collection',
      description:
        'A server with a data directory serves it until a restart, keeps its items, and replaces none that it has.',
      errors: { 409: 'The server has a data directory and this collection.' },
      accepts: object({
        path: text('path template of the collection'),
        declaration: anyObject(
          'as in the configuration under collections: element, item, fields, access, createWithPut',
        ),
      }),
      run({ path, declaration }) {
        // The stored items are those of the declaration that they were checked against.
        if (core.routes.state.collections.some((each) => each.path === path)) requireMemory({ core });
        core.routes.collection(path, declaration);
      },
    }),
    operation('POST', '/items', 'items', {
      summary: 'Lists the items of a collection in both formats, in the order of their creation',
      description: 'The access rules of the collection do not apply.',
      returns: page,
      accepts: object({
        collection: text('the path of the collection, such as /users/ann/notes'),
        after: optional(number({ min: 0 }, 'the sequence number of the item before the first')),
        limit: optional(number({ min: 1, max: maxItems }, `default: ${maxItems}`)),
      }),
      run: ({ collection, after = 0, limit = maxItems }) => listItems(core, collection, after, limit),
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

const page = object({
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
});

/** Returns the registered clients or consumers that are declared. */
function findAll<Registered>(
  declared: Parameters<typeof listNames>[0],
  registry: { find(id: string): Registered | undefined },
): Registered[] {
  return [...listNames(declared)].flatMap((id) => registry.find(id) ?? []);
}

function toListedUser(
  name: string,
  { disabled = false, password, secrets, keys = {} }: ReturnType<typeof toAccountRecord>,
) {
  return {
    name,
    disabled,
    password: password !== undefined,
    secrets: secrets.map(({ until }) => ({ until })),
    keys: Object.entries(keys).map(([id, { algorithm, until }]) => ({ id, algorithm, until })),
  };
}

/** Returns the latest tokens, oldest first, by their fingerprints. */
async function listTokens(grants: Grants, now: number): Promise<ReadBy<typeof token>[]> {
  const listed: ReadBy<typeof token>[] = [];
  for await (const found of grants.all()) {
    const { digest, user: owner, details: _, grant: __, ...shown } = found.token;
    listed.push({
      ...shown,
      fingerprint: digest,
      live: isLive(found, now),
      ...(owner !== undefined && { user: owner }),
      ...(found.grant !== undefined && { grant: toGrant(found.grant) }),
    });
    if (listed.length > maxTokens) listed.shift();
  }
  return listed;
}

function toGrant({ id, ends, revoked }: { id: string; ends: number; revoked: boolean }) {
  return { id, ends, revoked };
}
