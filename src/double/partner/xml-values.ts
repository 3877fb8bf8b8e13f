// Reads and writes values as XML, by the member `xml` of their schemas (OpenAPI 3.1, XML Object; `nodeType` is of 3.2).
import { withProblems } from '../../collections/formats/xml/decoder.ts';
import { Problem } from '../../http/problem.ts';
import type { JsonSchema } from '../../service/openapi/document.ts';
import { createParser } from '../../xml/parser.ts';
import { createWriter, XmlWriteError, type XmlWriter } from '../../xml/writer.ts';
import type { SchemaSource } from './document.ts';
import { isObject, type LocatedSchema, referenceOf } from './located.ts';
import type { SchemaChecker } from './schema-check.ts';
import { createConvertTexts } from './text-values.ts';

/** An element that has been read. */
interface Element {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: Element[];
  text: string;
}

/** How a value stands in XML. */
interface Place {
  readonly kind: 'element' | 'attribute' | 'text';
  /** The name of its element or attribute, without a prefix. */
  readonly name: string;
  readonly prefix: string | undefined;
  readonly namespace: string | undefined;
  /** Whether the items of a list are in an element of their own. */
  readonly isWrapped: boolean;
}

const nilNamespace = 'http://www.w3.org/2001/XMLSchema-instance';

/** What is known of schemas. */
type Source = Pick<SchemaSource, 'combine' | 'version'>;

/** Returns whether a media type is XML. */
export function isXml(essence: string): boolean {
  return /[/+]xml$/.test(essence);
}

/** Returns the place of a value of a schema. `usual` is its name unless the schema has another one. */
function placeOf(source: Source, schema: LocatedSchema | undefined, usual: string): Place {
  const found = source
    .combine(schema)
    .schemas.find(({ value }) => isObject(value['xml']) && !isIgnored(source, value));
  const { name, prefix, namespace, attribute, wrapped, nodeType } = toObject(found?.value['xml']);
  const isAttribute = attribute === true || nodeType === 'attribute';
  const isText = nodeType === 'text' || nodeType === 'cdata';
  return {
    kind: isAttribute ? 'attribute' : isText ? 'text' : 'element',
    name: typeof name === 'string' ? name : usual,
    prefix: typeof prefix === 'string' ? prefix : undefined,
    namespace: typeof namespace === 'string' ? namespace : undefined,
    isWrapped: wrapped === true || nodeType === 'element',
  };
}

/** Returns whether the members of a schema are ignored: those beside a reference in 3.0. */
function isIgnored({ version }: Source, value: JsonSchema): boolean {
  return version === '3.0' && referenceOf(value) !== undefined;
}

function toObject(value: unknown): JsonSchema {
  return isObject(value) ? value : {};
}

/** Returns the name of the root element: that of the schema, or of the component that it refers to. */
function rootName({ value }: LocatedSchema): string {
  return referenceOf(value)?.replace(/^.*[/#]/s, '') ?? 'root';
}

/** Returns the name of the items of a list. */
function itemPlace(source: Source, schema: LocatedSchema, own: Place, usual: string): Place {
  return placeOf(source, source.combine(schema).items, own.isWrapped ? own.name : usual);
}

function isList(source: Source, schema: LocatedSchema | undefined): schema is LocatedSchema {
  const { types } = source.combine(schema);
  return types.has('array') && !types.has('object');
}

/** Reads contents in XML. */
export type ReadXml = (content: Uint8Array | string, schema: LocatedSchema) => unknown;

/**
 * Creates the function that reads contents in XML as values of their schemas. It throws a Problem: 400 if one is malformed, 422 if its
 * root element has another name than that of the schema.
 */
export function createReadXml(source: Source, checker: SchemaChecker, maxDepth: number): ReadXml {
  const convert = createConvertTexts(source, checker);
  return (content, schema) => {
    const root = parseElements(typeof content === 'string' ? Buffer.from(content) : content, maxDepth);
    const { name } = placeOf(source, schema, root.name);
    if (root.name !== name)
      throw new Problem(
        'invalid-content',
        `The root element is ${root.name}, and must be ${name} (${schema.at}).`,
      );
    const structure = isList(source, schema)
      ? readItems(source, schema, root.children, rootName(schema), true)
      : readValue(source, schema, root);
    return convert(structure, schema);
  };
}

function parseElements(bytes: Uint8Array, maxDepth: number): Element {
  const document: Element = { name: '', attributes: new Map(), children: [], text: '' };
  const open = [document];
  const parser = createParser(
    {
      startElement(name, attributes) {
        const element: Element = {
          name: localName(name),
          attributes: new Map(attributes),
          children: [],
          text: '',
        };
        open.at(-1)?.children.push(element);
        open.push(element);
      },
      endElement: () => void open.pop(),
      text(data) {
        const element = open.at(-1);
        if (element !== undefined) element.text += data;
      },
    },
    { maxDepth, encoding: 'marked' },
  );
  withProblems(() => {
    parser.write(bytes);
    parser.end();
  });
  return document.children[0] ?? document;
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function isNil({ attributes }: Element): boolean {
  return [...attributes].some(([name, value]) => localName(name) === 'nil' && value === 'true');
}

function readValue(source: Source, schema: LocatedSchema | undefined, element: Element): unknown {
  if (isNil(element)) return null;
  const { types, properties, additional } = source.combine(schema);
  const isMembers = types.has('object') || properties.size > 0 || element.children.length > 0;
  if (!isMembers || (types.size > 0 && !types.has('object') && element.children.length === 0))
    return element.text;
  const members = new Map<string, unknown>();
  const known = new Set<string>();
  for (const [name, property] of properties) {
    const place = placeOf(source, property, name);
    const value = readMember(source, property, { name, place, element, known });
    if (value !== undefined) members.set(name, value);
  }
  for (const child of element.children)
    if (!known.has(child.name)) addTo(members, child.name, readValue(source, additional, child));
  return Object.fromEntries(members);
}

/** Adds a value to those of the same name. */
function addTo(members: Map<string, unknown>, name: string, value: unknown): void {
  const earlier = members.get(name);
  if (!members.has(name)) members.set(name, value);
  else members.set(name, Array.isArray(earlier) ? [...earlier, value] : [earlier, value]);
}

/** A member of an element that is read. */
interface Member {
  readonly name: string;
  readonly place: Place;
  readonly element: Element;
  /** The names of the elements that belong to members. */
  readonly known: Set<string>;
}

function readMember(source: Source, schema: LocatedSchema, { name, place, element, known }: Member): unknown {
  if (place.kind === 'text') return element.text;
  if (place.kind === 'attribute')
    return [...element.attributes].find(([each]) => localName(each) === place.name)?.[1];
  const isItems = isList(source, schema);
  const own = isItems && !place.isWrapped ? itemPlace(source, schema, place, name).name : place.name;
  known.add(own);
  const found = element.children.filter((child) => child.name === own);
  const [first, ...others] = found;
  if (first === undefined) return undefined;
  if (isItems && place.isWrapped) return readItems(source, schema, first.children, name, false);
  if (isItems) return found.map((child) => readValue(source, source.combine(schema).items, child));
  const value = readValue(source, schema, first);
  return others.length === 0 ? value : [value, ...others.map((each) => readValue(source, schema, each))];
}

/** Reads the items in the element of a list. Elements of other names stay objects, which the schema refuses. */
function readItems(
  source: Source,
  schema: LocatedSchema,
  children: readonly Element[],
  usual: string,
  isRoot: boolean,
): readonly unknown[] {
  const { items } = source.combine(schema);
  const own = placeOf(source, schema, usual);
  const { name } = itemPlace(source, schema, own, usual);
  const isNamed = !isRoot || source.combine(items).schemas.some(({ value }) => isObject(value['xml']));
  return children.map((child) =>
    isNamed && child.name !== name
      ? { [child.name]: readValue(source, undefined, child) }
      : readValue(source, items, child),
  );
}

/** Returns a value as XML; undefined if it has characters that XML cannot have. */
export function writeXml(
  value: unknown,
  schema: LocatedSchema | undefined,
  source: Source,
): string | undefined {
  const writer = createWriter();
  const usual = schema === undefined ? 'root' : rootName(schema);
  const place = placeOf(source, schema, usual);
  try {
    if (Array.isArray(value)) {
      const item =
        schema === undefined ? { ...place, name: 'item' } : itemPlace(source, schema, place, usual);
      const { items } = source.combine(schema);
      writeStart(writer, { ...place, kind: 'element' });
      for (const each of value) writeElement(writer, each, items, item, source);
      writer.end();
    } else writeElement(writer, value, schema, place, source);
    return `<?xml version="1.0" encoding="UTF-8"?>\n${String(writer)}`;
  } catch (error) {
    if (error instanceof XmlWriteError) return undefined;
    throw error;
  }
}

function writeStart(writer: XmlWriter, place: Place): void {
  writer.start(qualifiedName(place));
  if (place.namespace === undefined) return;
  writer.attribute(place.prefix === undefined ? 'xmlns' : `xmlns:${place.prefix}`, place.namespace);
}

/** Returns a name that XML can have. A prefix without a namespace could not be read. */
function qualifiedName({ name, prefix, namespace }: Place): string {
  const plain = name.replace(/[^\p{L}\p{N}._-]/gu, '_').replace(/^(?![\p{L}_])/u, '_');
  return prefix === undefined || namespace === undefined ? plain : `${prefix}:${plain}`;
}

function writeElement(
  writer: XmlWriter,
  value: unknown,
  schema: LocatedSchema | undefined,
  place: Place,
  source: Source,
): void {
  writeStart(writer, place);
  if (value === null) writer.attribute('xmlns:xsi', nilNamespace).attribute('xsi:nil', 'true');
  else if (isObject(value)) writeMembers(writer, value, schema, source);
  else writer.text(Array.isArray(value) ? JSON.stringify(value) : String(value));
  writer.end();
}

function writeMembers(
  writer: XmlWriter,
  value: JsonSchema,
  schema: LocatedSchema | undefined,
  source: Source,
): void {
  const { properties, additional } = source.combine(schema);
  const members = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .map(([name, each]) => {
      const own = properties.get(name) ?? additional;
      return { name, value: each, own, place: placeOf(source, own, name) };
    });
  for (const { value: each, place } of members)
    if (place.kind === 'attribute' && each !== null) {
      if (place.prefix !== undefined && place.namespace !== undefined)
        writer.attribute(`xmlns:${place.prefix}`, place.namespace);
      writer.attribute(qualifiedName(place), toText(each));
    }
  for (const { name, value: each, own, place } of members)
    if (place.kind === 'text') writer.text(toText(each));
    else if (place.kind === 'element') writeMember(writer, each, own, { name, place, source });
}

function toText(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

function writeMember(
  writer: XmlWriter,
  value: unknown,
  schema: LocatedSchema | undefined,
  { name, place, source }: { readonly name: string; readonly place: Place; readonly source: Source },
): void {
  if (!Array.isArray(value)) {
    writeElement(writer, value, schema, place, source);
    return;
  }
  const item = schema === undefined ? place : itemPlace(source, schema, place, name);
  const { items } = source.combine(schema);
  if (place.isWrapped) writeStart(writer, place);
  for (const each of value) writeElement(writer, each, items, item, source);
  if (place.isWrapped) writer.end();
}
