/** The schemas of items and pages, as src/formats/ writes and reads them. */
import type { Attribute, Content, Field, Schema, Shape } from '../../schema/schema.ts';
import { type Components, pascalCase } from './components.ts';
import type { JsonSchema } from './document.ts';
import { buildSimpleSchema } from './simple-schema.ts';

/** References to the schemas of a collection. */
export interface ItemSchemas {
  readonly item: JsonSchema;
  /** The content of a POST to an item, in which every field may be omitted. */
  readonly change: JsonSchema;
  readonly page: JsonSchema;
}

type Properties = Readonly<Record<string, JsonSchema>>;

/** The highest number of items of a page. */
const maxItems = 500;

/** Adds the schemas of a collection to the components. */
export function addItemSchemas(
  { element, item, schema }: Shape,
  showId: boolean,
  components: Components,
): ItemSchemas {
  const name = pascalCase(item);
  const xml = { name: item };
  const properties = fieldProperties(schema, components);
  const required = listRequired(schema.fields);
  const href: JsonSchema = { type: 'string', description: 'the path of the item', xml: { attribute: true } };
  const id: JsonSchema = { type: 'string', description: 'the id of the item, in JSON', readOnly: true };
  const shown: Properties = showId ? { id, href: { ...href, readOnly: true }, ...properties } : properties;
  const listed = components.add('schemas', `Listed${name}`, {
    ...buildObject({ href, ...shown }, ['href', ...required]),
    xml,
  });
  return {
    item: components.add('schemas', name, { ...buildObject(shown, required), xml }),
    change: components.add('schemas', `${name}Change`, { ...buildObject(properties, []), xml }),
    page: components.add('schemas', element === item ? `${name}Page` : pascalCase(element), {
      ...buildObject({ [element]: { type: 'array', maxItems, items: listed } }, [element]),
      xml: { name: element },
    }),
  };
}

function fieldProperties({ fields }: Schema, components: Components): Properties {
  return Object.fromEntries(
    fields.map((field) => {
      const schema = fieldSchema(field, components);
      const { readOnly, default: missing } = field;
      const keywords = { ...(readOnly && { readOnly }), ...(missing !== undefined && { default: missing }) };
      return [field.name, { ...schema, ...keywords }];
    }),
  );
}

/** Returns the schema of a field. In JSON, attributes are members beside its fields, or beside its `value`. */
function fieldSchema(field: Field, components: Components): JsonSchema {
  const { content, attributes } = field;
  const ofAttributes = attributeProperties(attributes, components);
  if (content.kind === 'element') {
    const properties = { ...fieldProperties(content.schema, components), ...ofAttributes };
    return buildObject(properties, [...listRequired(content.schema.fields), ...listRequired(attributes)]);
  }
  if (attributes.length === 0) return contentSchema(content, components, { wrapped: true });
  const value = contentSchema(content, components, {});
  return buildObject({ value, ...ofAttributes }, ['value', ...listRequired(attributes)]);
}

/**
 * Returns the schema of a value or list.
 * @param xml how XML represents a list: in an element of its own, or in that of the field
 */
function contentSchema(
  content: Exclude<Content, { kind: 'element' }>,
  components: Components,
  xml: { readonly wrapped?: true },
): JsonSchema {
  if (content.kind === 'list') {
    const items = { ...fieldSchema(content.of, components) };
    return {
      type: 'array',
      items: { ...items, xml: { ...readXml(items), name: content.of.name } },
      ...(content.minItems > 0 && { minItems: content.minItems }),
      ...(content.maxItems !== undefined && { maxItems: content.maxItems }),
      ...(xml.wrapped && { xml }),
    };
  }
  const schema = buildSimpleSchema(content, components);
  // The XML Object of OpenAPI 3.1 has no text beside attributes; that of 3.2 has `nodeType`.
  return xml.wrapped ? schema : { ...schema, xml: { 'x-nodeType': 'text' } };
}

function readXml({ xml }: JsonSchema): object {
  return typeof xml === 'object' && xml !== null ? xml : {};
}

function attributeProperties(attributes: readonly Attribute[], components: Components): Properties {
  return Object.fromEntries(
    attributes.map(({ name, content }) => [
      name,
      { ...buildSimpleSchema(content, components), xml: { attribute: true } },
    ]),
  );
}

function listRequired(declared: readonly (Field | Attribute)[]): string[] {
  return declared.filter(({ required }) => required).map(({ name }) => name);
}

function buildObject(properties: Properties, required: readonly string[]): JsonSchema {
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}
