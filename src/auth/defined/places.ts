// Finds out where a definition sends its credentials, by what `format` returns for examples of them.
import { isDeepStrictEqual } from 'node:util';
import { HttpHeaders } from '../../http/fields.ts';
import type { SchemeCredentials, SignedParts } from './definition.ts';
import { createSchemeRequest } from './request.ts';
import type { DefinitionPlaces, SignaturePlace, UnplacedDefinition } from './sealed.ts';

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
export function findPlaces(definition: UnplacedDefinition): DefinitionPlaces {
  const signed = formatExample(definition, example);
  checkNames(definition, signed);
  const later = formatExample(definition, { ...example, date: example.date + 86_400_000 });
  const dateField = Object.entries(signed.headers ?? {}).find(
    ([name, value]) => later.headers?.[name] !== value,
  )?.[0];
  const { place, value } = findSignature(definition, signed);
  return { place, form: buildForm(value), dateField, isDated: !isDeepStrictEqual(signed, later) };
}

function formatExample(definition: UnplacedDefinition, credentials: SchemeCredentials): SignedParts {
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

function checkNames({ headers, query }: UnplacedDefinition, signed: SignedParts): void {
  const known = headers.map((name) => name.toLowerCase());
  for (const name of Object.keys(signed.headers ?? {}))
    if (!known.includes(name.toLowerCase()))
      throw new RangeError(`format sends the field ${name}, which headers does not name`);
  for (const name of Object.keys(signed.query ?? {}))
    if (!query.includes(name))
      throw new RangeError(`format sends the parameter ${name}, which query does not name`);
}

/** Returns the place whose value contains the signature; the first place if the signature is written in another form. */
function findSignature(
  { headers, query }: UnplacedDefinition,
  signed: SignedParts,
): { readonly place: SignaturePlace; readonly value: string } {
  for (const [field, value] of Object.entries(signed.headers ?? {}))
    if (value.includes(example.signature)) return { place: { field }, value };
  for (const [name, value] of Object.entries(signed.query ?? {}))
    if (value.includes(example.signature)) return { place: { query: name }, value };
  const [field] = headers;
  return { place: field === undefined ? { query: query[0] ?? '' } : { field }, value: example.signature };
}

/** Returns what matches values such as this one: up to the separators beside the signature, they may be any text. */
function buildForm(value: string): RegExp {
  const at = value.indexOf(example.signature);
  const [before, after] = [value.slice(0, at), value.slice(at + example.signature.length)];
  const lead = /[\s,;:&]?[^\s,;:&]*$/.exec(before)?.[0] ?? '';
  const tail = /^[^\s,;:&]*[\s,;:&]?/.exec(after)?.[0] ?? '';
  const preceding = before === '' ? '()' : `(.*${escapeLiteral(lead)})`;
  const following = after === '' ? '()' : `(${escapeLiteral(tail)}.*)`;
  return new RegExp(`^${preceding}(.+?)${following}$`, 's');
}

function escapeLiteral(literal: string): string {
  return literal.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
