import {
  type Form,
  hasForm,
  hasTooManyParameters,
  isCoded,
  maxFormParameters,
  mayHoldSigned,
  type Parameter,
  parseFormOctets,
} from '../../http/form.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import { decodeUtf8, octetsOf } from '../../http/syntax/octets.ts';
import { findQuery } from '../../http/target.ts';
import { isProtocol, parseHeaderParameters } from '../../schemes/oauth1/parameters.ts';
import { oauth1Error, rejectedParameters } from './error.ts';

/** The parameters of a signed request. */
export interface OAuth1Parameters {
  /** The protocol parameters by name, in UTF-8. */
  readonly protocol: ReadonlyMap<string, string>;
  /** The signed parameters of the Authorization field and the query, as octets. */
  readonly signed: readonly Parameter[];
  /** Those of the form, likewise; undefined if the content is a form that has not been read. */
  readonly form: readonly Parameter[] | undefined;
}

/** Matches the name of a protocol parameter in an encoded form. Some clients encode the underscore. */
const rawName = /(?:^|&)oauth(?:_|%5f)/i;

/** Returns whether a query has protocol parameters. A query of more than 1,000 parameters is not decoded. */
export function hasProtocol(query: string): boolean {
  if (hasTooManyParameters(query)) return rawName.test(query);
  // Most queries have none, which shows without decoding.
  return /oauth_|%/.test(query) && (parseFormOctets(query) ?? []).some(isProtocol);
}

/** Returns whether the content may have protocol parameters. */
export function mayHaveSignedForm(request: IncomingRequest): boolean {
  return hasForm(request) && mayHoldSigned(request);
}

/**
 * Reads the parameters of the Authorization field and the query, which have at most 1,000. There are no protocol parameters if they
 * may be in the form. Returns a Problem if parameters are malformed, repeated, too many or in two places, or if the content is a
 * form with a content coding (415).
 *
 * @param rest The part of the Authorization field after `OAuth`; undefined without the field.
 */
export function readSignedParameters(
  request: IncomingRequest,
  rest: string | undefined,
): OAuth1Parameters | Problem {
  const header = rest === undefined ? [] : parseHeaderParameters(rest);
  if (typeof header === 'string') return oauth1Error('parameter_rejected', `Authorization: ${header}.`);
  const query = parseParameters(findQuery(request.target), 'query');
  if (query instanceof Problem) return query;
  const signsForm = hasForm(request);
  if (signsForm && isCoded(request))
    return new Problem('unsupported-content-coding', 'A signed form must be sent without a content coding.', {
      headers: [['Accept-Encoding', 'identity']],
    });
  const inQuery = query.filter(isProtocol);
  // The Authorization field counts as a place even if it has no parameters.
  if (rest !== undefined && inQuery.length > 0) return inTwoPlaces(inQuery);
  const signed = [...header, ...query];
  if (signed.length > maxFormParameters) return tooMany();
  const protocol = textByName(rest === undefined ? inQuery : header.filter(isProtocol));
  if (protocol instanceof Problem) return protocol;
  return { protocol, signed, form: signsForm ? undefined : [] };
}

/**
 * Adds the parameters of the form. Returns a Problem if it is malformed, or has protocol parameters or more than 1,000 parameters
 * beside those that were read.
 */
export function addForm(parameters: OAuth1Parameters, content: Uint8Array): OAuth1Parameters | Problem {
  const { protocol, signed } = parameters;
  const form = parseParameters(octetsOf(content), 'form');
  if (form instanceof Problem) return form;
  if (signed.length + form.length > maxFormParameters) return tooMany();
  const inForm = form.filter(isProtocol);
  if (inForm.length > 0 && protocol.size > 0) return inTwoPlaces(inForm);
  const named = inForm.length === 0 ? protocol : textByName(inForm);
  return named instanceof Problem ? named : { protocol: named, signed, form };
}

/** Returns whether content, which is a form, may have protocol parameters. Shows it without decoding. */
export function mayHaveProtocol(content: Uint8Array): boolean {
  return rawName.test(octetsOf(content));
}

/** Returns the values of a parameter that is not a protocol parameter, in UTF-8, in the order sent, or a Problem. */
export function readValues({ signed, form = [] }: OAuth1Parameters, name: string): string[] | Problem {
  const values: string[] = [];
  for (const [each, octets] of [...signed, ...form]) {
    const value = each === name ? decodeUtf8(octets) : undefined;
    if (each === name && value === undefined) return notUtf8(name);
    if (value !== undefined) values.push(value);
  }
  return values;
}

/** Parses a query or a form. Counts the parameters first, because the sender is not authenticated yet. */
function parseParameters(text: string, place: 'query' | 'form'): Form | Problem {
  if (hasTooManyParameters(text)) return tooMany();
  return (
    parseFormOctets(text) ??
    oauth1Error('parameter_rejected', `The ${place} has a malformed percent-encoding.`)
  );
}

function tooMany(): Problem {
  return oauth1Error(
    'parameter_rejected',
    `A signed request can have at most ${maxFormParameters} parameters.`,
  );
}

function inTwoPlaces(others: readonly Parameter[]): Problem {
  return rejectedParameters(
    'Protocol parameters were sent in more than one place.',
    others.map(([name]) => name),
  );
}

function textByName(parameters: readonly Parameter[]): ReadonlyMap<string, string> | Problem {
  const values = new Map<string, string>();
  const again: string[] = [];
  for (const [name, octets] of parameters) {
    const value = decodeUtf8(octets);
    if (value === undefined) return notUtf8(name);
    if (values.has(name)) again.push(name);
    values.set(name, value);
  }
  return again.length === 0
    ? values
    : rejectedParameters('A protocol parameter was sent more than once.', again);
}

function notUtf8(name: string): Problem {
  return rejectedParameters('The value is not valid UTF-8.', [name]);
}
