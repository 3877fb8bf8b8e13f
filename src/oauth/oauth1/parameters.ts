import { isUtf8 } from 'node:buffer';
import { oauth1Error, rejectedParameters } from '../../auth/oauth1/error.ts';
import {
  hasForm,
  hasTooManyParameters,
  isCoded,
  isDeclaredLonger,
  maxFormLength,
  maxFormParameters,
  queryOf,
} from '../../http/form.ts';
import type { Request } from '../../http/message.ts';
import { isMethod, isSafe } from '../../http/method.ts';
import { contentTooLarge, Problem } from '../../http/problem.ts';
import {
  isAscii,
  type Parameter,
  parseFormOctets,
  parseHeaderParameters,
} from '../../signature/oauth1-parameters.ts';

/** The parameters of a signed request. */
export interface OAuth1Parameters {
  /** Those of the protocol by their names, in UTF-8. */
  readonly protocol: ReadonlyMap<string, string>;
  /** All that are signed, as octets: those of header, query and form. */
  readonly signed: readonly Parameter[];
  /** Whether the content is a form, and so is signed. */
  readonly signsForm: boolean;
}

/** RFC 5849 §3.5: everything that begins so is the protocol's. */
const prefix = 'oauth_';

/** A name of the protocol in a form that is not decoded. Some clients encode the underscore. */
const rawName = /(?:^|&)oauth(?:_|%5f)/i;

/** Returns where besides the Authorization field a request has parameters of the protocol; `content`: it may have some there. */
export function placeElsewhere(request: Request): 'target' | 'content' | undefined {
  if (hasProtocol(queryOf(request.target))) return 'target';
  return mayHaveSignedForm(request) ? 'content' : undefined;
}

/** Returns whether a query has parameters of the protocol. One with more than 1,000 parameters is not decoded to find out. */
function hasProtocol(query: string): boolean {
  if (hasTooManyParameters(query)) return rawName.test(query);
  // Most queries have none, and need no decoding to see that.
  return /oauth_|%/.test(query) && (parseFormOctets(query) ?? []).some(isProtocol);
}

/**
 * Returns whether the content has to be read to find out whether the protocol's parameters are in it. Content of a safe
 * method has no meaning (RFC 9110 §9.3.1), and a form beyond the limit is not accepted as signed.
 */
function mayHaveSignedForm(request: Request): boolean {
  const { method } = request;
  if (isMethod(method) && isSafe(method)) return false;
  return hasForm(request) && !isCoded(request) && !isDeclaredLonger(request, maxFormLength);
}

/**
 * Reads the parameters; `rest` is the part of the Authorization field after `OAuth`. Resolves to undefined if none of them
 * is the protocol's. A form is at most 64 KiB, and there are at most 1,000 parameters. Rejects with a Problem: if they are
 * malformed, repeated, too many or in two places, or if the content is incomplete, too long (413) or coded (415).
 */
export async function readOAuth1Parameters(
  request: Request,
  rest: string | undefined,
  bodyLimit: number,
): Promise<OAuth1Parameters | undefined> {
  const header = rest === undefined ? [] : parseHeaderParameters(rest);
  if (typeof header === 'string') throw oauth1Error('parameter_rejected', `In Authorization ${header}.`);
  const query = parametersOf(queryOf(request.target), 'query');
  const signsForm = hasForm(request);
  // Parameters of the protocol stand in one place. If it is another one, the form is signed with them.
  const mayBeOthers = rest === undefined && !query.some(isProtocol);
  const form = signsForm ? await readForm(request, bodyLimit, mayBeOthers) : [];
  const places = [header, query, form].map((place) => place.filter(isProtocol)).filter(isFilled);
  // What is in the field is meant to be credentials, be it nothing.
  if (rest !== undefined && !header.some(isProtocol)) places.unshift([]);
  const [protocol, ...others] = places;
  if (protocol === undefined) return undefined;
  if (others.length > 0)
    throw rejectedParameters('They stand in more than one place.', others.flat().map(nameOf));
  const parameters = { protocol: textByName(protocol), signed: [...header, ...query, ...form], signsForm };
  if (parameters.signed.length > maxFormParameters) throw tooMany();
  return parameters;
}

/** The values of a parameter that is not the protocol's, in UTF-8, in the order sent. */
export function valuesOf({ signed }: OAuth1Parameters, name: string): string[] {
  return signed.filter(([each]) => each === name).map(([, value]) => textOf(name, value));
}

/** Reads a query or a form. Counts the parameters first: nobody is known yet. */
function parametersOf(text: string, place: 'query' | 'form'): Parameter[] {
  if (hasTooManyParameters(text)) throw tooMany();
  const parameters = parseFormOctets(text);
  if (parameters === undefined)
    throw oauth1Error('parameter_rejected', `The ${place} has a malformed escape.`);
  return parameters;
}

function tooMany(): Problem {
  return oauth1Error('parameter_rejected', `At most ${maxFormParameters} parameters can be signed.`);
}

/** Reads the form of a request. Without a name of the protocol in it, a form that may be another one is not parsed. */
async function readForm(
  request: Request,
  bodyLimit: number,
  mayBeOthers: boolean,
): Promise<readonly Parameter[]> {
  if (isCoded(request)) {
    throw new Problem('unsupported-content-coding', 'A form that is signed is read without a coding.', {
      fields: [['Accept-Encoding', 'identity']],
    });
  }
  const limit = Math.min(bodyLimit, maxFormLength);
  if (isDeclaredLonger(request, limit)) throw contentTooLarge(limit);
  const content = Buffer.from(await request.body.hold(limit)).toString('latin1');
  return mayBeOthers && !rawName.test(content) ? [] : parametersOf(content, 'form');
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
  // Whoever sends thousands is nobody yet, so each is looked at once.
  const once = new Set<string>();
  const again = parameters.map(nameOf).filter((name) => once.size === once.add(name).size);
  throw rejectedParameters('They were sent more than once.', again);
}

function textOf(name: string, octets: string): string {
  if (isAscii(octets)) return octets;
  const bytes = Buffer.from(octets, 'latin1');
  if (!isUtf8(bytes)) throw rejectedParameters('The value is not UTF-8.', [name]);
  return bytes.toString('utf8');
}
