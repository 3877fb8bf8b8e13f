import { elementName } from './element-name.ts';
import { DeclarationError, flagOf, kindOf, type Members, membersOf, refuseUnknown, textOf } from './error.ts';
import { compileSimple, unknownType } from './simple-declaration.ts';
import { type Simple, type SimpleTypeName, simpleTypes } from './simple-type.ts';

/** What an item of a collection is made of, ready to read and write. */
export interface Shape {
  /** The name of the whole collection's element: `articles`. */
  readonly element: string;
  /** The name of an item's element: `article`. */
  readonly item: string;
  readonly schema: Schema;
  /** The item as if it were a field: the root of its document. */
  readonly root: Field;
}

/** The fields of an element, in the order in which they are written. */
export interface Schema {
  readonly fields: readonly Field[];
  readonly byName: ReadonlyMap<string, Field>;
}

/** A field that is an element with fields of its own. */
export interface ElementContent {
  readonly kind: 'element';
  readonly schema: Schema;
}

/** A field that is a list; `of` is each of its items as a field. */
export interface ListContent {
  readonly kind: 'list';
  readonly of: Field;
}

/** What a field holds. */
export type Content = Simple | ElementContent | ListContent;

/** A field, with the markup that it is written with. */
export interface Field {
  readonly name: string;
  /** Its place among the fields of its element. */
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

/** An attribute of a field, with the markup that it is written with. */
export interface Attribute {
  readonly name: string;
  /** Its place among the attributes of its field. */
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

/**
 * Compiles what a collection declares of its items.
 * @param element the name of the collection's element
 * @param item the name of an item's element
 * @param fields the declarations of its fields by name, as in the configuration
 * @param path where the collection stands in the configuration
 * @throws DeclarationError naming the path
 */
export function compileShape(element: string, item: string, fields: unknown, path: string): Shape {
  elementName(element, `${path}.element`);
  elementName(item, `${path}.item`);
  const schema = compileSchema(fields, `${path}.fields`);
  if (schema.byName.has('href')) {
    throw new DeclarationError('clash', `${path}.fields.href`, 'in a list, href is the address of an item');
  }
  return { element, item, schema, root: newField(item, 0, true, { kind: 'element', schema }, []) };
}

/** Compiles the declarations of an element's fields. Throws DeclarationError. */
export function compileSchema(source: unknown, path: string): Schema {
  const fields = [...membersOf(source, path)].map(([name, declaration], index) => {
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
  const members = membersOf(source, path);
  const content = compileContent(members, general, path);
  const required = flagOf(members.get('required'), `${path}.required`);
  const attributes = compileAttributes(members.get('attributes'), content, `${path}.attributes`);
  return newField(name, index, required, content, attributes);
}

function compileContent(members: Members, general: readonly string[], path: string): Content {
  const type = typeOf(members, fieldTypes, path);
  if (type === 'element') {
    refuseUnknown(members, [...general, 'fields'], path, 'is no option of element');
    return { kind: 'element', schema: compileSchema(members.get('fields'), `${path}.fields`) };
  }
  if (type === 'list') {
    refuseUnknown(members, [...general, 'of', 'item'], path, 'is no option of list');
    return { kind: 'list', of: compileItem(members, path) };
  }
  return compileSimple(simpleType(type, path), members, general, path);
}

function compileItem(members: Members, path: string): Field {
  const item = members.get('item');
  const name = elementName(item === undefined ? 'item' : textOf(item, `${path}.item`), `${path}.item`);
  const of = members.get('of');
  const declaration = typeof of === 'string' ? { type: of } : of;
  return compileField(name, 0, declaration, ofItem, `${path}.of`);
}

function compileAttributes(source: unknown, content: Content, path: string): Attribute[] {
  if (source === undefined) return [];
  return [...membersOf(source, path)].map(([name, declaration], index) => {
    const at = `${path}.${name}`;
    elementName(name, at);
    refuseClash(name, content, at);
    const members = membersOf(declaration, at);
    const type = typeOf(members, simpleTypes, at);
    const required = flagOf(members.get('required'), `${at}.required`);
    const simple = compileSimple(simpleType(type, at), members, ofAttribute, at);
    return { name, index, required, content: simple, begin: ` ${name}="`, key: `"${name}":` };
  });
}

/** In JSON the attributes stand beside the fields of an element, and beside the value of anything else. */
function refuseClash(name: string, content: Content, path: string): void {
  if (content.kind !== 'element' && name === 'value') {
    throw new DeclarationError('clash', path, 'in JSON, value is the content of a field with attributes');
  }
  if (content.kind === 'element' && content.schema.byName.has(name)) {
    throw new DeclarationError(
      'clash',
      path,
      'is a field of the same element, and in JSON they stand side by side',
    );
  }
}

function typeOf(members: Members, known: readonly string[], path: string): string {
  const type = members.get('type');
  if (typeof type !== 'string') {
    throw new DeclarationError(
      type === undefined ? 'missing' : 'type',
      `${path}.type`,
      `must be one of ${known.join(', ')}; is ${kindOf(type)}`,
    );
  }
  if (!known.includes(type)) throw unknownType(type, known, `${path}.type`);
  return type;
}

function simpleType(type: string, path: string): SimpleTypeName {
  const simple = simpleTypes.find((known) => known === type);
  if (simple === undefined) throw unknownType(type, simpleTypes, `${path}.type`);
  return simple;
}

function newField(
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
