// Finds out where a definition sends its credentials, by what `format` returns for examples of them.

import { isDeepStrictEqual } from 'node:util';
import { HttpHeaders } from '../../http/fields.ts';
import { escapeLiteral } from '../../http/syntax/character-class.ts';
import type { Place } from '../../signature/declared/places.ts';
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
  const fields = new HttpHeaders(['Host', 'host.example']);
  const source = { method: 'GET', target: '/', fields, secure: true, hasBody: false };
  const request = createSchemeRequest(source, () => Buffer.alloc(0));
  try {
    return definition.format(credentials, request);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RangeError(`format throws for ${JSON.stringify(credentials)}: ${reason}`);
  }
}

function checkNames({ headers = [], query = [], json = [], form = [] }: Definition, signed: Written): void {
  const known = headers.map((name) => name.toLowerCase());
  for (const name of Object.keys(signed.headers ?? {}))
    if (!known.includes(name.toLowerCase()))
      throw new RangeError(`format sends the field ${name}, which headers does not name`);
  const others = [
    ['parameter', 'query', query, signed.query],
    ['member', 'json', json, signed.json],
    ['parameter', 'form', form, signed.form],
  ] as const;
  for (const [what, option, names, values = {}] of others)
    for (const name of Object.keys(values))
      if (!names.includes(name))
        throw new RangeError(`format sends the ${what} ${name}, which ${option} does not name`);
}

/** Returns the place whose value contains the signature; the first place if the signature is written in another form. */
function findSignature(
  { headers = [], query = [], json = [], form = [] }: Definition,
  signed: Written,
): { readonly place: Place; readonly value: string } {
  const written: (readonly [Place, string])[] = [
    ...Object.entries(signed.headers ?? {}).map(([field, value]) => [{ field }, value] as const),
    ...Object.entries(signed.query ?? {}).map(([name, value]) => [{ query: name }, value] as const),
    ...Object.entries(signed.json ?? {}).map(([pointer, value]) => [{ json: pointer }, value] as const),
    ...Object.entries(signed.form ?? {}).map(([name, value]) => [{ form: name }, value] as const),
  ];
  const [place, value] = written.find(([, each]) => each.includes(example.signature)) ?? [];
  if (place !== undefined && value !== undefined) return { place, value };
  const [first = { query: '' }] = [
    ...headers.map((field): Place => ({ field })),
    ...query.map((name): Place => ({ query: name })),
    ...json.map((pointer): Place => ({ json: pointer })),
    ...form.map((name): Place => ({ form: name })),
  ];
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
