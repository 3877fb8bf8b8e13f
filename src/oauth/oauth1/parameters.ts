import { isUtf8 } from 'node:buffer';
import { oauth1Error, rejectedParameters } from '../../auth/oauth1/error.ts';
import {
  hasForm,
  hasTooManyParameters,
  holdForm,
  isCoded,
  isDeclaredLonger,
  maxFormLength,
  maxFormParameters,
  queryOf,
} from '../../http/form.ts';
import type { Request } from '../../http/message.ts';
import { isMethod, isSafe } from '../../http/method.ts';
import { Problem } from '../../http/problem.ts';
import {
  isAscii,
  type Parameter,
  parseFormOctets,
  parseHeaderParameters,
} from '../../signature/oauth1-parameters.ts';

/** The parameters of a signed request. */
export interface OAuth1Parameters {
  /** The protocol parameters by name, in UTF-8. */
  readonly protocol: ReadonlyMap<string, string>;
  /** All signed parameters, as octets: those of header, query and form. */
  readonly signed: readonly Parameter[];
  /** Whether the content is a form and therefore signed. */
  readonly signsForm: boolean;
}

/** Names of protocol parameters begin with this (RFC 5849 §3.5). */
const prefix = 'oauth_';

/** Matches the name of a protocol parameter in an encoded form. Some clients encode the underscore. */
const rawName = /(?:^|&)oauth(?:_|%5f)/i;

/**
 * Returns where else than in the Authorization field a request has protocol parameters: `target` if it has some in the query,
 * `content` if it may have some in the content.
 */
export function placeElsewhere(request: Request): 'target' | 'content' | undefined {
  if (hasProtocol(queryOf(request.target))) return 'target';
  return mayHaveSignedForm(request) ? 'content' : undefined;
}

/** Returns whether a query has protocol parameters. A query of more than 1,000 parameters is not decoded. */
function hasProtocol(query: string): boolean {
  if (hasTooManyParameters(query)) return rawName.test(query);
  // Most queries have none, which shows without decoding.
  return /oauth_|%/.test(query) && (parseFormOctets(query) ?? []).some(isProtocol);
}

/**
 * Returns whether the content may have protocol parameters. Content of a safe method has no meaning (RFC 9110 §9.3.1), and a form
 * beyond the limit is not accepted as signed.
 */
function mayHaveSignedForm(request: Request): boolean {
  const { method } = request;
  if (isMethod(method) && isSafe(method)) return false;
  return hasForm(request) && !isCoded(request) && !isDeclaredLonger(request, maxFormLength);
}

/**
 * Reads the parameters of a request. A form has at most 64 KiB, and a request at most 1,000 parameters. Resolves to undefined if
 * there are no protocol parameters. Rejects with a Problem if the parameters are malformed, repeated, too many or in two places,
 * or if the content is incomplete, too long (413) or coded (415).
 *
 * @param rest The part of the Authorization field after `OAuth`; undefined without the field.
 * @param bodyLimit Maximum content length in bytes.
 */
export async function readOAuth1Parameters(
  request: Request,
  rest: string | undefined,
  bodyLimit: number,
): Promise<OAuth1Parameters | undefined> {
  const header = rest === undefined ? [] : parseHeaderParameters(rest);
  if (typeof header === 'string') throw oauth1Error('parameter_rejected', `Authorization: ${header}.`);
  const query = parametersOf(queryOf(request.target), 'query');
  const signsForm = hasForm(request);
  // Protocol parameters are in one place. If that is not the form, the form is signed with them.
  const mayHaveNone = rest === undefined && !query.some(isProtocol);
  const form = signsForm ? await readForm(request, bodyLimit, mayHaveNone) : [];
  const places = [header, query, form].map((place) => place.filter(isProtocol)).filter(isFilled);
  // The Authorization field counts as a place even if it has no parameters.
  if (rest !== undefined && !header.some(isProtocol)) places.unshift([]);
  const [protocol, ...others] = places;
  if (protocol === undefined) return undefined;
  if (others.length > 0)
    throw rejectedParameters(
      'Protocol parameters were sent in more than one place.',
      others.flat().map(nameOf),
    );
  const parameters = { protocol: textByName(protocol), signed: [...header, ...query, ...form], signsForm };
  if (parameters.signed.length > maxFormParameters) throw tooMany();
  return parameters;
}

/** Returns the values of a parameter that is not a protocol parameter, in UTF-8, in the order sent. */
export function valuesOf({ signed }: OAuth1Parameters, name: string): string[] {
  return signed.filter(([each]) => each === name).map(([, value]) => textOf(name, value));
}

/** Parses a query or a form. Counts the parameters first, because the sender is not authenticated yet. */
function parametersOf(text: string, place: 'query' | 'form'): Parameter[] {
  if (hasTooManyParameters(text)) throw tooMany();
  const parameters = parseFormOctets(text);
  if (parameters === undefined)
    throw oauth1Error('parameter_rejected', `The ${place} has a malformed percent-encoding.`);
  return parameters;
}

function tooMany(): Problem {
  return oauth1Error(
    'parameter_rejected',
    `A signed request can have at most ${maxFormParameters} parameters.`,
  );
}

/** Reads the form of a request. With `mayHaveNone`, a form without a protocol parameter is not parsed. */
async function readForm(
  request: Request,
  bodyLimit: number,
  mayHaveNone: boolean,
): Promise<readonly Parameter[]> {
  if (isCoded(request)) {
    throw new Problem('unsupported-content-coding', 'A signed form must be sent without a content coding.', {
      fields: [['Accept-Encoding', 'identity']],
    });
  }
  const content = Buffer.from(await holdForm(request, bodyLimit)).toString('latin1');
  return mayHaveNone && !rawName.test(content) ? [] : parametersOf(content, 'form');
}

function isProtocol([name]: Parameter): boolean {
  return name.startsWith(prefix);
}

function isFilled(place: readonly Parameter[]): boolean {
  return place.length > 0;
}

function nameOf([name]: Parameter): string {
  return name;
}

function textByName(parameters: readonly Parameter[]): ReadonlyMap<string, string> {
  const values = new Map(parameters.map(([name, value]) => [name, textOf(name, value)]));
  if (values.size === parameters.length) return values;
  // Linear time: the sender is not authenticated yet.
  const once = new Set<string>();
  const again = parameters.map(nameOf).filter((name) => once.size === once.add(name).size);
  throw rejectedParameters('A protocol parameter was sent more than once.', again);
}

function textOf(name: string, octets: string): string {
  if (isAscii(octets)) return octets;
  const bytes = Buffer.from(octets, 'latin1');
  if (!isUtf8(bytes)) throw rejectedParameters('The value is not valid UTF-8.', [name]);
  return bytes.toString('utf8');
}
