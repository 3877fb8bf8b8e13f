// The usual mistakes in the form of Signature-Input and Signature, which need no key to be recognized.

import { describeTimeForm } from '../freshness.ts';

/** Forms of Signature-Input (RFC 9421 §4.1) that are no dictionary of inner lists, and what is wrong. */
const inputForms: readonly (readonly [form: RegExp, hint: string])[] = [
  [/\([ \t]*@?[a-z]/i, 'the names of the components are without quotes; ("@method" "@path") is expected'],
  [/\([ \t]*'/, 'the names are in single quotes; double quotes are expected'],
  [/"[ \t]*[,;][ \t]*"/, 'the components are separated by a comma or a semicolon; a space is expected'],
  [/;\s*keyid=[^"]/, 'keyid is without quotes; keyid="…" is expected'],
  [/;\s*alg=[^"]/, 'alg is without quotes; alg="…" is expected'],
  [/;\s*nonce=[^"]/, 'nonce is without quotes; nonce="…" is expected'],
  [/;\s*tag=[^"]/, 'tag is without quotes; tag="…" is expected'],
  [/\),\s*[a-z]+=/, 'the parameters are separated by a comma; ";" is expected'],
  [/^\s*\(/, 'the label is missing; sig1=("@method" …);created=… is expected'],
  [/^[^(]*$/, 'the components are not in parentheses; sig1=("@method" …);created=… is expected'],
];

/** Forms of Signature (RFC 9421 §4.2) that are no dictionary of byte sequences, and what is wrong. */
const signatureForms: readonly (readonly [form: RegExp, hint: string])[] = [
  [/^[a-z*][a-z0-9_.*-]*="/, 'the signature is in quotes; it is expected between colons: sig1=:BASE64:'],
  [/^[a-z*][a-z0-9_.*-]*=[^:=]/, 'the colons around the base64 are missing; sig1=:BASE64: is expected'],
  [/^:?[A-Za-z0-9+/_-]{20,}={0,2}:?$/, 'the signature was sent without its label; sig1=:BASE64: is expected'],
];

/** Returns what is wrong with the fields of a signature that cannot be parsed; undefined if nothing usual is. */
export function describeFieldForms(
  input: string | undefined,
  signature: string | undefined,
): string | undefined {
  const created = findCreatedHint(input ?? '');
  if (created !== undefined) return created;
  if (signature !== undefined && /\bkeyId="/.test(signature))
    return 'a signature of draft-cavage-http-signatures was sent; RFC 9421 has Signature-Input, and sig1=:BASE64: in Signature';
  const find = (forms: typeof inputForms, value: string | undefined): string | undefined =>
    value === undefined ? undefined : forms.find(([form]) => form.test(value))?.[1];
  if (input === undefined) return 'it names what is signed: sig1=("@method" …);created=…;keyid="…"';
  return find(inputForms, input) ?? find(signatureForms, signature) ?? describeLabels(input, signature);
}

/** Returns the label that Signature has if Signature-Input has another one. */
function describeLabels(input: string, signature: string | undefined): string | undefined {
  const [own, other] = [input, signature ?? ''].map((value) => /^[a-z*][a-z0-9_.*-]*(?==)/.exec(value)?.[0]);
  return own === undefined || other === undefined || own === other
    ? undefined
    : `Signature-Input has the label ${own}, and Signature ${other}; both need the same`;
}

/** Returns the hint at a `created` that is not an integer. */
function findCreatedHint(input: string): string | undefined {
  const sent = /;\s*created=([^;]*)/.exec(input)?.[1]?.trim();
  if (sent === undefined || /^\d{1,15}$/.test(sent)) return undefined;
  const [, quoted] = /^"([^"]*)"/.exec(sent) ?? [];
  const form = describeTimeForm(quoted ?? sent);
  if (form !== undefined && form !== 'a number') return `created is ${form}`;
  return quoted === undefined ? undefined : 'created is a string; send the number without quotes';
}
