// Finds out where a definition sends its credentials, by what `format` returns for examples of them.

import { isDeepStrictEqual } from 'node:util';
import { createRequest } from '../../http/message.ts';
import { escapeLiteral } from '../../http/syntax/character-class.ts';
import { type Place, placeKey } from '../declared/place.ts';
import type { Definition, SchemeCredentials } from './definition.ts';
import { createSchemeRequest } from './request.ts';

/** What `format` shows of a definition. */
export interface DefinitionPlaces {
  /** The place of the signature. */
  readonly place: Place;
  /** Matches the value there: what precedes the signature, the signature, and what follows it. */
  readonly valueForm: RegExp;
  /** The field that contains the date; undefined if none does. */
  readonly dateField: string | undefined;
  /** Whether the credentials contain the date. */
  readonly isDated: boolean;
}

const example: SchemeCredentials = {
  user: 'user',
  date: Date.UTC(2026, 0, 2, 3, 4, 5),
  nonce: 'nonce',
  signature: 'SIGNATURE',
};

/**
 * Finds the place of the signature and of the date.
 * @throws RangeError if `format` throws, or writes a field or parameter that `headers` and `query` do not name
 */
export function findPlaces(definition: Definition): DefinitionPlaces {
  const signed = formatExample(definition, example);
  checkNames(definition, signed);
  const later = formatExample(definition, { ...example, date: example.date + 86_400_000 });
  const dateField = Object.entries(signed.headers ?? {}).find(
    ([name, value]) => later.headers?.[name] !== value,
  )?.[0];
  const { place, value } = findSignature(definition, signed);
  return { place, valueForm: buildForm(value), dateField, isDated: !isDeepStrictEqual(signed, later) };
}

type Written = ReturnType<Definition['format']>;

function formatExample(definition: Definition, credentials: SchemeCredentials): Written {
  const headers = [['Host', 'host.example']] as const;
  const source = createRequest({ method: 'GET', target: '/', headers, secure: true });
  const request = createSchemeRequest(source, () => Buffer.alloc(0));
  try {
    return definition.format(credentials, request);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RangeError(`format throws for ${JSON.stringify(credentials)}: ${reason}`);
  }
}

/** Returns the places that a definition declares. */
export function listDeclaredPlaces({ headers, query, json, form }: Definition): readonly Place[] {
  return [
    ...(headers ?? []).map((field) => ({ field })),
    ...(query ?? []).map((name) => ({ query: name })),
    ...(json ?? []).map((pointer) => ({ json: pointer })),
    ...(form ?? []).map((name) => ({ form: name })),
  ];
}

/** Returns what `format` wrote, by its places. */
export function listWritten({ headers, query, json, form }: Written): readonly (readonly [Place, string])[] {
  return [
    ...Object.entries(headers ?? {}).map(([field, value]) => [{ field }, value] as const),
    ...Object.entries(query ?? {}).map(([name, value]) => [{ query: name }, value] as const),
    ...Object.entries(json ?? {}).map(([pointer, value]) => [{ json: pointer }, value] as const),
    ...Object.entries(form ?? {}).map(([name, value]) => [{ form: name }, value] as const),
  ];
}

/** What a place is, in messages, and the member of a definition that names it. */
const placeNames: Readonly<Record<string, readonly [what: string, member: string]>> = {
  field: ['field', 'headers'],
  query: ['parameter', 'query'],
  json: ['member', 'json'],
  form: ['parameter', 'form'],
};

function checkNames(definition: Definition, signed: Written): void {
  const declared = listDeclaredPlaces(definition).map(placeKey);
  for (const [place] of listWritten(signed)) {
    if (declared.includes(placeKey(place))) continue;
    const [[kind, name] = ['', '']] = Object.entries(place);
    const [what, member] = placeNames[kind] ?? [];
    throw new RangeError(`format sends the ${what} ${name}, which ${member} does not name`);
  }
}

/** Returns the place whose value contains the signature; the first place if the signature is written in another form. */
function findSignature(
  definition: Definition,
  signed: Written,
): { readonly place: Place; readonly value: string } {
  const [place, value] = listWritten(signed).find(([, each]) => each.includes(example.signature)) ?? [];
  if (place !== undefined && value !== undefined) return { place, value };
  const [first = { query: '' }] = listDeclaredPlaces(definition);
  return { place: first, value: example.signature };
}

/** Returns what matches values such as this one: up to the separators beside the signature, they may be any text. */
function buildForm(value: string): RegExp {
  const at = value.indexOf(example.signature);
  const [before, after] = [value.slice(0, at), value.slice(at + example.signature.length)];
  const lead = /(?:^|[\s,;:&])[^\s,;:&]*$/.exec(before)?.[0] ?? '';
  const tail = /^[^\s,;:&]*[\s,;:&]?/.exec(after)?.[0] ?? '';
  const preceding = before === '' ? '()' : `(.*${escapeLiteral(lead)})`;
  const following = after === '' ? '()' : `(${escapeLiteral(tail)}.*)`;
  return new RegExp(`^${preceding}(.+?)${following}$`, 's');
}
