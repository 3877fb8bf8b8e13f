// Chooses and creates the responses of a document, and checks those of stubs against it.

import { toLines } from '../../http/field-lines.ts';
import { createFurtherLine, type FieldLine } from '../../http/fields.ts';
import { selectPreferred } from '../../http/headers/accept.ts';
import { parseMediaType } from '../../http/headers/media-type.ts';
import { preferences } from '../../http/headers/prefer.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { neverHasContent } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import type { ActionResponse, Representation } from '../../pipeline/resource.ts';
import { createSeededRandom } from '../state/random.ts';
import { hasExample } from './combined-schemas.ts';
import type { DocumentedResponse, Media, Operation, Parameter, PartnerDocument } from './document.ts';
import { fillReason, saysReason } from './errors.ts';
import { formatPlace, isObject, type Located, type LocatedSchema } from './located.ts';
import { createChecker, type SchemaChecker } from './schema-check.ts';
import { type CreatedValue, createValue, type ValueOptions } from './schema-value.ts';
import { chooseStatus, findErrorStatus, findResponse, selectResponse } from './statuses.ts';
import { describe } from './violations.ts';
import { createReadXml, isXml, writeXml } from './xml-values.ts';

/** Which of the documented responses is sent. */
export interface ResponseChoice {
  /** The status. Default: the lowest successful one. */
  readonly status?: number | undefined;
  /** The name of the example. Default: the first one, or the smallest value that the schema allows. */
  readonly example?: string | undefined;
  /** Whether the content has all members of its schema, with drawn values. Default: as for the double. */
  readonly dynamic?: boolean | undefined;
}

/** The responses of a document. */
export interface PartnerResponses {
  /** Returns the choice in the Prefer field of a request, as far as the document has it, and what Preference-Applied says. */
  readPreferences(
    operation: Operation,
    request: IncomingRequest,
  ): { readonly choice: ResponseChoice; readonly applied: readonly string[] };
  /** Creates a response. Throws a Problem (406) if no documented type is acceptable. */
  create(operation: Operation, choice: ResponseChoice, accept: string | undefined): ActionResponse;
  /** Creates the response to a problem in the form of the document; undefined if it has no content for the status. */
  createError(operation: Operation, problem: Problem, accept: string | undefined): ActionResponse | undefined;
  /** Returns how a response differs from the document, one sentence each. */
  check(operation: Operation, outcome: ActionResponse): readonly string[];
}

/** What responses are created from. */
export interface ResponsesOptions {
  readonly document: PartnerDocument;
  /** Checks examples and the responses of stubs. */
  readonly checker: SchemaChecker;
  readonly seed: string;
  /** Whether contents have all members by default. */
  readonly dynamic: boolean;
  /** Returns the time in ms. */
  readonly now: () => number;
  /** Returns a number that differs for each drawn response. */
  readonly next: () => number;
}

/** The nesting of responses in XML that are compared with the document, at most. */
const maxXmlDepth = 100;

/** Creates the responses of a document. */
export function createResponses(options: ResponsesOptions): PartnerResponses {
  const { document, checker } = options;
  const readXml = createReadXml(document, checker, maxXmlDepth);
  /** The first example of each media type that its schema allows. */
  const allowedExamples = new Map<Media, readonly unknown[]>();

  const randomFor = (operation: Operation, status: number, dynamic: boolean) =>
    createSeededRandom(`${options.seed} ${operation.id} ${status}${dynamic ? ` ${options.next()}` : ''}`)
      .bytes;
  /** The nearest values of schemas of which no value was found. It is not looked for again. */
  const nearest = new Map<string, CreatedValue>();
  const create = (
    schema: LocatedSchema,
    operation: Operation,
    status: number,
    dynamic: boolean,
    further: Pick<ValueOptions, 'examples' | 'asks'> = {},
  ): CreatedValue => {
    const key = `${schema.at} ${dynamic}`;
    const known = nearest.get(key);
    if (known !== undefined) return known;
    const random = randomFor(operation, status, dynamic);
    const created = createValue(schema, document, {
      direction: 'response',
      dynamic,
      random,
      now: options.now(),
      ...further,
    });
    if (created.fault !== undefined) nearest.set(key, created);
    return created;
  };

  /** Returns the first example of a media type that its schema allows. */
  const findAllowed = (media: Media, examples: ReadonlyMap<string, unknown>): readonly unknown[] => {
    const { schema } = media;
    const isAllowed = (value: unknown): boolean =>
      schema === undefined || !isChecked(media, value) || checker.checkExample(schema, value).length === 0;
    const allowed = allowedExamples.get(media) ?? [...examples.values()].filter(isAllowed).slice(0, 1);
    allowedExamples.set(media, allowed);
    return allowed;
  };

  /** Returns the content of a media type: a named example, an example that the schema allows, or a created value. */
  const contentOf = (
    media: Media,
    operation: Operation,
    status: number,
    choice: ResponseChoice,
    isError: boolean,
  ): CreatedValue => {
    const { schema } = media;
    const examples = readExamples(media, document);
    const given = (value: unknown): CreatedValue => ({ value, fault: undefined });
    if (choice.example !== undefined && examples.has(choice.example))
      return given(examples.get(choice.example));
    const dynamic = choice.dynamic ?? options.dynamic;
    if (!dynamic) {
      const allowed = findAllowed(media, examples);
      if (allowed.length > 0) return given(allowed[0]);
    }
    return schema === undefined
      ? given(undefined)
      : create(schema, operation, status, dynamic, {
          examples: [...examples.values()],
          ...(isError && { asks: saysReason }),
        });
  };

  const headersOf = (response: DocumentedResponse, operation: Operation, status: number): FieldLine[] =>
    response.headers.flatMap((header) => {
      const value = fieldValue(header, operation, status);
      return value === undefined ? [] : fieldLine(header.name, value);
    });

  /** Returns the value of a field: its example, or one of its schema. */
  const fieldValue = (header: Parameter, operation: Operation, status: number): string | undefined => {
    const { schema, media, required, name } = header;
    const [example] = readExamples(media ?? header, document).values();
    const isGiven = example !== undefined || (schema !== undefined && hasExample(document, schema, 0));
    // The content has no coding, whatever is documented.
    if (/^content-encoding$/i.test(name)) return undefined;
    // A drawn cookie would change what the client does with the response.
    if (!isGiven && !required && /^set-cookie$/i.test(name)) return undefined;
    const created = (): unknown => schema && create(schema, operation, status, !isGiven).value;
    const value = example ?? created();
    if (value === undefined || value === null || value === '') return undefined;
    return media === undefined
      ? writeSimple(value, header.value['explode'] === true)
      : isJson(media.essence)
        ? JSON.stringify(value)
        : writePart(value);
  };

  /** Returns a content with the reason of a problem, as far as its schema permits. */
  const fillContent = ({ value, media, type }: Content, problem: Problem): unknown => {
    const { schema } = media;
    const essence = media.essence === '*/*' ? type : media.essence;
    const allows = (filled: unknown): boolean =>
      schema === undefined || checker.check(schema, filled, 'response').length === 0;
    if (isJson(essence)) return fillReason(value, problem, allows);
    if (!isXml(essence)) return value;
    const isText = typeof value === 'string' && schema !== undefined;
    const read = isText ? tryToRead(() => readXml(value, schema)) : value;
    return read === undefined ? value : fillReason(read, problem, allows);
  };

  /** Chooses the media type of a response. Throws a Problem (406) if none is acceptable; an error is sent in its first one. */
  const chooseMedia = (
    { content }: DocumentedResponse,
    { id }: Operation,
    status: number,
    accept: string | undefined,
  ): { readonly media: Media; readonly type: string } => {
    const variants = [...content]
      .sort((one, other) => Number(isJson(other.essence)) - Number(isJson(one.essence)))
      .map((media) => ({ media, type: concreteType(media) }));
    const chosen = selectPreferred(accept, variants) ?? (status < 400 ? undefined : variants[0]);
    if (chosen !== undefined) return chosen;
    const types = variants.map(({ type }) => type).join(', ');
    throw new Problem('not-acceptable', `Accept matches none of the types of ${id}: ${types}.`);
  };

  const createDocumented = (
    operation: Operation,
    choice: ResponseChoice,
    accept: string | undefined,
    problem?: Problem,
  ): ActionResponse => {
    const response = selectResponse(operation, choice.status);
    if (response === undefined) return { status: choice.status ?? 200 };
    const status = choice.status ?? chooseStatus(response);
    const headers = headersOf(response, operation, status);
    if (response.content.length === 0 || neverHasContent(status)) return { status, headers };
    const { media, type } = chooseMedia(response, operation, status, accept);
    const { value, fault } = contentOf(media, operation, status, choice, problem !== undefined);
    const content = { media, type, value };
    const filled = problem === undefined ? value : fillContent(content, problem);
    const representation = createRepresentation({ ...content, value: filled }, document);
    const warning = `${media.at} has no example in ${type}, so the response has no content.`;
    const warnings = fault === undefined ? undefined : [fault];
    if (representation === undefined) return { status, headers, warnings: [warning] };
    return { status, headers, representation, warnings };
  };

  /** Returns how the content of a response differs from the document, one sentence each. */
  const checkContent = (
    { content, at }: DocumentedResponse,
    representation: Representation | undefined,
  ): readonly string[] => {
    if (representation === undefined)
      return content.length === 0 ? [] : [`The content is missing (${formatPlace(at, 'content')}).`];
    const essence = parseMediaType(representation.type)?.type ?? '';
    const media = findMedia(content, essence);
    if (media === undefined)
      return [`The type ${essence} is not documented (${formatPlace(at, 'content')}).`];
    const { schema } = media;
    if (schema === undefined || !(isJson(essence) || isXml(essence))) return [];
    // Where the document's own example has a relative URI, one of a stub is permitted too.
    findAllowed(media, readExamples(media, document));
    const body = Buffer.from(representation.body);
    try {
      const value: unknown = isXml(essence) ? readXml(body, schema) : JSON.parse(body.toString());
      return checker.check(schema, value, 'response').map(describe);
    } catch (error) {
      if (error instanceof Problem) return [error.detail];
      throw error;
    }
  };

  return {
    readPreferences(operation, request) {
      const wanted = preferences(request.headers.getAll('prefer'));
      const code = wanted.get('code') ?? '';
      const status =
        /^[2-5]\d\d$/.test(code) && findResponse(operation, Number(code)) ? Number(code) : undefined;
      const response = selectResponse(operation, status);
      const name = wanted.get('example');
      const isNamed = response?.content.some(
        (media) => name !== undefined && readExamples(media, document).has(name),
      );
      const flag = wanted.get('dynamic');
      const dynamic = flag === 'true' || flag === 'false' ? flag === 'true' : undefined;
      const applied = [
        ...(status === undefined ? [] : [`code=${status}`]),
        ...(isNamed === true
          ? [`example=${/^[\w.-]+$/.test(name ?? '') ? name : JSON.stringify(name)}`]
          : []),
        ...(dynamic === undefined ? [] : [`dynamic=${dynamic}`]),
      ];
      return { choice: { status, example: isNamed === true ? name : undefined, dynamic }, applied };
    },
    create: (operation, choice, accept) => createDocumented(operation, choice, accept),
    createError(operation, problem, accept) {
      // It has the form of another partner already.
      if (problem.document !== undefined) return undefined;
      const status = findErrorStatus(operation, problem.status);
      const response = status === undefined ? undefined : findResponse(operation, status);
      if (status === undefined || response === undefined || response.content.length === 0) return undefined;
      const { representation, headers = [] } = createDocumented(operation, { status }, accept, problem);
      if (representation === undefined) return undefined;
      const own = new Set(problem.headers.map(([name]) => name.toLowerCase()));
      const further = toLines(headers).filter(([name]) => !own.has(name.toLowerCase()));
      return { status: problem.status, headers: [...problem.headers, ...further], representation };
    },
    check(operation, outcome) {
      const response = findResponse(operation, outcome.status);
      if (response === undefined)
        return [
          `The status ${outcome.status} is not documented (${formatPlace(operation.at, 'responses')}).`,
        ];
      const missing = response.headers
        .filter(({ name, required }) => required && !hasField(outcome, name))
        .map(({ name, at }) => `The field ${name} is missing (${at}).`);
      return [...missing, ...checkContent(response, outcome.representation)];
    },
  };
}

/** Returns what is wrong with the examples of a document, and which schemas of responses have no value, one sentence each. */
export function examineResponses(document: PartnerDocument): readonly string[] {
  const checker = createChecker(document);
  const { bytes: random } = createSeededRandom('examine');
  return document.operations.flatMap((operation) =>
    operation.responses.flatMap(({ content }) =>
      content.flatMap((media) => {
        const { schema } = media;
        if (schema === undefined || !isJson(media.essence)) return [];
        const examples = [...readExamples(media, document)];
        const faults = examples.flatMap(([name, value]) => {
          const [first] = checker.checkExample(schema, value);
          const place =
            name === '' ? formatPlace(media.at, 'example') : formatPlace(media.at, 'examples', name);
          return first === undefined ? [] : [`${place} is not sent by default: ${describe(first)}`];
        });
        return faults.length === examples.length
          ? [...faults, ...valueFaults(schema, document, random)]
          : faults;
      }),
    ),
  );
}

function valueFaults(
  schema: LocatedSchema,
  document: PartnerDocument,
  random: (size: number) => Uint8Array,
): readonly string[] {
  const { fault } = createValue(schema, document, { direction: 'response', dynamic: false, random, now: 0 });
  return fault === undefined ? [] : [fault];
}

/** Returns the examples of a media type or a field by name; the single one has the name ''. */
function readExamples({ value, at }: Located, { resolve }: PartnerDocument): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>();
  const { example, examples } = value;
  if (example !== undefined) found.set('', example);
  if (!isObject(examples)) return found;
  for (const [name, source] of Object.entries(examples)) {
    if (!isObject(source)) continue;
    const { value: resolved } = resolve({ value: source, at: formatPlace(at, 'examples', name) });
    if (isObject(resolved) && Object.hasOwn(resolved, 'value')) found.set(name, resolved['value']);
  }
  return found;
}

/** Returns whether a value is compared with the schema of its media type: JSON is, and XML that is written from it. */
function isChecked({ essence }: Media, value: unknown): boolean {
  return isJson(essence) || (isXml(essence) && !isDocument(value));
}

function isJson(essence: string): boolean {
  return /(?:^application\/|\+)json$/.test(essence);
}

/** Returns a type that can be sent: that of the document or, for a range, one in it. */
function concreteType({ type, essence }: Media): string {
  if (!essence.includes('*')) return type;
  if (essence.startsWith('image/')) return 'image/png';
  return essence.startsWith('text/') ? 'text/plain; charset=utf-8' : 'application/json';
}

/** The content of a response before it is written. */
interface Content {
  readonly media: Media;
  /** The type that is sent. */
  readonly type: string;
  readonly value: unknown;
}

/** Returns the representation of a content; undefined if it cannot be written in its type. */
function createRepresentation(
  { media: { essence, schema }, type, value }: Content,
  document: PartnerDocument,
): Representation | undefined {
  if (isJson(essence) || type === 'application/json')
    return { type, body: JSON.stringify(value === undefined ? {} : value) };
  if (isXml(essence) && value !== undefined && !isDocument(value)) {
    const body = writeXml(value, schema, document);
    return body === undefined ? undefined : { type, body };
  }
  if (typeof value === 'string') return { type, body: value };
  if (value === undefined) return { type, body: '' };
  return { type, body: typeof value === 'object' ? JSON.stringify(value) : String(value) };
}

/** Returns whether a value is an example that is written in XML. */
function isDocument(value: unknown): boolean {
  return typeof value === 'string' && value.trimStart().startsWith('<');
}

/** Returns what is read of an example; undefined if it is malformed. */
function tryToRead(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

/** Writes the value of a field in the style `simple` (OpenAPI, Header Object). */
function writeSimple(value: unknown, explode: boolean): string {
  if (Array.isArray(value)) return value.map(writePart).join();
  if (!isObject(value)) return writePart(value);
  return Object.entries(value)
    .map(([name, each]) => `${name}${explode ? '=' : ','}${writePart(each)}`)
    .join();
}

function writePart(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

/** Returns a field line; none if it cannot be sent, or the server sets it. */
function fieldLine(name: string, value: string): FieldLine[] {
  try {
    return [createFurtherLine(name, value)];
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}

function hasField({ headers = [], representation }: ActionResponse, name: string): boolean {
  const wanted = name.toLowerCase();
  if (wanted === 'content-type') return representation !== undefined;
  return toLines(headers).some(([each]) => each.toLowerCase() === wanted);
}

/** Returns the media type of a content: its own, or a range such as `image/*`. */
export function findMedia(content: readonly Media[], essence: string): Media | undefined {
  return (
    content.find((each) => each.essence === essence) ??
    content.find((each) => isInRange(essence, each.essence))
  );
}

/** Returns whether a type is in a range such as `image/*`, or `application/*+json`, which is no range of RFC 9110, but of documents. */
function isInRange(essence: string, range: string): boolean {
  const [start = '', end = ''] = range.split('*');
  return range === '*/*' || (range.includes('*') && essence.startsWith(start) && essence.endsWith(end));
}
