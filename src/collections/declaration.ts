import { createHash } from 'node:crypto';
import { didYouMean } from '../did-you-mean.ts';
import { once } from '../once.ts';
import {
  accessMemberFault,
  accessRules,
  formatItemOwner,
  ownerParameter,
  scopeInRule,
} from '../pipeline/access-rule.ts';
import { type CorsDeclaration, readCors } from '../pipeline/cors-policy.ts';
import type { Access, DocumentFormat } from '../pipeline/resource.ts';
import { describeKind } from '../shape/fault.ts';
import { anything, mapOf } from '../shape/shape.ts';
import type { StoredRecord, StoredValue, UniqueRules } from '../store/store.ts';
import {
  type AccessRules,
  accessWords,
  type CollectionDeclaration,
  collectionShape,
  type IdempotencyMode,
  segmentForm,
} from './declaration-shape.ts';
import { DeclarationError, readDeclared } from './fields/error.ts';
import { checkPatternCosts } from './fields/pattern/cost.ts';
import { readMember } from './fields/record.ts';
import { compileShape, type Field, type Shape as ItemShape, type Schema } from './fields/schema.ts';
import type { SimpleTypeName } from './fields/simple-type.ts';
import { JsonContent } from './formats/json/content.ts';
import { toJsonNode } from './formats/json/value.ts';
import { ValidationErrors } from './formats/validation-errors.ts';

export type { AccessRules, CollectionDeclaration, CollectionMethod } from './declaration-shape.ts';

import { compileListRules } from './lists/rules.ts';
import { describeMissing, listReferences, parseReference } from './reference-fields.ts';

export { DeclarationError } from './fields/error.ts';
export type { FieldDeclaration } from './fields/field.ts';
export type { Shape } from './fields/schema.ts';

/** The rule that permits the user who created the item. */
const ownerRule = 'owner';

/** Marks collections, so that no other object has their type. */
const collectionBrand: unique symbol = Symbol('collection');

/** The access rules of a collection and of its items. */
export interface CollectionAccess {
  readonly GET: Access;
  readonly HEAD: Access;
  /** The rule of POST on the collection, which creates an item. */
  readonly POST: Access;
  /** The rule of POST on an item, which changes it. */
  readonly change: Access;
  /** The rule of PUT on an item that may or may not exist. */
  readonly PUT: Access;
  readonly putNew: Access;
  readonly putExisting: Access;
  readonly DELETE: Access;
}

/** A compiled collection. */
export interface Collection {
  readonly [collectionBrand]: true;
  /** The path template: `/users/{username}/financialrecords`. @internal */
  readonly path: string;
  /** @internal */
  readonly shape: ItemShape;
  /** A short identifier of the declaration, which is part of every entity tag. @internal */
  readonly form: string;
  /** The lists of fields in which no two items have the same values; undefined if there are none. @internal */
  readonly unique: UniqueRules | undefined;
  /** @internal */
  readonly access: CollectionAccess;
  /** @internal */
  readonly createWithPut: boolean;
  /** The names of the authentication schemes that it accepts; undefined for all. @internal */
  readonly schemes: readonly string[] | undefined;
  /** The fields by which clients may select the items of its list. @internal */
  readonly filter: readonly string[];
  /** The fields by which clients may sort its list, with a leading `-` if only in descending order. @internal */
  readonly sort: readonly string[];
  /** The format of responses to clients that accept both; undefined for that of the service. @internal */
  readonly defaultFormat: DocumentFormat | undefined;
  /** The other origins that may use it; undefined for those of the service. @internal */
  readonly cors: CorsDeclaration | undefined;
  /** @internal */
  readonly idempotency: IdempotencyMode;
  /** @internal */
  readonly requirePrecondition: boolean;
  /** Whether items have PATCH with a merge patch. @internal */
  readonly patch: boolean;
  /** Whether items do not exist for users who may not read them. @internal */
  readonly hide: boolean;
  /** Whether items in JSON have their id and path. @internal */
  readonly showId: boolean;
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
  const declared = readDeclared(collectionShape, declaration, at);
  const { element, item, fields, unique, filter = [], sort = [] } = declared;
  const shape = compileShape(element, item, fields, at);
  checkPatternCosts(shape.root, `${at}.fields`);
  if (declared.showId && shape.schema.byName.has('id'))
    throw new DeclarationError(
      'clash',
      `${at}.fields.id`,
      'the name is reserved with showId: it is the id of an item',
    );
  compileListRules({ path, shape, filter, sort });
  return {
    [collectionBrand]: true,
    path,
    shape,
    form: computeForm([
      element,
      item,
      fields,
      ...(declared.showId ? ['id'] : []),
      ...(unique === undefined ? [] : [unique]),
    ]),
    unique: compileUnique(shape.schema, unique, at),
    access: compileAccess(declared.access ?? {}, { parameters, shape }, `${at}.access`),
    createWithPut: declared.createWithPut ?? true,
    schemes: declared.schemes,
    filter,
    sort,
    defaultFormat: declared.defaultFormat,
    cors: declared.cors === undefined ? undefined : checkCors(declared.cors, `${at}.cors`),
    idempotency: declared.idempotency ?? 'off',
    requirePrecondition: declared.requirePrecondition ?? false,
    patch: declared.patch ?? false,
    hide: declared.hide ?? false,
    showId: declared.showId ?? false,
  };
}

function checkCors(source: unknown, path: string): CorsDeclaration {
  return readCors(source, (at, fault) => new DeclarationError('value', `${path}${at}`, fault));
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
  return Object.entries(readDeclared(mapOf(anything), declarations, 'collections')).map(
    ([path, declaration]) => {
      const collection = readCollection(path, declaration);
      const form = path.replace(/\{[^{}]*\}/g, '{}');
      const other = paths.get(form);
      if (other !== undefined)
        throw new DeclarationError('clash', `collections.${path}`, `is the same path as ${other}`);
      paths.set(form, path);
      return collection;
    },
  );
}

/**
 * Decodes an item of the seed by the same rules as an item from a client.
 * @param path the position in the configuration: `seed./articles[0]`
 * @throws {DeclarationError} for the first field that violates a rule
 */
export function decodeSeed(collection: Collection, item: unknown, path: string): StoredRecord {
  const errors = new ValidationErrors();
  const value = new JsonContent(errors, () => undefined, 'seed').item(
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
  const ids = listReferences(collection.shape).map(({ field, to }): [string, StoredValue][] => {
    const sent = readMember(value, field);
    if (typeof sent !== 'string') return [];
    const id = parseReference(sent, to);
    if (id === undefined) throw new DeclarationError('seed', `${path}.${field}`, describeMissing(to, sent));
    return [[field, id]];
  });
  return ids.length === 0 ? value : { ...value, ...Object.fromEntries(ids.flat()) };
}

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

/** The types of which equal values are stored as equal text. */
const uniqueTypes: readonly SimpleTypeName[] = [
  'text',
  'decimal',
  'integer',
  'date',
  'currency',
  'reference',
];

/**
 * Compiles `unique` of the fields and of a collection.
 * @param together the names of the fields that are unique together
 * @param path the position of the collection in the configuration
 * @throws {DeclarationError} for a field that does not exist, or whose values are not compared
 */
function compileUnique(
  schema: Schema,
  together: readonly string[] | undefined,
  path: string,
): UniqueRules | undefined {
  const alone = schema.fields.filter(({ unique }) => unique);
  for (const field of alone) checkUniqueField(field, `${path}.fields.${field.name}.unique`);
  for (const [at, name] of (together ?? []).entries()) {
    const known = schema.fields.map((field) => field.name);
    const field = schema.byName.get(name);
    const position = `${path}.unique[${at}]`;
    if (field === undefined)
      throw new DeclarationError('value', position, `"${name}" is not a field${didYouMean(name, known)}`);
    checkUniqueField(field, position);
  }
  const rules = [...alone.map(({ name }) => [name]), ...(together === undefined ? [] : [together])];
  return rules.length === 0 ? undefined : rules;
}

function checkUniqueField({ content, attributes, set }: Field, path: string): void {
  const comparable = content.kind === 'simple' && uniqueTypes.includes(content.type);
  if (comparable && attributes.length === 0 && set !== 'id') return;
  const reason =
    set === 'id' ? 'the id is unique' : `unique is for ${uniqueTypes.join(', ')} without attributes`;
  throw new DeclarationError('value', path, reason);
}

/** What the rules of a collection can name. */
interface AccessContext {
  /** The parameters of its path. */
  readonly parameters: ReadonlySet<string>;
  readonly shape: ItemShape;
}

function compileAccess(
  declared: Readonly<Partial<Record<keyof AccessRules, string | readonly string[]>>>,
  context: AccessContext,
  path: string,
): Collection['access'] {
  const compile = (key: keyof AccessRules): Access | undefined => {
    const rule = declared[key];
    return rule === undefined ? undefined : checkAccess(rule, context, `${path}.${key}`);
  };
  const [read, write] = [compile('read') ?? 'nobody', compile('write') ?? 'nobody'];
  const [create, change] = [compile('create') ?? write, compile('change') ?? write];
  const [get, put, post] = [compile('GET') ?? read, compile('PUT'), compile('POST')];
  return {
    GET: get,
    HEAD: compile('HEAD') ?? get,
    POST: post ?? create,
    change: post ?? change,
    PUT: put ?? mergeAccess(create, change),
    putNew: put ?? create,
    putExisting: put ?? change,
    DELETE: compile('DELETE') ?? change,
  };
}

/** Returns the rule that permits everyone whom one of two rules permits. */
function mergeAccess(one: Access, other: Access): Access {
  if (other === 'nobody') return one;
  if (one === 'nobody') return other;
  for (const wide of ['anyone', 'authenticated'] as const) if (one === wide || other === wide) return wide;
  const rules: readonly (string | readonly string[])[] = [one, other];
  return one === other ? one : [...new Set(rules.flat())];
}

function checkAccess(declared: string | readonly string[], context: AccessContext, path: string): Access {
  if (typeof declared !== 'string')
    return declared.map((member, at) => checkAccessMember(member, context, `${path}[${at}]`));
  const rule = accessRules.find((each) => each === declared);
  if (rule !== undefined) return rule;
  const isNamed = declared === ownerRule || declared.includes(':');
  if (!isNamed)
    throw new DeclarationError(
      'access',
      path,
      `"${declared}" is not known${didYouMean(declared, accessWords)}`,
    );
  const compiled = checkAccessMember(declared, context, path);
  const parameter = ownerParameter(compiled);
  if (parameter !== undefined) return `owner:${parameter}`;
  const scope = scopeInRule(compiled);
  return scope === undefined ? [compiled] : `scope:${scope}`;
}

/** Returns a member of a list of rules in its compiled form. */
function checkAccessMember(member: string, { parameters, shape }: AccessContext, path: string): string {
  const field = member === ownerRule ? findCreator(shape, path) : ownerParameter(member);
  const isField =
    field !== undefined && !parameters.has(field) && isOwnerField(shape.schema.byName.get(field));
  if (isField) return formatItemOwner(field);
  const names = [...parameters, ...shape.schema.fields.filter(isOwnerField).map(({ name }) => name)];
  const fault = accessMemberFault(member, names);
  if (fault !== undefined) throw new DeclarationError('access', path, fault);
  return member;
}

/** Returns the name of the field that has the creator of an item. */
function findCreator({ schema }: ItemShape, path: string): string {
  const field = schema.fields.find(({ set }) => set === 'creator');
  if (field !== undefined) return field.name;
  throw new DeclarationError('access', path, `"${ownerRule}" requires a field with "set": "creator"`);
}

/** Returns whether a field can name the user to whom an item belongs. */
function isOwnerField(field: Field | undefined): boolean {
  return field?.content.kind === 'simple' && field.content.type === 'text' && field.attributes.length === 0;
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

/** Returns the collections that are served by default. They are read once. */
export const defaultCollections = once((): readonly Collection[] => readCollections(defaultDeclarations));
