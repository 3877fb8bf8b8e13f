import {
  type MessageSignature,
  readParameters,
} from '../../signature/message-signatures/signature-fields.ts';
import { base64End } from '../../signature/structured-fields/characters.ts';
import { parseParameters, StructuredFieldError } from '../../signature/structured-fields/parse.ts';
import type { Parameters } from '../../signature/structured-fields/value.ts';
import type { JudgedComponents } from './requirements.ts';

/** A signature whose components were judged for an earlier request. */
export interface KnownSignature {
  readonly signature: MessageSignature;
  readonly components: JudgedComponents;
}

/** The label and the covered components of accepted requests. */
interface Known {
  readonly label: string;
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
  /** The components that were found last. */
  #found: JudgedComponents | undefined;

  /** Returns the signature of a request with known components; undefined if the fields must be parsed as a whole. */
  find(input: string | undefined, signature: string | undefined): KnownSignature | undefined {
    if (input === undefined || signature === undefined) return undefined;
    const end = input.indexOf(')') + 1;
    const known = this.#known.get(input.slice(0, end));
    if (known === undefined) return undefined;
    const value = soleSignature(signature, known.signatureStart);
    const parameters = value === undefined ? undefined : parametersOf(input.slice(end));
    const read = parameters === undefined ? '' : readParameters(parameters);
    if (value === undefined || parameters === undefined || typeof read === 'string') return undefined;
    const { label, components } = known;
    this.#found = components;
    const covered = { items: components.items, parameters };
    return { components, signature: { label, covered, parameters: read, signature: value } };
  }

  /** Remembers the components of an accepted request, unless they were found here. */
  remember(input: string, { label }: MessageSignature, components: JudgedComponents): void {
    if (this.#found === components) return;
    const start = `${label}=${components.list}`;
    // Not if a parameter of a component has a parenthesis, or the field is not serialized strictly.
    if (start.length > maxLength || input.slice(0, input.indexOf(')') + 1) !== start) return;
    if (this.#known.size >= maxKnown) this.#known.clear();
    this.#known.set(start, { label, signatureStart: `${label}=:`, components });
  }
}

/** Returns the base64 of a field with one signature. */
function soleSignature(signature: string, start: string): string | undefined {
  const end = signature.length - 1;
  if (!signature.startsWith(start) || !signature.endsWith(':')) return undefined;
  return base64End(signature, start.length) === end ? signature.slice(start.length, end) : undefined;
}

function parametersOf(text: string): Parameters | undefined {
  try {
    return parseParameters(text);
  } catch (error) {
    if (error instanceof StructuredFieldError) return undefined;
    throw error;
  }
}
