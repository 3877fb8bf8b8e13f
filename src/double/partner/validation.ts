// How strictly the document of a partner is compared with what is received and sent.
import {
  anything,
  either,
  flag,
  mapOf,
  object,
  optional,
  read,
  type ShapesOf,
  text,
  word,
} from '../../shape/shape.ts';

/**
 * How strictly requests and responses are compared with the document. `on`: a request that the document does not allow is refused, and
 * such a response is sent and reported to the journal and to `onError`. `warn`: both are only noted in the journal. `off`: nothing is
 * compared. Default: `on`.
 */
export type Validation = 'on' | 'warn' | 'off';

/** The validation of each direction. Default: that of the document; for the document `on`. */
export interface ValidationByDirection {
  /** The validation of requests. */
  readonly request?: Validation | undefined;
  /** The validation of responses that a test or a stub chooses. */
  readonly response?: Validation | undefined;
}

/** The document of a partner with its options. */
export interface PartnerOptions {
  /** The path of a file in JSON, or the document. */
  readonly document: string | object;
  /** How strictly requests and responses are compared with the document. Default: `on`. */
  readonly validation?: Validation | ValidationByDirection | undefined;
  /** Whether a mistake in the document rejects the start, in place of the operations that have it. Default: false. */
  readonly strict?: boolean | undefined;
  /** Whether contents have all members of their schemas, with drawn values, unless a request or a test chooses otherwise. Default: false. */
  readonly dynamic?: boolean | undefined;
  /**
   * The form of errors: that which the document has for the status, filled with the reason, or a problem document (RFC 9457). A client
   * chooses the latter with `Prefer: problem`. Default: `partner`.
   */
  readonly errors?: 'partner' | 'problem' | undefined;
}

/** The validation of both directions. */
export type Validations = Readonly<Record<keyof ValidationByDirection, Validation>>;

const words = word(['on', 'warn', 'off']);

/** Describes a validation. */
export const validationShape = either(
  words,
  object({ request: optional(words), response: optional(words) } satisfies ShapesOf<ValidationByDirection>),
);

const partnerShape = object({
  document: either(text(), mapOf(anything, undefined, { expected: 'a document or the path of a file' })),
  validation: optional(validationShape),
  strict: optional(flag()),
  dynamic: optional(flag()),
  errors: optional(word(['partner', 'problem'])),
} satisfies ShapesOf<PartnerOptions>);

/** Returns the document and the validation of the option `partner`. Throws RangeError if it is invalid. */
export function readPartnerOptions(partner: string | object): {
  readonly source: string | object;
  readonly validation: Validations;
  readonly strict: boolean;
  readonly dynamic: boolean;
  readonly errors: 'partner' | 'problem';
} {
  const usual: Validations = { request: 'on', response: 'on' };
  if (!isPartnerOptions(partner))
    return { source: partner, validation: usual, strict: false, dynamic: false, errors: 'partner' };
  read(partnerShape, partner, { optionsOf: 'partner' });
  const { document, validation, strict = false, dynamic = false, errors = 'partner' } = partner;
  return { source: document, validation: mergeValidation(validation, usual), strict, dynamic, errors };
}

/** An OpenAPI document has no member `document`. */
function isPartnerOptions(partner: string | object): partner is PartnerOptions {
  return typeof partner === 'object' && Object.hasOwn(partner, 'document');
}

/** Returns the validation of both directions. */
export function mergeValidation(
  given: Validation | ValidationByDirection | undefined,
  usual: Validations,
): Validations {
  if (given === undefined) return usual;
  if (typeof given === 'string') return { request: given, response: given };
  const { request = usual.request, response = usual.response } = given;
  return { request, response };
}
