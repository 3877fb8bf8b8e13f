import { escapeAttribute, escapeText } from '../../../src/xml/writer.ts';

type Json = Readonly<Record<string, unknown>>;

/** Writes a value as XML by the XML Objects of its schema (OpenAPI 3.1, with `x-nodeType` as in OpenAPI 3.2). */
export function writeXml(document: unknown, schema: unknown, name: string, value: unknown): string {
  const resolved = resolve(document, schema);
  const own = toObject(resolved['xml']);
  const element = typeof own['name'] === 'string' ? own['name'] : name;
  const { attributes, content } = writeContent(document, resolved, value);
  return `<${element}${attributes}>${content}</${element}>`;
}

function writeContent(
  document: unknown,
  schema: Json,
  value: unknown,
): { attributes: string; content: string } {
  if (Array.isArray(value)) {
    const items = value.map((each) => writeXml(document, schema['items'], 'item', each));
    return { attributes: '', content: items.join('') };
  }
  if (typeof value !== 'object' || value === null)
    return { attributes: '', content: escapeText(String(value)) };
  const properties = toObject(schema['properties']);
  let attributes = '';
  let content = '';
  for (const [name, each] of Object.entries(value)) {
    const property = resolve(document, properties[name]);
    const { attribute, wrapped, 'x-nodeType': nodeType } = toObject(property['xml']);
    if (attribute === true) attributes += ` ${name}="${escapeAttribute(String(each))}"`;
    else if (nodeType === 'text') content += escapeText(String(each));
    else if (Array.isArray(each) && wrapped !== true)
      content += writeContent(document, property, each).content;
    else content += writeXml(document, { ...property, xml: {} }, name, each);
  }
  return { attributes, content };
}

/** Returns a schema, or the component that it refers to, with the members beside the reference. */
function resolve(document: unknown, schema: unknown): Json {
  const { $ref, ...others } = toObject(schema);
  if (typeof $ref !== 'string') return others;
  const target = $ref
    .slice(2)
    .split('/')
    .reduce<unknown>((inner, name) => toObject(inner)[name], document);
  return { ...toObject(target), ...others };
}

function toObject(value: unknown): Json {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
