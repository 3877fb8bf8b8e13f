// Component identifiers (RFC 9421 §2).

import { parseItem } from '../../http/structured-fields/parse.ts';
import { serializeItem } from '../../http/structured-fields/serialize.ts';
import { type BareItem, type Item, type Parameters, stringItem } from '../../http/structured-fields/value.ts';
import { isRequestComponent, requestComponents } from './derived-components.ts';

/** The kind of message that a signature covers. */
export type MessageKind = 'request' | 'response';

/** The names of all derived components that are supported. */
export const derivedComponents: readonly string[] = [...requestComponents, '@query-param', '@status'];

/** Returns the name of a component; '' if the identifier is not a string, which `identifierFault` reports. */
export function readName({ bare }: Item): string {
  return bare.type === 'string' ? bare.value : '';
}

/** Returns the value of a string parameter; undefined if it is absent or of another type. */
export function stringParameter(parameters: Parameters, name: string): string | undefined {
  const bare = parameters.get(name);
  return bare?.type === 'string' ? bare.value : undefined;
}

/** Returns why a component identifier is invalid in a signature of such a message, or undefined (RFC 9421 §2.5). */
export function identifierFault(identifier: Item, kind: MessageKind): string | undefined {
  const { bare, parameters } = identifier;
  if (bare.type !== 'string') return 'a component identifier is not a string';
  const name = bare.value;
  const isDerived = name.startsWith('@');
  if (!isDerived && !/^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name)) return nameFault(name);
  const fault = isDerived ? findDerivedFault(name, parameters) : undefined;
  if (fault !== undefined) return fault;
  if (parameters.size === 0)
    return kind === 'request' ? statusFault(name) : findRequestFault(name, parameters);
  return parametersFault(identifier, isDerived) ?? findContextFault(name, parameters, kind);
}

function nameFault(name: string): string {
  const shown = JSON.stringify(name);
  return name === name.toLowerCase()
    ? `${shown} is not the name of a component`
    : `the component ${shown} is not in lower case`;
}

function findDerivedFault(name: string, parameters: Parameters): string | undefined {
  if (name === '@signature-params') return '"@signature-params" must not be covered';
  if (name === '@query-param')
    return stringParameter(parameters, 'name') === undefined
      ? '"@query-param" requires the parameter name'
      : undefined;
  return name === '@status' || isRequestComponent(name)
    ? undefined
    : `the derived component ${JSON.stringify(name)} is not known`;
}

function statusFault(name: string): string | undefined {
  return name === '@status' ? '"@status" must not be used in a request' : undefined;
}

/** Checks that a component of a request is taken from the request, in the signature of a response. */
function findRequestFault(name: string, parameters: Parameters): string | undefined {
  const isOfRequest = name === '@query-param' || isRequestComponent(name);
  if (isOfRequest && !parameters.has('req')) return `"${name}" requires the parameter req in a response`;
  return name === '@status' && parameters.has('req')
    ? '"@status" must not have the parameter req'
    : undefined;
}

function findContextFault(name: string, parameters: Parameters, kind: MessageKind): string | undefined {
  if (kind === 'response') return findRequestFault(name, parameters);
  return parameters.has('req') ? 'the parameter req must not be used in a request' : statusFault(name);
}

const isFlag = ({ type, value }: BareItem): boolean => type === 'boolean' && value;

function parametersFault({ bare, parameters }: Item, isDerived: boolean): string | undefined {
  const named = bare.value === '@query-param' ? 'name' : undefined;
  for (const [key, value] of parameters) {
    const isString = isDerived ? key === named : key === 'key';
    const isKnownFlag = key === 'req' || (!isDerived && (key === 'sf' || key === 'bs' || key === 'tr'));
    if (!isString && !isKnownFlag) return `${String(bare.value)} must not have the parameter ${key}`;
    if (isString ? value.type !== 'string' : !isFlag(value))
      return `the parameter ${key} of ${String(bare.value)} has an invalid value`;
  }
  const isWrapped = parameters.has('bs') && (parameters.has('sf') || parameters.has('key'));
  return isWrapped ? 'the parameter bs must not be combined with sf or key' : undefined;
}

/**
 * Returns a text that is the same for equal identifiers: the order of their parameters does not count (RFC 9421 §2).
 */
export function identifierKey(identifier: Item): string {
  const { bare, parameters } = identifier;
  if (parameters.size < 2) return serializeItem(identifier);
  const sorted = [...parameters].sort(([one], [other]) => (one < other ? -1 : 1));
  return serializeItem({ bare, parameters: new Map(sorted) });
}

/**
 * Parses an identifier as written in a configuration: `@method`, `content-digest;req`, or with quotes as in Signature-Input.
 * Throws StructuredFieldError if it is malformed.
 */
export function parseIdentifier(text: string): Item {
  if (text.startsWith('"')) return parseItem(text);
  const end = text.indexOf(';');
  if (end < 0) return stringItem(text);
  return parseItem(`"${text.slice(0, end)}"${text.slice(end)}`);
}

/** Returns whether a covered component is the Content-Digest of the message itself, with an algorithm that is verified. */
export function coversContentDigest({ bare, parameters }: Item): boolean {
  if (bare.value !== 'content-digest' || parameters.has('req') || parameters.has('tr')) return false;
  const key = parameters.get('key')?.value;
  return key === undefined || key === 'sha-256' || key === 'sha-512';
}
