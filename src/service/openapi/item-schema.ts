/** The schemas of items and pages, as src/collections/formats/ writes and reads them. */

import { formatEcmaPattern } from '../../collections/fields/pattern/ecma-syntax.ts';
import type { Attribute, Content, Field, Schema, Shape } from '../../collections/fields/schema.ts';
import {
  boundNames,
  bounds,
  currencies,
  type Simple,
  type SimpleTypeName,
} from '../../collections/fields/simple-type.ts';
import { type Components, type JsonSchema, pascalCase } from './document.ts';

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

/** Returns the schema of a field with a single value, in JSON. */
function buildSimpleSchema(simple: Simple, components: Components): JsonSchema {
  const { type, oneOf, minLength, maxLength, format, pattern, reference } = simple;
  if (oneOf !== undefined) return choiceSchema(simple, [...oneOf]);
  if (type === 'integer') return integerSchema(simple);
  if (type === 'json')
    return { description: `Any JSON value of at most ${maxLength} characters; in XML, its text` };
  return {
    ...(type === 'decimal' ? decimalSchema(simple.fractionDigits) : typeSchema(type, components)),
    ...(minLength !== undefined && { minLength }),
    ...(maxLength !== undefined && { maxLength }),
    ...(format !== undefined && { format }),
    ...(pattern !== undefined && { pattern: formatEcmaPattern(pattern.source) }),
    ...rangeDescription(simple),
    ...(reference !== undefined && {
      description: `The id of an item of ${reference.to}; requests can have its address`,
    }),
  };
}

/** Returns the schema of any value of a type, as text in a query. */
export function typeSchema(type: SimpleTypeName, components: Components): JsonSchema {
  switch (type) {
    case 'text':
    case 'reference':
      return { type: 'string' };
    case 'decimal':
      return decimalSchema(undefined);
    case 'integer':
      return integerSchema({});
    case 'boolean':
      return { type: 'boolean' };
    case 'date':
      return { type: 'string', format: 'date' };
    case 'dateTime':
      return { type: 'string', format: 'date-time' };
    case 'json':
      return {};
    case 'currency':
      return components.add('schemas', 'CurrencyCode', {
        type: 'string',
        description: 'An active currency code of ISO 4217',
        enum: [...currencies],
      });
  }
}

/** Returns the schema of a decimal: digits as text, so that no program converts them to a binary fraction. */
function decimalSchema(fractionDigits: number | undefined): JsonSchema {
  const fraction =
    fractionDigits === undefined
      ? '(?:\\.[0-9]+)?'
      : fractionDigits === 0
        ? ''
        : `\\.[0-9]{${fractionDigits}}`;
  // Negative zero is not a decimal.
  return {
    type: 'string',
    format: 'decimal',
    pattern: `^(?!-[0.]+$)-?(?:0|[1-9][0-9]*)${fraction}$`,
  };
}

/** The bounds of a simple type. */
type Bounds = Partial<Pick<Simple, (typeof boundNames)[number]>>;

function integerSchema({ min, max, exclusiveMin, exclusiveMax }: Bounds): JsonSchema {
  const { MIN_SAFE_INTEGER: least, MAX_SAFE_INTEGER: most } = Number;
  return {
    type: 'integer',
    minimum: Number(min ?? least),
    maximum: Number(max ?? most),
    ...(exclusiveMin !== undefined && { exclusiveMinimum: Number(exclusiveMin) }),
    ...(exclusiveMax !== undefined && { exclusiveMaximum: Number(exclusiveMax) }),
  };
}

function choiceSchema({ type }: Simple, choices: readonly string[]): JsonSchema {
  if (type === 'integer') return { type: 'integer', enum: choices.map(Number) };
  return { type: 'string', enum: choices };
}

/** JSON Schema has no range of texts, so a description contains it. */
function rangeDescription(simple: Bounds): JsonSchema {
  const described = boundNames.flatMap((name) =>
    simple[name] === undefined ? [] : [`${bounds[name].words} ${simple[name]}`],
  );
  return described.length === 0 ? {} : { description: described.join(', ') };
}
