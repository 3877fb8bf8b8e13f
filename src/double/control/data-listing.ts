import type { Collection } from '../../collections/declaration.ts';
import { formats } from '../../formats/index.ts';
import { formatEntityTag, revisionTag } from '../../http/headers/entity-tag.ts';
import { decodeText, encodeSegment, fillTemplate } from '../../http/syntax/percent.ts';
import { formatRule } from '../../pipeline/access-rule.ts';
import type { Access } from '../../pipeline/resource.ts';
import { createRouter } from '../../pipeline/router.ts';
import type { ServerValue } from '../../schema/field.ts';
import type { Attribute, Content, Field, ListContent } from '../../schema/schema.ts';
import type { Simple } from '../../schema/simple-type.ts';
import type { StoredItem } from '../../store/store.ts';
import type { Core } from '../compose.ts';

/** A field of an item. `rules` are the options of its declaration, such as `maxLength`. */
interface ListedField {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly rules: Readonly<Record<string, unknown>>;
  readonly readOnly?: boolean;
  /** What the server sets it to. */
  readonly set?: ServerValue;
  readonly unique?: boolean;
  /** The value if it is not sent. */
  readonly default?: string | number | boolean;
  readonly attributes?: readonly ListedField[];
  /** The fields of an element, or the values of a list. */
  readonly fields?: readonly ListedField[];
}

/** The maximum number of bytes of a page of items. */
const pageBytes = 1024 * 1024;

/** Returns the collections with their fields and access rules. */
export function listCollections({ routes }: Core): readonly object[] {
  return routes.state.collections.map(
    ({ path, shape, access, unique, createWithPut, schemes, hide, showId }) => ({
      path,
      element: shape.element,
      item: shape.item,
      access: Object.fromEntries(
        Object.entries(access).map(([method, rule]) => [method, formatAccess(rule)]),
      ),
      createWithPut,
      ...(unique !== undefined && { unique }),
      ...(hide && { hide }),
      ...(showId && { showId }),
      ...(schemes !== undefined && { schemes }),
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
export async function listItems({ routes, store }: Core, path: string, after: number, limit: number) {
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

function toListedField(field: Field): ListedField {
  const { name, required, readOnly, set, unique, default: missing, content, attributes } = field;
  const fields = fieldsIn(content);
  return {
    name,
    required,
    ...describeType(content),
    ...(readOnly && { readOnly }),
    ...(set !== undefined && { set }),
    ...(unique && { unique }),
    ...(missing !== undefined && { default: missing }),
    ...(attributes.length > 0 && { attributes: attributes.map(toListedAttribute) }),
    ...(fields !== undefined && { fields }),
  };
}

function toListedAttribute({ name, required, content }: Attribute): ListedField {
  return { name, required, ...describeType(content) };
}

function fieldsIn(content: Content): readonly ListedField[] | undefined {
  if (content.kind === 'simple') return undefined;
  return content.kind === 'list' ? [toListedField(content.of)] : content.schema.fields.map(toListedField);
}

function describeType(content: Content): Pick<ListedField, 'type' | 'rules'> {
  if (content.kind === 'simple') return { type: content.type, rules: describeRules(content) };
  return { type: content.kind, rules: content.kind === 'list' ? describeCount(content) : {} };
}

function describeCount({ minItems, maxItems }: ListContent) {
  return { ...(minItems > 0 && { minItems }), ...(maxItems !== undefined && { maxItems }) };
}

function describeRules(simple: Simple) {
  const { type, fractionDigits, minLength, maxLength, format, pattern, oneOf } = simple;
  const { min, max, exclusiveMin, exclusiveMax } = simple;
  return {
    ...(type === 'decimal' && { fractionDigits }),
    ...(minLength !== undefined && { minLength }),
    ...(maxLength !== undefined && { maxLength }),
    ...(format !== undefined && { format }),
    ...(pattern !== undefined && { pattern: pattern.source }),
    ...(oneOf !== undefined && { enum: [...oneOf] }),
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...(exclusiveMin !== undefined && { exclusiveMin }),
    ...(exclusiveMax !== undefined && { exclusiveMax }),
    ...simple.reference,
  };
}
