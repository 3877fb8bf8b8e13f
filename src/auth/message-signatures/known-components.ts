import { readPlainParameters } from '../../signature/message-signatures/plain-parameters.ts';
import type { MessageSignature } from '../../signature/message-signatures/signature-fields.ts';
import { base64End } from '../../signature/structured-fields/characters.ts';
import type { JudgedComponents, KnownSignature } from './requirements.ts';

/** The label and the covered components of accepted requests. */
interface Known {
  /** The beginning of Signature: `sig1=:`. */
  readonly signatureStart: string;
  readonly components: JudgedComponents;
}

/** The maximum number and length of beginnings of Signature-Input. */
const maxKnown = 64;
const maxLength = 1024;

/**
 * Remembers how Signature-Input of accepted requests begins, up to the closing parenthesis: a client usually covers the same
 * components in each request, and only the parameters differ. Parsing and judging the components again would take longer than
 * the rest of the verification with HMAC.
 */
export class KnownComponents {
  readonly #known = new Map<string, Known>();

  /** Returns the signature of a request with known components; undefined if the fields must be parsed as a whole. */
  find(input: string | undefined, signature: string | undefined): KnownSignature | undefined {
    if (input === undefined || signature === undefined) return undefined;
    const end = input.indexOf(')') + 1;
    const known = this.#known.get(input.slice(0, end));
    if (known === undefined) return undefined;
    const { components, signatureStart } = known;
    const serialized = input.slice(end);
    const value = soleSignature(signature, signatureStart);
    const parameters = readPlainParameters(serialized);
    if (value === undefined || parameters === undefined) return undefined;
    return { components, parameters, serialized, value };
  }

  /** Remembers the components of an accepted request. */
  remember(input: string, { label }: MessageSignature, components: JudgedComponents): void {
    const start = `${label}=${components.list}`;
    // Not if a parameter of a component has a parenthesis, or the field is not serialized strictly.
    if (start.length > maxLength || input.slice(0, input.indexOf(')') + 1) !== start) return;
    if (this.#known.size >= maxKnown) this.#known.clear();
    this.#known.set(start, { signatureStart: `${label}=:`, components });
  }
}

/** The length of an HMAC in base64. It is compared as a text, so it need not be checked for canonical base64 before. */
const hmacLength = 44;

/** Returns the base64 of a field with one signature. */
function soleSignature(signature: string, start: string): string | undefined {
  const end = signature.length - 1;
  if (!signature.startsWith(start) || !signature.endsWith(':')) return undefined;
  const isHmac = end - start.length === hmacLength;
  return isHmac || base64End(signature, start.length) === end
    ? signature.slice(start.length, end)
    : undefined;
}
