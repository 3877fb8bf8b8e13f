import { readFlag, readMembers, readWindow, readWord } from '../option-values.ts';

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
  /** Whether content may be sent that is not signed (`UNSIGNED-PAYLOAD`). Default: false, for the service `s3` true. */
  readonly unsignedPayload: boolean;
  /** The form of errors: those of AWS in XML, for the service `execute-api` in JSON, or problem documents. Default: `problem`. */
  readonly errors: 'aws' | 'problem';
  /** Whether a signature is accepted only once within the window. AWS allows replays. */
  readonly replay: 'refuse' | 'allow';
}

const known: readonly string[] = [
  'region',
  'service',
  'window',
  'normalizePath',
  'doubleEncode',
  'unsignedPayload',
  'errors',
  'replay',
];

/** A region or service of the scope. */
export const scopePartForm = /^[A-Za-z0-9_-]{1,64}$/;
/** The values of `errors`. */
export const errorForms = ['problem', 'aws'] as const;
/** The values of `replay`. */
export const replayRules = ['allow', 'refuse'] as const;

const defaultWindow = 900;

/**
 * Reads the options from a configuration.
 *
 * @param where The place in the configuration, with which an error message begins: `schemes.aws4`.
 * @throws RangeError for an unknown key, a missing or empty value, or a value of the wrong type
 */
export function readAws4Options(value: unknown, where: string): Aws4Options {
  const members = readMembers(value, where, known);
  const service = scopePart(members['service'], `${where}.service`);
  const isS3 = service === 's3';
  return {
    region: scopePart(members['region'], `${where}.region`),
    service,
    window: readWindow(members['window'], `${where}.window`, defaultWindow) * 1000,
    normalizePath: readFlag(members['normalizePath'], `${where}.normalizePath`, !isS3),
    doubleEncode: readFlag(members['doubleEncode'], `${where}.doubleEncode`, !isS3),
    unsignedPayload: readFlag(members['unsignedPayload'], `${where}.unsignedPayload`, isS3),
    errors: readWord(members['errors'], `${where}.errors`, errorForms, 'problem'),
    replay: readWord(members['replay'], `${where}.replay`, replayRules, 'allow'),
  };
}

function scopePart(value: unknown, where: string): string {
  if (value === undefined) throw new RangeError(`${where}: a value is required`);
  if (typeof value !== 'string' || !scopePartForm.test(value))
    throw new RangeError(`${where}: 1 to 64 letters, digits, hyphens and underscores are expected`);
  return value;
}
