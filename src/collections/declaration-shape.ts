import { accessRules } from '../pipeline/access-rule.ts';
import { type CorsDeclaration, corsShape, originsShape } from '../pipeline/cors-policy.ts';
import { type Access, type DocumentFormat, documentFormats } from '../pipeline/resource.ts';
import { scopePattern } from '../principal.ts';
import {
  addKeywords,
  described,
  flag,
  type JsonSchema,
  mapOf,
  object,
  optional,
  recursive,
  type ShapesOf,
  text,
  textLike,
  uniqueListOf,
  variants,
  word,
} from '../shape/shape.ts';
import { type Declarations, type FieldDeclaration, fieldDefinitions, fieldsShape } from './fields/field.ts';

/** Whether clients of a collection may repeat their requests with the same Idempotency-Key, or must send one with POST. */
export type IdempotencyMode = (typeof idempotencyModes)[number];

/** The modes, in the order of documents. */
const idempotencyModes = ['off', 'accepted', 'required'] as const;

/** Returns whether a text is a mode. */
function isIdempotencyMode(text: string): text is IdempotencyMode {
  return idempotencyModes.some((mode) => mode === text);
}

/** The methods of collections and items. */
export type CollectionMethod = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';

/** The access rules. A method's own rule takes precedence over `create` and `change`, and these over `write`. Default: `nobody`. */
export interface AccessRules extends Partial<Record<CollectionMethod, Access>> {
  /** GET and HEAD. */
  readonly read?: Access;
  /** PUT, POST and DELETE. */
  readonly write?: Access;
  /** POST on the collection, and PUT of an item that does not exist. Default: `write`. */
  readonly create?: Access;
  /** PUT, POST and DELETE of an item that exists. Default: `write`. */
  readonly change?: Access;
}

/** The declaration of a collection in a configuration. */
export interface CollectionDeclaration {
  /** The element name of the collection: `articles`. */
  readonly element: string;
  /** The element name of an item: `article`. */
  readonly item: string;
  /** The fields of an item, in the order in which they are written. */
  readonly fields: Declarations<FieldDeclaration>;
  /** Who may read and write. Default: nobody. */
  readonly access?: AccessRules | undefined;
  /** Whether PUT creates an item that does not exist. Default: true. */
  readonly createWithPut?: boolean | undefined;
  /** The fields in which no two items have the same values: `['sku', 'shop']`. Default: those that are `unique` by themselves. */
  readonly unique?: readonly string[] | undefined;
  /** The names of the authentication schemes that it accepts: `['aws4']`. Default: all. */
  readonly schemes?: readonly string[] | undefined;
  /**
   * The fields by which clients may select items of the list: `['title', 'price']` enables the query parameters `title`, `price`,
   * `price.min`, `price.max` and, for an attribute, `price.currency`. Default: none.
   */
  readonly filter?: readonly string[] | undefined;
  /**
   * The fields by which clients may sort the list: with `['price', '-modified']`, the values `price`, `-price` (descending) and
   * `-modified` of the query parameter `sort`. `modified` is the time of the last change. Default: none.
   */
  readonly sort?: readonly string[] | undefined;
  /** The format of responses to clients that accept both. Default: that of the service. */
  readonly defaultFormat?: DocumentFormat | undefined;
  /** The other origins whose pages may use it in browsers: `["https://app.example"]`. Default: those of the service. */
  readonly cors?: CorsDeclaration | undefined;
  /**
   * Whether a request with an Idempotency-Key can be repeated: then it is performed once. With `required`, POST must have a key.
   * Default: `off`.
   */
  readonly idempotency?: IdempotencyMode | undefined;
  /** Whether PUT, POST and DELETE of an item require a precondition, such as If-Match. Default: false. */
  readonly requirePrecondition?: boolean | undefined;
  /** Whether PATCH changes an item by a merge patch in JSON (RFC 7396), in which null removes a field. Default: false. */
  readonly patch?: boolean | undefined;
  /** Whether an item does not exist for users who may not read it: 404 in place of 403. Default: false. */
  readonly hide?: boolean | undefined;
  /** Whether items in JSON begin with the members `id` and `href`, which is the path. Default: false; items of lists have `href`. */
  readonly showId?: boolean | undefined;
}

/** The access rules, as in messages. */
export const accessWords = [
  ...accessRules,
  'owner',
  'owner:PARAMETER',
  'owner:FIELD',
  'role:NAME',
  'scope:NAME',
];

const fieldName = addKeywords(text(undefined, { expected: 'the name of a field' }), { minLength: 1 });
const nonEmpty = { min: 1, expected: 'non-empty text' };
const name = text(undefined, nonEmpty);

// Whether a rule exists, and the path has its parameter, is checked when it is compiled.
const rule = text(undefined, { expected: `one of ${accessWords.join(', ')}, or a list of user names` });
const userNames = uniqueListOf(name, undefined, { code: 'access' });
const ruleOrNames = variants<string | readonly string[]>([rule, userNames], (value) =>
  Array.isArray(value) ? userNames : rule,
);

const accessSchema: JsonSchema = {
  anyOf: [
    { enum: [...accessRules, 'owner'] },
    { type: 'string', pattern: '^owner:[^:]+$' },
    { type: 'string', pattern: '^role:[A-Za-z][A-Za-z0-9._-]{0,63}$' },
    { type: 'string', pattern: `^scope:${scopePattern.slice(1)}` },
    userNames.schema,
  ],
};

const accessRule = optional(recursive('access', () => ruleOrNames));

/** Describes the declaration of a collection. */
export const collectionShape = object(
  {
    element: text('the element name of the collection', nonEmpty),
    item: text('the element name of an item', nonEmpty),
    fields: recursive('fields', () => fieldsShape),
    access: optional(
      object(
        {
          read: accessRule,
          write: accessRule,
          GET: accessRule,
          HEAD: accessRule,
          PUT: accessRule,
          POST: accessRule,
          DELETE: accessRule,
          create: accessRule,
          change: accessRule,
        } satisfies ShapesOf<AccessRules>,
        'access rules; the rule of a method takes precedence over create and change, and these over write',
        { member: 'a method, read, write, create or change' },
      ),
    ),
    createWithPut: optional(
      addKeywords(flag('whether PUT creates an item that does not exist'), { default: true }),
    ),
    unique: optional(
      uniqueListOf(fieldName, 'fields in which no two items have the same values', {
        min: 1,
        expected: 'a list of at least one name of a field',
      }),
    ),
    schemes: optional(
      uniqueListOf(name, 'names of the authentication schemes that it accepts; by default all', {
        min: 1,
        expected: 'a list of at least one name of a scheme',
        code: 'access',
      }),
    ),
    filter: optional(
      uniqueListOf(fieldName, 'fields by which clients may select items', {
        expected: 'a list of names of fields',
      }),
    ),
    sort: optional(
      uniqueListOf(fieldName, 'fields by which clients may sort the list', {
        expected: 'a list of names of fields',
      }),
    ),
    defaultFormat: optional(
      word(
        documentFormats,
        'format of responses to clients that accept both; by default that of the service',
        'xml or json',
      ),
    ),
    idempotency: optional(
      textLike(
        {
          enum: idempotencyModes,
          description: 'whether requests with an Idempotency-Key can be repeated',
          default: 'off',
        },
        isIdempotencyMode,
        () => 'must be "off", "accepted" or "required"',
      ),
    ),
    requirePrecondition: optional(
      addKeywords(flag('whether changes of an item require a precondition, such as If-Match'), {
        default: false,
      }),
    ),
    patch: optional(
      addKeywords(flag('whether PATCH changes an item by a JSON Merge Patch'), { default: false }),
    ),
    hide: optional(
      addKeywords(flag('whether an item does not exist for users who may not read it'), { default: false }),
    ),
    showId: optional(addKeywords(flag('whether items in JSON have their id and path'), { default: false })),
    cors: optional(
      described(() => ({
        description: 'other origins whose pages may use it; by default those of the service',
        anyOf: [originsShape.schema, corsShape.schema],
      })),
    ),
  } satisfies ShapesOf<CollectionDeclaration>,
  undefined,
  { member: 'a key of a collection' },
);

/** A segment of a path template: pchar (RFC 3986 §3.3), or a parameter as a whole segment. */
export const segmentForm = /^(?:\{([A-Za-z][A-Za-z0-9_]*)\}|(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-F]{2})+)$/;

const segment = `(?:${segmentForm.source.slice(1, -1)})`;

/** Returns the JSON Schema of collections by path. It refers to `collectionDefinitions()`. */
export function collectionsSchema(): JsonSchema {
  return mapOf(collectionShape, 'collections by path template, such as /users/{name}/notes', {
    names: { pattern: `^(?:/${segment})+$` },
  }).schema;
}

/** Returns the definitions to which the schema of collections refers. */
export function collectionDefinitions(): Readonly<Record<string, JsonSchema>> {
  return { ...fieldDefinitions(), access: accessSchema };
}
