import { isUnprefixedName } from '../xml/name-form.ts';
import { DeclarationError } from './error.ts';
import type { Declarations, ReadField } from './field.ts';
import { compileSimple } from './simple-declaration.ts';
import type { Simple } from './simple-type.ts';

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
interface ElementContent {
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

/**
 * Compiles the declaration of a collection's items.
 * @param element the element name of the collection
 * @param item the element name of an item
 * @param fields the declarations of the fields by name
 * @param path the position of the collection in the configuration
 * @throws {DeclarationError} for an invalid declaration, with its path
 */
export function compileShape(
  element: string,
  item: string,
  fields: Declarations<ReadField>,
  path: string,
): Shape {
  checkName(element, `${path}.element`);
  checkName(item, `${path}.item`);
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

function compileSchema(declared: Declarations<ReadField>, path: string): Schema {
  const fields = Object.entries(declared).map(([name, declaration], index) => {
    checkName(name, `${path}.${name}`);
    return compileField(name, index, declaration, `${path}.${name}`);
  });
  return { fields, byName: new Map(fields.map((field) => [field.name, field])) };
}

function compileField(name: string, index: number, declared: ReadField, path: string): Field {
  const content = compileContent(declared, path);
  const attributes = compileAttributes(declared.attributes, content, `${path}.attributes`);
  return createField(name, index, declared.required ?? false, content, attributes);
}

function compileContent(declared: ReadField, path: string): Content {
  const { type, fields = {}, of, item = 'item' } = declared;
  if (type === 'element') return { kind: 'element', schema: compileSchema(fields, `${path}.fields`) };
  if (type !== 'list') return compileSimple(type, declared, path);
  if (of === undefined) throw new Error('a list that was read has `of`');
  checkName(item, `${path}.item`);
  const value = typeof of === 'string' ? { type: of } : of;
  return { kind: 'list', of: compileField(item, 0, value, `${path}.of`) };
}

function compileAttributes(
  declared: Declarations<ReadField> = {},
  content: Content,
  path: string,
): Attribute[] {
  return Object.entries(declared).map(([name, declaration], index) => {
    const { type, required = false } = declaration;
    const at = `${path}.${name}`;
    checkName(name, at);
    refuseClash(name, content, at);
    if (type === 'element' || type === 'list') throw new Error('an attribute that was read is simple');
    const simple = compileSimple(type, declaration, at);
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
 * Checks the name of an element or an attribute.
 * @throws {DeclarationError} if it is not an XML name, has a colon, begins with "xml" (reserved by XML 1.0
 * §2.3; `xmlns` is one), or is `__proto__`
 */
function checkName(source: string, path: string): void {
  if (source === '__proto__') throw new DeclarationError('name', path, 'is not allowed as a name');
  if (!isUnprefixedName(source)) {
    throw new DeclarationError('name', path, 'must be an XML name without a colon');
  }
  if (/^xml/i.test(source)) {
    throw new DeclarationError('name', path, 'names that begin with "xml" are reserved by XML');
  }
}
