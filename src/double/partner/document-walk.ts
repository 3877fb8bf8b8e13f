// Walks through the objects of a document whose members are those of OpenAPI or JSON Schema.
import type { JsonSchema } from '../../service/openapi/document.ts';
import { formatPlace, isObject } from './located.ts';

/** The document by its name `''`, and the files that it refers to by their paths, relative to its folder; or why one cannot be read. */
export type DocumentFiles = ReadonlyMap<string, unknown>;

/** A value on the way of the walk, with the way to it. */
export interface Step {
  readonly value: object;
  readonly name: string;
  readonly parent: Step | undefined;
  /** Whether the names of the members are those of the document's author. */
  readonly isMap: boolean;
}

/** An object of a document whose members are those of OpenAPI or JSON Schema. */
interface Visited {
  readonly step: Step;
  readonly value: JsonSchema;
  /** The place where the same object stands, too, if it was visited there. */
  readonly first: Step | undefined;
}

/** Members whose values are data: a `$ref` in them is none. Texts are often kept in files of their own, which nobody needs here. */
const dataNames: ReadonlySet<string> = new Set([
  ...['example', 'default', 'enum', 'const', 'value', 'mapping'],
  ...['description', 'summary'],
]);

/** Members that are maps: the names in them mean nothing. `examples` is one outside of schemas. */
const mapNames: ReadonlySet<string> = new Set([
  ...['properties', 'patternProperties', 'definitions', '$defs', 'dependentSchemas', 'paths', 'content'],
  ...['schemas', 'responses', 'requestBodies', 'headers', 'securitySchemes', 'callbacks', 'webhooks'],
  ...['links', 'pathItems', 'examples', 'encoding', 'variables', 'parameters', 'scopes'],
]);

/** Yields the objects of the document and of its files. */
export function* listAllObjects(files: DocumentFiles): Generator<Visited> {
  for (const [name, root] of files) if (isObject(root)) yield* listObjects(root, name);
}

/** Yields the objects of a file. */
export function* listObjects(root: JsonSchema, file: string): Generator<Visited> {
  const seen = new Map<object, Step>();
  const open: Step[] = [{ value: root, name: `${file}#`, parent: undefined, isMap: false }];
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    // An object that a caller passes can contain itself, or one object twice.
    const first = seen.get(step.value);
    if (first !== undefined) {
      yield { step, value: {}, first };
      continue;
    }
    seen.set(step.value, step);
    const { value, isMap } = step;
    if (!isMap && isObject(value)) yield { step, value, first };
    for (const child of listChildren(step)) open.push(child);
  }
}

function listChildren(step: Step): readonly Step[] {
  const { value, isMap } = step;
  const isList = Array.isArray(value);
  return Object.keys(value).flatMap((name) => {
    const child: unknown = Reflect.get(value, name);
    if (typeof child !== 'object' || child === null) return [];
    if (!isMap && !isList && (dataNames.has(name) || name.startsWith('x-'))) return [];
    // In a schema, `examples` is a list of data.
    if (name === 'examples' && !isMap && Array.isArray(child)) return [];
    const childIsMap = !isMap && !isList && !Array.isArray(child) && mapNames.has(name);
    return [{ value: child, name, parent: step, isMap: childIsMap }];
  });
}

/** Returns the place of a step as a JSON Pointer. */
export function placeOfStep(step: Step): string {
  return step.parent === undefined ? step.name : formatPlace(placeOfStep(step.parent), step.name);
}
