import { isUtf8 } from 'node:buffer';
import { refusal, rejected } from '../auth/oauth1-refusal.ts';
import { parseContentCoding } from '../http/content-coding.ts';
import { parseMediaType } from '../http/media-type.ts';
import type { Request } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import {
  isAscii,
  type Parameter,
  parseFormOctets,
  parseHeaderParameters,
} from '../signature/oauth1-parameters.ts';

/** The parameters of a signed request. */
export interface OAuth1Parameters {
  /** Those of the protocol by their names, in UTF-8. */
  readonly protocol: ReadonlyMap<string, string>;
  /** All that are signed, as octets: those of header, query and form. */
  readonly signed: readonly Parameter[];
  /** Whether the content is a form, and so is signed. */
  readonly signsForm: boolean;
}

/** To sort and encode more takes a server longer than it takes to send them, and nobody need be known for that. */
const mostSigned = 1000;

/** RFC 5849 §3.5: everything that begins so is the protocol's. */
const prefix = 'oauth_';

/** Where besides the Authorization field a request has parameters of the protocol; `content` says that it may. */
export function placeElsewhere(request: Request): 'target' | 'content' | undefined {
  const query = queryOf(request.target);
  // Most queries can be told at a glance.
  if (/oauth_|%/.test(query) && (parseFormOctets(query) ?? []).some(isProtocol)) return 'target';
  return hasForm(request) && !isCoded(request) ? 'content' : undefined;
}

/**
 * Reads the parameters; `rest` is what stands behind `OAuth` in the Authorization field, if it does. Undefined where none of
 * them is the protocol's. Rejects with a Problem: where they cannot be read, stand in two places or twice, or where the
 * content cannot be had, is too long (413) or is coded (415).
 */
export async function readOAuth1Parameters(
  request: Request,
  rest: string | undefined,
  bodyLimit: number,
): Promise<OAuth1Parameters | undefined> {
  const header = rest === undefined ? [] : parseHeaderParameters(rest);
  if (typeof header === 'string') throw refusal('parameter_rejected', `In Authorization ${header}.`);
  const query = parseFormOctets(queryOf(request.target));
  if (query === undefined) throw refusal('parameter_rejected', 'The query has a malformed escape.');
  const signsForm = hasForm(request);
  const form = signsForm ? await readForm(request, bodyLimit, rest === undefined) : [];
  const places = [header, query, form].map((place) => place.filter(isProtocol)).filter(isFilled);
  // What is in the field is meant to be credentials, be it nothing.
  if (rest !== undefined && !header.some(isProtocol)) places.unshift([]);
  const [protocol, ...others] = places;
  if (protocol === undefined) return undefined;
  if (others.length > 0) throw rejected('They stand in more than one place.', others.flat().map(nameOf));
  const parameters = { protocol: textByName(protocol), signed: [...header, ...query, ...form], signsForm };
  if (parameters.signed.length > mostSigned)
    throw refusal('parameter_rejected', `At most ${mostSigned} parameters can be signed.`);
  return parameters;
}

/** The values of a parameter that is not the protocol's, in UTF-8, in the order sent. */
export function valuesOf({ signed }: OAuth1Parameters, name: string): string[] {
  return signed.filter(([each]) => each === name).map(([, value]) => textOf(name, value));
}

function queryOf(target: string): string {
  const question = target.indexOf('?');
  return question < 0 ? '' : target.slice(question + 1);
}

function hasForm({ body, fields }: Request): boolean {
  const type = body.present ? fields.get('content-type') : undefined;
  return type !== undefined && parseMediaType(type)?.type === 'application/x-www-form-urlencoded';
}

function isCoded({ fields }: Request): boolean {
  return parseContentCoding(fields.get('content-encoding')) !== 'identity';
}

async function readForm(request: Request, limit: number, mayBeOthers: boolean): Promise<Parameter[]> {
  if (isCoded(request)) {
    throw new Problem('unsupported-content-coding', 'A form that is signed is read without a coding.', {
      fields: [['Accept-Encoding', 'identity']],
    });
  }
  const content = Buffer.from(await request.body.hold(limit)).toString('latin1');
  const form = parseFormOctets(content);
  // Somebody else's form is not this protocol's to refuse.
  if (form === undefined && mayBeOthers && !content.includes(prefix)) return [];
  if (form === undefined) throw refusal('parameter_rejected', 'The form has a malformed escape.');
  return form;
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
  throw rejected('They were sent more than once.', again);
}

function textOf(name: string, octets: string): string {
  if (isAscii(octets)) return octets;
  const bytes = Buffer.from(octets, 'latin1');
  if (!isUtf8(bytes)) throw rejected('The value is not UTF-8.', [name]);
  return bytes.toString('utf8');
}
