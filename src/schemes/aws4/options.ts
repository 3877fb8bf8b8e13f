import { flag, object, optional, read, type Shape, type ShapesOf, text, word } from '../../shape/shape.ts';
import type { Aws4Declaration } from '../scheme-declarations.ts';
import { type Complete, windowShape } from '../scheme-shapes.ts';

/** The options of AWS Signature Version 4, with their defaults. */
export interface Aws4Options extends Complete<Omit<Aws4Declaration, 'window'>> {
  /** Maximum difference (ms, inclusive) between the time of a request and the clock, in either direction. */
  readonly window: number;
}

/** A region or service of the scope. */
function describeScopePart(description: string): Shape<string> {
  return text(description, {
    form: /^[A-Za-z0-9_-]{1,64}$/,
    expected: '1 to 64 letters, digits, hyphens and underscores',
  });
}

/** The members of the declaration of the scheme. */
export const aws4Members = {
  region: describeScopePart('the region of the scope'),
  service: describeScopePart('the service of the scope'),
  window: optional(windowShape),
  normalizePath: optional(flag('whether the signed path is normalized')),
  doubleEncode: optional(flag('whether the signed path is percent-encoded twice')),
  plusInPath: optional(word(['space', 'plus'], 'what a + in the path is')),
  unsignedPayload: optional(flag('whether UNSIGNED-PAYLOAD is accepted')),
  errors: optional(word(['problem', 'aws'], 'the form of errors')),
  replay: optional(word(['allow', 'refuse'], 'whether a signature is accepted more than once')),
} satisfies ShapesOf<Aws4Declaration>;

export const aws4Shape = object(aws4Members);

const defaultWindow = 900;

/**
 * Reads the options from a configuration.
 *
 * @param where The place in the configuration, with which an error message begins: `schemes.aws4`.
 * @throws RangeError for an unknown key, a missing or empty value, or a value of the wrong type
 */
export function readAws4Options(value: unknown, where: string): Aws4Options {
  const declared = read(aws4Shape, value, [where]);
  const { window = defaultWindow, errors = 'problem', replay = 'allow' } = declared;
  const isS3 = declared.service === 's3';
  const { normalizePath = !isS3, doubleEncode = !isS3, unsignedPayload = isS3 } = declared;
  const { plusInPath = isS3 ? 'space' : 'plus' } = declared;
  const byService = { normalizePath, doubleEncode, plusInPath, unsignedPayload } as const;
  return { ...declared, ...byService, window: window * 1000, errors, replay };
}
