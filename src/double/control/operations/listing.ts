import { toAccountRecord } from '../../../accounts/user-declaration.ts';
import type { Collection } from '../../../collections/declaration.ts';
import type { Attribute, Content, Field } from '../../../collections/fields/schema.ts';
import type { Simple } from '../../../collections/fields/simple-type.ts';
import { formats } from '../../../collections/formats/index.ts';
import { formatEntityTag, revisionTag } from '../../../http/headers/entity-tag.ts';
import { decodeText, encodeSegment, fillTemplate } from '../../../http/syntax/percent.ts';
import { type Found, type Grants, isLive } from '../../../oauth/grants.ts';
import { formatRule } from '../../../pipeline/access-rule.ts';
import type { Access } from '../../../pipeline/resource.ts';
import { createRouter } from '../../../pipeline/router.ts';
import { flag, listOf, number, object, optional, text } from '../../../shape/shape.ts';
import type { StoredItem } from '../../../store/store.ts';
import { type Core, listNames } from '../../compose.ts';
import { anyObject } from '../content.ts';
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
async function listTokens(grants: Grants, now: number) {
  const listed: ReturnType<typeof toListedToken>[] = [];
  for await (const found of grants.all()) {
    listed.push(toListedToken(found, now));
    if (listed.length > maxTokens) listed.shift();
  }
  return listed;
}

function toListedToken(found: Found, now: number) {
  const { digest: fingerprint, details: _, grant: __, ...shown } = found.token;
  const grant = found.grant && { id: found.grant.id, ends: found.grant.ends, revoked: found.grant.revoked };
  return { ...shown, fingerprint, live: isLive(found, now), grant };
}

/** The maximum number of bytes of a page of items. */
const pageBytes = 1024 * 1024;

/** Returns the collections with their fields and access rules. */
function listCollections({ routes }: Core): readonly object[] {
  return routes.state.collections.map(
    ({ path, shape, access, unique, createWithPut, schemes, hide, showId }) => ({
      path,
      element: shape.element,
      item: shape.item,
      access: Object.fromEntries(
        Object.entries(access).map(([method, rule]) => [method, formatAccess(rule)]),
      ),
      createWithPut,
      unique,
      hide: hide || undefined,
      showId: showId || undefined,
      schemes,
      fields: shape.schema.fields.map(toListedField),
    }),
  );
}

/**
 * Returns the items of a collection in the order of their creation, regardless of permissions.
 * @param path the path of the collection, with all parameters replaced
 * @param after the sequence number of the item before the first
 * @throws RangeError if no collection has this path
 */
async function listItems({ routes, store }: Core, path: string, after: number, limit: number) {
  const { collection, name } = collectionAt(routes.state.collections, path);
  const { entries, more, revision } = await store.list(name, after, limit, pageBytes);
  const items = entries.map((entry) => toListedItem(collection, entry, name, store.storeId));
  return { items, more, revision };
}

/** Returns an access rule as it is declared. */
function formatAccess(access: Access): Access {
  return typeof access === 'string' ? access : access.map(formatRule);
}

/** Returns the collection at a path, and the name under which the store has its items. */
function collectionAt(collections: readonly Collection[], path: string) {
  const router = createRouter(collections.map((each) => ({ template: each.path, resource: {} })));
  const found = router.find(
    path
      .split('/')
      .slice(1)
      .map((segment) => decodeText(segment) ?? segment),
  );
  const collection = collections.find((each) => each.path === found?.template);
  if (collection === undefined || found === undefined)
    throw new RangeError(`there is no collection ${JSON.stringify(path)}`);
  return { collection, name: fillTemplate(collection.path, found.parameters) };
}

function toListedItem(
  { shape, form }: Collection,
  { id, sequence, revision, modified, value }: StoredItem,
  path: string,
  storeId: string,
) {
  const opaque = revisionTag(storeId, revision, form);
  const writeItem = (type: string) => {
    const format = formats.find(({ reads }) => reads === type);
    return { text: format?.writeItem(shape, value) ?? '', tag: formatEntityTag(`${opaque}.${format?.mark}`) };
  };
  const [xml, json] = [writeItem('application/xml'), writeItem('application/json')];
  return {
    id,
    path: `${path}/${encodeSegment(id)}`,
    sequence,
    revision,
    modified,
    xml: xml.text,
    json: json.text,
    tags: { xml: xml.tag, json: json.tag },
  };
}

/** Returns a field of an item, with the options of its declaration as `rules`. */
function toListedField(field: Field): object {
  const { name, required, readOnly, set, unique, default: missing, content, attributes } = field;
  return {
    name,
    required,
    ...describeType(content),
    readOnly: readOnly || undefined,
    set,
    unique: unique || undefined,
    default: missing,
    attributes: attributes.length === 0 ? undefined : attributes.map(toListedAttribute),
    fields: fieldsIn(content),
  };
}

function toListedAttribute({ name, required, content }: Attribute): object {
  return { name, required, ...describeType(content) };
}

/** Returns the fields of an element, or the values of a list. */
function fieldsIn(content: Content): readonly object[] | undefined {
  if (content.kind === 'simple') return undefined;
  return content.kind === 'list' ? [toListedField(content.of)] : content.schema.fields.map(toListedField);
}

function describeType(content: Content): object {
  if (content.kind === 'simple') return { type: content.type, rules: describeRules(content) };
  if (content.kind === 'element') return { type: content.kind, rules: {} };
  const { minItems, maxItems } = content;
  return { type: content.kind, rules: { minItems: minItems || undefined, maxItems } };
}

function describeRules(simple: Simple): object {
  const { type, fractionDigits, minLength, maxLength, format, pattern, oneOf } = simple;
  const { min, max, exclusiveMin, exclusiveMax } = simple;
  return {
    fractionDigits: type === 'decimal' ? fractionDigits : undefined,
    ...{ minLength, maxLength, format, pattern: pattern?.source, enum: oneOf && [...oneOf] },
    ...{ min, max, exclusiveMin, exclusiveMax },
    ...simple.reference,
  };
}
