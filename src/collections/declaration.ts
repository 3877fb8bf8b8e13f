import { createHash } from 'node:crypto';
import { didYouMean } from '../did-you-mean.ts';
import { JsonContent } from '../formats/json/content.ts';
import { toJsonNode } from '../formats/json/value.ts';
import { ValidationErrors } from '../formats/validation-errors.ts';
import { accessMemberFault, accessRules, ownerParameter, parameterFault } from '../pipeline/access-rule.ts';
import { type CorsDeclaration, readCors } from '../pipeline/cors/policy.ts';
import type { Access, DocumentFormat } from '../pipeline/resource.ts';
import {
  DeclarationError,
  type Members,
  readFlag,
  readMembers,
  readText,
  refuseUnknown,
} from '../schema/error.ts';
import type { Declarations, FieldDeclaration } from '../schema/field.ts';
import { checkPatternCosts } from '../schema/pattern/cost.ts';
import { compileShape, type Shape } from '../schema/schema.ts';
import { describeKind } from '../shape/fault.ts';
import type { StoredRecord } from '../store/store.ts';
import type { IdempotencyMode } from './idempotency-key.ts';
import { fieldNamesFrom, readListRules } from './lists/rules.ts';

export { DeclarationError } from '../schema/error.ts';
export type { FieldDeclaration } from '../schema/field.ts';
export type { Shape } from '../schema/schema.ts';

/** The methods of collections and items. */
export type CollectionMethod = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';

/** The access rules. A method's own rule takes precedence over `read` and `write`. Default: `nobody`. */
export interface AccessRules extends Partial<Record<CollectionMethod, Access>> {
  /** GET and HEAD. */
  readonly read?: Access;
  /** PUT, POST and DELETE. */
  readonly write?: Access;
}

/** The declaration of a collection in a configuration. */
export interface CollectionDeclaration {
  /** The element name of the collection: `articles`. */
  readonly element: string;
  /** The element name of an item: `article`. */
  readonly item: string;
  /** The fields of an item, in the order in which they are written. */
  readonly fields: Declarations<FieldDeclaration>;
  readonly access?: AccessRules;
  /** Whether PUT creates an item that does not exist. Default: true. */
  readonly createWithPut?: boolean;
  /** The names of the authentication schemes that it accepts: `['aws4']`. Default: all. */
  readonly schemes?: readonly string[];
  /**
   * The fields by which clients may select items of the list: `['title', 'price']` enables the query parameters `title`, `price`,
   * `price.min`, `price.max` and, for an attribute, `price.currency`. Default: none.
   */
  readonly filter?: readonly string[];
  /**
   * The fields by which clients may sort the list: with `['price', '-modified']`, the values `price`, `-price` (descending) and
   * `-modified` of the query parameter `sort`. `modified` is the time of the last change. Default: none.
   */
  readonly sort?: readonly string[];
  /** The format of responses to clients that accept both. Default: that of the service. */
  readonly defaultFormat?: DocumentFormat;
  /** The other origins whose pages may use it in browsers: `["https://app.example"]`. Default: those of the service. */
  readonly cors?: CorsDeclaration;
  /**
   * Whether a request with an Idempotency-Key can be repeated: then it is performed once. With `required`, POST must have a key.
   * Default: `off`.
   */
  readonly idempotency?: IdempotencyMode;
  /** Whether PUT, POST and DELETE of an item require a precondition, such as If-Match. Default: false. */
  readonly requirePrecondition?: boolean;
}

/** A compiled collection. */
export interface Collection {
  /** The path template: `/users/{username}/financialrecords`. */
  readonly path: string;
  readonly shape: Shape;
  /** A short identifier of the declaration, which is part of every entity tag. */
  readonly form: string;
  /** The access rule of every method. */
  readonly access: Readonly<Record<CollectionMethod, Access>>;
  readonly createWithPut: boolean;
  /** The names of the authentication schemes that it accepts; undefined for all. */
  readonly schemes: readonly string[] | undefined;
  /** The fields by which clients may select the items of its list. */
  readonly filter: readonly string[];
  /** The fields by which clients may sort its list, with a leading `-` if only in descending order. */
  readonly sort: readonly string[];
  /** The format of responses to clients that accept both; undefined for that of the service. */
  readonly defaultFormat: DocumentFormat | undefined;
  /** The other origins that may use it; undefined for those of the service. */
  readonly cors: CorsDeclaration | undefined;
  readonly idempotency: IdempotencyMode;
  readonly requirePrecondition: boolean;
}

/**
 * Compiles the declaration of a collection.
 * @param path the path template: segments with a leading slash, each a literal or a `{parameter}`
 * @throws {DeclarationError} for an invalid declaration, with its path in `collections`
 * @example
 * const notes = defineCollection('/notes', {
 *   element: 'notes',
 *   item: 'note',
 *   fields: { text: { type: 'text', required: true, maxLength: 1000 } },
 *   access: { read: 'anyone', write: 'authenticated' },
 * });
 * const service = createService({ collections: [notes] });
 */
export function defineCollection(path: string, declaration: CollectionDeclaration): Collection {
  return readCollection(path, declaration);
}

/**
 * Compiles the declaration of a collection from unchecked input.
 * @throws {DeclarationError} for an invalid declaration
 */
export function readCollection(path: string, declaration: unknown): Collection {
  if (typeof path !== 'string')
    throw new DeclarationError('path', 'collections', `a path must be a string, is ${describeKind(path)}`);
  const at = `collections.${path}`;
  const parameters = parseParameters(path, at);
  const members = readMembers(declaration, at);
  refuseUnknown(members, collectionKeys, at, 'is not a key of a collection');
  const element = readText(members.get('element'), `${at}.element`);
  const item = readText(members.get('item'), `${at}.item`);
  const shape = compileShape(element, item, members.get('fields'), at);
  checkPatternCosts(shape.root, `${at}.fields`);
  const filter = fieldNamesFrom(members.get('filter'), `${at}.filter`);
  const sort = fieldNamesFrom(members.get('sort'), `${at}.sort`);
  readListRules({ path, shape, filter, sort });
  return {
    path,
    shape,
    form: computeForm([element, item, members.get('fields')]),
    access: readAccess(members.get('access'), parameters, `${at}.access`),
    createWithPut: readFlag(members.get('createWithPut'), `${at}.createWithPut`, true),
    schemes: schemesFrom(members.get('schemes'), `${at}.schemes`),
    filter,
    sort,
    defaultFormat: formatFrom(members.get('defaultFormat'), `${at}.defaultFormat`),
    cors: corsFrom(members.get('cors'), `${at}.cors`),
    idempotency: idempotencyFrom(members.get('idempotency'), `${at}.idempotency`),
    requirePrecondition: readFlag(members.get('requirePrecondition'), `${at}.requirePrecondition`),
  };
}

const collectionKeys = [
  'element',
  'item',
  'fields',
  'access',
  'createWithPut',
  'schemes',
  'cors',
  'filter',
  'sort',
  'defaultFormat',
  'idempotency',
  'requirePrecondition',
];

function idempotencyFrom(source: unknown, path: string): IdempotencyMode {
  if (source === undefined) return 'off';
  if (source === 'off' || source === 'accepted' || source === 'required') return source;
  throw new DeclarationError('value', path, 'must be "off", "accepted" or "required"');
}

function corsFrom(source: unknown, path: string): CorsDeclaration | undefined {
  if (source === undefined) return undefined;
  return readCors(source, (at, fault) => new DeclarationError('value', `${path}${at}`, fault));
}

function formatFrom(source: unknown, path: string): DocumentFormat | undefined {
  if (source === undefined || source === 'xml' || source === 'json') return source;
  if (typeof source !== 'string')
    throw new DeclarationError('type', path, `must be xml or json, is ${describeKind(source)}`);
  throw new DeclarationError('value', path, `"${source}" is not known${didYouMean(source, ['xml', 'json'])}`);
}

/** Reads the names of schemes. Whether they are configured is checked when the service is created. */
function schemesFrom(source: unknown, path: string): readonly string[] | undefined {
  if (source === undefined) return undefined;
  if (!Array.isArray(source) || source.length === 0)
    throw new DeclarationError('type', path, 'must be a list of at least one name of a scheme');
  return namesFrom(source, path);
}

/**
 * Hashes a declaration. A different declaration can change how an item is written, and therefore its entity
 * tag.
 */
function computeForm(declared: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(declared)).digest('hex').slice(0, 6);
}

/**
 * Compiles all collections of a configuration.
 * @throws {DeclarationError} for an invalid declaration, and for two paths that differ only in parameter
 * names
 */
export function readCollections(declarations: unknown): Collection[] {
  const paths = new Map<string, string>();
  return [...readMembers(declarations, 'collections')].map(([path, declaration]) => {
    const collection = readCollection(path, declaration);
    const form = path.replace(/\{[^}]*\}/g, '{}');
    const other = paths.get(form);
    if (other !== undefined)
      throw new DeclarationError('clash', `collections.${path}`, `is the same path as ${other}`);
    paths.set(form, path);
    return collection;
  });
}

/**
 * Decodes an item of the seed by the same rules as an item from a client.
 * @param path the position in the configuration: `seed./articles[0]`
 * @throws {DeclarationError} for the first field that violates a rule
 */
export function decodeSeed(collection: Collection, item: unknown, path: string): StoredRecord {
  const errors = new ValidationErrors();
  const value = new JsonContent(errors, () => undefined).item(
    collection.shape,
    toJsonNode(item, path),
    false,
  );
  const [first] = errors.found;
  if (first !== undefined) {
    const at = first.rule === 'root' ? path : `${path}.${first.field}`;
    throw new DeclarationError('seed', at, first.detail);
  }
  if (value === undefined) throw new Error('an item without errors has a value');
  return value;
}

/** A segment of a path template: pchar (RFC 3986 §3.3), or a parameter as a whole segment. */
export const segmentForm = /^(?:\{([A-Za-z][A-Za-z0-9_]*)\}|(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-F]{2})+)$/;

/** Returns the parameter names of a path template. */
function parseParameters(path: string, at: string): ReadonlySet<string> {
  if (!path.startsWith('/')) throw new DeclarationError('path', at, 'must begin with a slash');
  const names = new Set<string>();
  for (const segment of path.slice(1).split('/')) {
    const form = segmentForm.exec(segment);
    if (form === null || segment === '.' || segment === '..') throw segmentError(segment, at);
    const name = form[1];
    if (name === undefined) continue;
    if (names.has(name)) throw new DeclarationError('path', at, `has the parameter ${name} twice`);
    names.add(name);
  }
  return names;
}

function segmentError(segment: string, at: string): DeclarationError {
  if (segment === '') return new DeclarationError('path', at, 'has an empty segment or a trailing slash');
  const forms = 'a sequence of pchar (RFC 3986, §3.3) or a parameter such as {name}';
  return new DeclarationError('path', at, `has the segment "${segment}", which is not ${forms}`);
}

/** The methods that have an access rule. */
const methodNames = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'] as const;
/** The members of `access`. */
export const accessKeys = ['read', 'write', ...methodNames] as const;
const accessWords = [...accessRules, 'owner:PARAMETER'];

function readAccess(source: unknown, parameters: ReadonlySet<string>, path: string): Collection['access'] {
  const members: Members = source === undefined ? new Map() : readMembers(source, path);
  refuseUnknown(members, accessKeys, path, 'is not a method, read or write');
  const readDeclared = (key: (typeof accessKeys)[number]): Access | undefined =>
    members.has(key) ? accessFrom(members.get(key), parameters, `${path}.${key}`) : undefined;
  const [read, write] = [readDeclared('read') ?? 'nobody', readDeclared('write') ?? 'nobody'];
  const get = readDeclared('GET') ?? read;
  return {
    GET: get,
    HEAD: readDeclared('HEAD') ?? get,
    PUT: readDeclared('PUT') ?? write,
    POST: readDeclared('POST') ?? write,
    DELETE: readDeclared('DELETE') ?? write,
  };
}

function accessFrom(source: unknown, parameters: ReadonlySet<string>, path: string): Access {
  if (Array.isArray(source)) return accessListFrom(source, parameters, path);
  const rule = accessRules.find((each) => each === source);
  if (rule !== undefined) return rule;
  if (typeof source !== 'string') {
    const must = `must be one of ${accessWords.join(', ')}, or a list of user names`;
    throw new DeclarationError('access', path, `${must}; is ${describeKind(source)}`);
  }
  const parameter = ownerParameter(source);
  if (parameter === undefined)
    throw new DeclarationError('access', path, `"${source}" is not known${didYouMean(source, accessWords)}`);
  if (parameters.has(parameter)) return `owner:${parameter}`;
  throw new DeclarationError('access', path, parameterFault(parameter, [...parameters]));
}

function accessListFrom(
  source: readonly unknown[],
  parameters: ReadonlySet<string>,
  path: string,
): readonly string[] {
  const members = namesFrom(source, path);
  members.forEach((member, at) => {
    const fault = accessMemberFault(member, [...parameters]);
    if (fault !== undefined) throw new DeclarationError('access', `${path}[${at}]`, fault);
  });
  return members;
}

function namesFrom(source: readonly unknown[], path: string): readonly string[] {
  const names = source.map((name, at) => readText(name, `${path}[${at}]`));
  names.forEach((name, at) => {
    if (names.indexOf(name) < at)
      throw new DeclarationError('access', `${path}[${at}]`, `${name} is listed twice`);
  });
  return names;
}

/** The declarations of the default collections. */
export const defaultDeclarations: Readonly<Record<string, CollectionDeclaration>> = {
  '/articles': {
    element: 'articles',
    item: 'article',
    fields: {
      title: { type: 'text', required: true },
      price: {
        type: 'decimal',
        fractionDigits: 2,
        required: true,
        attributes: { currency: { type: 'currency', required: true } },
      },
    },
    access: { read: 'anyone', write: 'authenticated' },
    createWithPut: true,
  },
  '/users/{username}/financialrecords': {
    element: 'financialrecords',
    item: 'record',
    fields: {
      date: { type: 'date' },
      description: { type: 'text' },
      amount: { type: 'decimal', fractionDigits: 2, attributes: { currency: { type: 'currency' } } },
    },
    access: { read: 'owner:username', write: 'nobody' },
  },
};

/** Returns the collections that are served by default. */
export function defaultCollections(): readonly Collection[] {
  return readCollections(defaultDeclarations);
}
