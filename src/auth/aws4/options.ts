import { didYouMean } from '../../did-you-mean.ts';

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
  /** Whether content may be sent that is not signed (`UNSIGNED-PAYLOAD`). */
  readonly unsignedPayload: boolean;
  /** The form of errors: those of AWS in XML, or problem documents. */
  readonly errors: 'aws' | 'problem';
  /** Whether a signature is accepted only once within the window. AWS allows replays. */
  readonly replay: 'refuse' | 'allow';
}

const known: readonly string[] = [
  ...['region', 'service', 'window', 'normalizePath', 'doubleEncode', 'unsignedPayload', 'errors', 'replay'],
];

const defaultWindow = 900;
const maxWindow = 86_400;

/**
 * Reads the options from a configuration.
 *
 * @param where The place in the configuration, with which an error message begins: `schemes.aws4`.
 * @throws RangeError for an unknown key, a missing or empty value, or a value of the wrong type
 */
export function readAws4Options(value: unknown, where: string): Aws4Options {
  const members = membersOf(value, where);
  for (const name of Object.keys(members))
    if (!known.includes(name))
      throw new RangeError(`${where}.${name}: there is no such option${didYouMean(name, known)}`);
  const service = scopePart(members['service'], `${where}.service`);
  const isS3 = service === 's3';
  return {
    region: scopePart(members['region'], `${where}.region`),
    service,
    window: secondsOf(members['window'], `${where}.window`) * 1000,
    normalizePath: flag(members['normalizePath'], `${where}.normalizePath`, !isS3),
    doubleEncode: flag(members['doubleEncode'], `${where}.doubleEncode`, !isS3),
    unsignedPayload: flag(members['unsignedPayload'], `${where}.unsignedPayload`, false),
    errors: choice(members['errors'], `${where}.errors`, ['problem', 'aws']),
    replay: choice(members['replay'], `${where}.replay`, ['allow', 'refuse']),
  };
}

function membersOf(value: unknown, where: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RangeError(`${where}: an object with region and service is expected`);
  return Object.fromEntries(Object.entries(value));
}

function scopePart(value: unknown, where: string): string {
  if (value === undefined) throw new RangeError(`${where}: a value is required`);
  if (typeof value !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(value))
    throw new RangeError(`${where}: 1 to 64 letters, digits, hyphens and underscores are expected`);
  return value;
}

function secondsOf(value: unknown, where: string): number {
  if (value === undefined) return defaultWindow;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > maxWindow)
    throw new RangeError(`${where}: a number of seconds from 1 to ${maxWindow} is expected`);
  return value;
}

function flag(value: unknown, where: string, byDefault: boolean): boolean {
  if (value === undefined) return byDefault;
  if (typeof value !== 'boolean') throw new RangeError(`${where}: true or false is expected`);
  return value;
}

/** Returns one of the values; the first one is the default. */
function choice<Value extends string>(
  value: unknown,
  where: string,
  values: readonly [Value, ...Value[]],
): Value {
  if (value === undefined) return values[0];
  const found = values.find((each) => each === value);
  if (found !== undefined) return found;
  const hint = typeof value === 'string' ? didYouMean(value, values) : `; known are ${values.join(', ')}`;
  throw new RangeError(`${where}: not a known value${hint}`);
}
