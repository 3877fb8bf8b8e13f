import { flag, object, optional, read, type Shape, type ShapesOf, text, word } from '../../shape/shape.ts';
import type { Aws4Declaration } from '../scheme-declarations.ts';
import { windowShape } from '../scheme-shapes.ts';

/** The options of AWS Signature Version 4. */
export interface Aws4Options {
  /** The region of the scope: `eu-central-1`. */
  readonly region: string;
  /** The service of the scope: `execute-api`. */
  readonly service: string;
  /** Maximum difference (ms, inclusive) between the time of a request and the clock, in either direction. */
  readonly window: number;
  /** Whether dot segments and repeated slashes are removed from the signed path. Default: true, for the service `s3` false. */
  readonly normalizePath: boolean;
  /** Whether the signed path is percent-encoded as sent. Default: true, for the service `s3` false. */
  readonly doubleEncode: boolean;
  /** What a `+` in the path is, sent as it is. Default: `plus`, for the service `s3` `space`, as for Amazon; MinIO signs it as `plus`. */
  readonly plusInPath: 'space' | 'plus';
  /** Whether content may be sent that is not signed (`UNSIGNED-PAYLOAD`). Default: false, for the service `s3` true. */
  readonly unsignedPayload: boolean;
  /** The form of errors: those of AWS in XML, for the service `execute-api` in JSON, or problem documents. Default: `problem`. */
  readonly errors: 'aws' | 'problem';
  /** Whether a signature is accepted only once within the window. AWS allows replays. */
  readonly replay: 'refuse' | 'allow';
}

/** A region or service of the scope. */
function describeScopePart(description: string): Shape<string> {
  return text(description, {
    form: /^[A-Za-z0-9_-]{1,64}$/,
    expected: '1 to 64 letters, digits, hyphens and underscores',
  });
}

/** Describes the declaration of the scheme. */
export const aws4Shape = object({
  region: describeScopePart('the region of the scope'),
  service: describeScopePart('the service of the scope'),
  window: optional(windowShape),
  normalizePath: optional(flag('whether the signed path is normalized')),
  doubleEncode: optional(flag('whether the signed path is percent-encoded twice')),
  plusInPath: optional(word(['space', 'plus'], 'what a + in the path is')),
  unsignedPayload: optional(flag('whether UNSIGNED-PAYLOAD is accepted')),
  errors: optional(word(['problem', 'aws'], 'the form of errors')),
  replay: optional(word(['allow', 'refuse'], 'whether a signature is accepted more than once')),
} satisfies ShapesOf<Aws4Declaration>);

const defaultWindow = 900;

/**
 * Reads the options from a configuration.
 *
 * @param where The place in the configuration, with which an error message begins: `schemes.aws4`.
 * @throws RangeError for an unknown key, a missing or empty value, or a value of the wrong type
 */
export function readAws4Options(value: unknown, where: string): Aws4Options {
  const declared = read(aws4Shape, value, [where]);
  const { region, service, window = defaultWindow, errors = 'problem', replay = 'allow' } = declared;
  const isS3 = service === 's3';
  const { normalizePath = !isS3, doubleEncode = !isS3, unsignedPayload = isS3 } = declared;
  const { plusInPath = isS3 ? 'space' : 'plus' } = declared;
  return {
    region,
    service,
    window: window * 1000,
    normalizePath,
    doubleEncode,
    plusInPath,
    unsignedPayload,
    errors,
    replay,
  };
}
