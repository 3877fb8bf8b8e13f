import { describeKind } from '../shape/fault.ts';
import { isUnprefixedName } from '../xml/name-form.ts';
import { DeclarationError, type Members, readFlag, readMembers, readText, refuseUnknown } from './error.ts';
import { compileSimple, unknownType } from './simple-declaration.ts';
import { type Simple, type SimpleTypeName, simpleTypes } from './simple-type.ts';

/** The compiled structure of a collection's items. */
export interface Shape {
  /** The element name of the collection: `articles`. */
  readonly element: string;
  /** The element name of an item: `article`. */
  readonly item: string;
  readonly schema: Schema;
  /** The item as a field, which is the root of its document. */
  readonly root: Field;
}

/** The fields of an element, in the order in which they are written. */
export interface Schema {
  readonly fields: readonly Field[];
  readonly byName: ReadonlyMap<string, Field>;
}

/** The content of a field that has fields of its own. */
export interface ElementContent {
  readonly kind: 'element';
  readonly schema: Schema;
}

/** The content of a list. `of` describes each of its items. */
export interface ListContent {
  readonly kind: 'list';
  readonly of: Field;
}

/** The content of a field. */
export type Content = Simple | ElementContent | ListContent;

/** A compiled field, with its markup. */
export interface Field {
  readonly name: string;
  /** The index in its element. */
  readonly index: number;
  readonly required: boolean;
  readonly content: Content;
  readonly attributes: readonly Attribute[];
  readonly attributeByName: ReadonlyMap<string, Attribute>;
  /** `<price`, `<price>`, `</price>`, `"price":` */
  readonly begin: string;
  readonly open: string;
  readonly close: string;
  readonly key: string;
}

/** A compiled attribute, with its markup. */
export interface Attribute {
  readonly name: string;
  /** The index in its field. */
  readonly index: number;
  readonly required: boolean;
  readonly content: Simple;
  /** ` currency="`, `"currency":` */
  readonly begin: string;
  readonly key: string;
}

const fieldTypes: readonly string[] = [...simpleTypes, 'element', 'list'];
const ofField = ['type', 'required', 'attributes'];
const ofItem = ['type', 'attributes'];
const ofAttribute = ['type', 'required'];
/** An attribute cannot have any JSON: in JSON, attributes are members beside the value. */
const attributeTypes: readonly string[] = simpleTypes.filter((type) => type !== 'json');

/**
 * Compiles the declaration of a collection's items.
 * @param element the element name of the collection
 * @param item the element name of an item
 * @param fields the declarations of the fields by name, unchecked
 * @param path the position of the collection in the configuration
 * @throws {DeclarationError} for an invalid declaration, with its path
 */
export function compileShape(element: string, item: string, fields: unknown, path: string): Shape {
  elementName(element, `${path}.element`);
  elementName(item, `${path}.item`);
  const schema = compileSchema(fields, `${path}.fields`);
  if (schema.byName.has('href')) {
    throw new DeclarationError(
      'clash',
      `${path}.fields.href`,
      'the name is reserved: in a list, href is the address of an item',
    );
  }
  return { element, item, schema, root: createField(item, 0, true, { kind: 'element', schema }, []) };
}

/**
 * Compiles the fields of an element.
 * @throws {DeclarationError} for an invalid declaration
 */
export function compileSchema(source: unknown, path: string): Schema {
  const fields = [...readMembers(source, path)].map(([name, declaration], index) => {
    elementName(name, `${path}.${name}`);
    return compileField(name, index, declaration, ofField, `${path}.${name}`);
  });
  return { fields, byName: new Map(fields.map((field) => [field.name, field])) };
}

function compileField(
  name: string,
  index: number,
  source: unknown,
  general: readonly string[],
  path: string,
): Field {
  const members = readMembers(source, path);
  const content = compileContent(members, general, path);
  const required = readFlag(members.get('required'), `${path}.required`);
  const attributes = compileAttributes(members.get('attributes'), content, `${path}.attributes`);
  return createField(name, index, required, content, attributes);
}

function compileContent(members: Members, general: readonly string[], path: string): Content {
  const type = readType(members, fieldTypes, path);
  if (type === 'element') {
    refuseUnknown(members, [...general, 'fields'], path, 'is not an option of element');
    return { kind: 'element', schema: compileSchema(members.get('fields'), `${path}.fields`) };
  }
  if (type === 'list') {
    refuseUnknown(members, [...general, 'of', 'item'], path, 'is not an option of list');
    return { kind: 'list', of: compileItem(members, path) };
  }
  return compileSimple(requireSimpleType(type, path), members, general, path);
}

function compileItem(members: Members, path: string): Field {
  const item = members.get('item');
  const name = elementName(item === undefined ? 'item' : readText(item, `${path}.item`), `${path}.item`);
  const of = members.get('of');
  const declaration = typeof of === 'string' ? { type: of } : of;
  return compileField(name, 0, declaration, ofItem, `${path}.of`);
}

function compileAttributes(source: unknown, content: Content, path: string): Attribute[] {
  if (source === undefined) return [];
  return [...readMembers(source, path)].map(([name, declaration], index) => {
    const at = `${path}.${name}`;
    elementName(name, at);
    refuseClash(name, content, at);
    const members = readMembers(declaration, at);
    const type = readType(members, attributeTypes, at);
    const required = readFlag(members.get('required'), `${at}.required`);
    const simple = compileSimple(requireSimpleType(type, at), members, ofAttribute, at);
    return { name, index, required, content: simple, begin: ` ${name}="`, key: `"${name}":` };
  });
}

/**
 * In JSON, attributes are members beside an element's fields, or beside the member `value` of any other
 * field.
 */
function refuseClash(name: string, content: Content, path: string): void {
  if (content.kind !== 'element' && name === 'value') {
    throw new DeclarationError(
      'clash',
      path,
      'the name is reserved: in JSON, value is the content of a field with attributes',
    );
  }
  if (content.kind === 'element' && content.schema.byName.has(name)) {
    throw new DeclarationError(
      'clash',
      path,
      'is also a field of this element; in JSON, both are members of one object',
    );
  }
}

function readType(members: Members, allowed: readonly string[], path: string): string {
  const type = members.get('type');
  if (typeof type !== 'string') {
    throw new DeclarationError(
      type === undefined ? 'missing' : 'type',
      `${path}.type`,
      `must be one of ${allowed.join(', ')}; is ${describeKind(type)}`,
    );
  }
  if (!allowed.includes(type)) throw unknownType(type, allowed, `${path}.type`);
  return type;
}

function requireSimpleType(type: string, path: string): SimpleTypeName {
  const simple = simpleTypes.find((allowed) => allowed === type);
  if (simple === undefined) throw unknownType(type, simpleTypes, `${path}.type`);
  return simple;
}

function createField(
  name: string,
  index: number,
  required: boolean,
  content: Content,
  attributes: readonly Attribute[],
): Field {
  const attributeByName = new Map(attributes.map((attribute) => [attribute.name, attribute]));
  const markup = {
    begin: `<${name}`,
    open: `<${name}>`,
    close: `</${name}>`,
    key: `${JSON.stringify(name)}:`,
  };
  return { name, index, required, content, attributes, attributeByName, ...markup };
}

/**
 * Checks the name of an element or an attribute and returns it.
 * @throws {DeclarationError} if it is not an XML name, has a colon, begins with "xml" (reserved by XML 1.0
 * §2.3; `xmlns` is one), or is `__proto__`
 */
function elementName(source: string, path: string): string {
  if (source === '__proto__') throw new DeclarationError('name', path, 'is not allowed as a name');
  if (!isUnprefixedName(source)) {
    throw new DeclarationError('name', path, 'must be an XML name without a colon');
  }
  if (/^xml/i.test(source)) {
    throw new DeclarationError('name', path, 'names that begin with "xml" are reserved by XML');
  }
  return source;
}
