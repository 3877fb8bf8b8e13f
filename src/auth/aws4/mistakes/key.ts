// Signing keys that clients derive by mistake from the right secret.
import { createHmac } from 'node:crypto';
import { deriveKey, keyPrefix, type Scope, scopeEnd } from '../../../signature/aws4/signing-key.ts';
import { decodedSecret } from '../../decoded-secret.ts';

/** A mistake in the signing key. */
export interface KeyMistake {
  readonly hint: string;
  readonly key: Buffer;
}

const regions: readonly string[] = [
  ...['us-east-1', 'us-east-2', 'us-west-1', 'us-west-2', 'ca-central-1', 'sa-east-1', 'aws-global', 'auto'],
  ...['eu-central-1', 'eu-west-1', 'eu-west-2', 'eu-west-3', 'eu-north-1', 'ap-south-1'],
  ...['ap-northeast-1', 'ap-northeast-2', 'ap-southeast-1', 'ap-southeast-2', ''],
];
const services: readonly string[] = [
  ...['s3', 'execute-api', 'iam', 'sts', 'ec2', 'sqs', 'sns', 'dynamodb', 'lambda', 'es', 'service', ''],
];

/** Returns the signing keys of all mistakes. Their number does not depend on the secret. */
export function keyMistakes(secret: Buffer, scope: Scope): KeyMistake[] {
  const text = secret.toString('utf8');
  const from = (changed: string | Buffer): Buffer => deriveKey(Buffer.from(changed), scope);
  return [
    ...scopeMistakes(secret, scope),
    {
      hint: 'the signing key was derived without the prefix AWS4 before the secret',
      key: chain(secret, scope),
    },
    { hint: 'the secret itself was used as the signing key', key: secret },
    { hint: 'the secret with the prefix AWS4 was used as the signing key', key: prefixed(secret) },
    {
      hint: 'the steps of the signing key were passed on in hexadecimal; each key is the bytes of the HMAC',
      key: hexadecimalChain(secret, scope),
    },
    {
      hint: 'the signing key was used in hexadecimal; it must be used as bytes',
      key: Buffer.from(deriveKey(secret, scope).toString('hex')),
    },
    {
      hint: 'key and message of the HMACs were swapped when the signing key was derived',
      key: swappedChain(secret, scope),
    },
    {
      hint: `the signing key was derived without the last step, ${scopeEnd}`,
      key: hmacs(prefixed(secret), [scope.date, scope.region, scope.service]),
    },
    {
      hint: 'the signing key was derived with region and service in the wrong order',
      key: hmacs(prefixed(secret), [scope.date, scope.service, scope.region, scopeEnd]),
    },
    { hint: 'the secret was used with a trailing line feed', key: from(`${text}\n`) },
    { hint: 'the secret was used with a trailing line ending (CR LF)', key: from(`${text}\r\n`) },
    { hint: 'the secret was used with a leading or trailing space', key: from(` ${text}`) },
    { hint: 'the secret was used with a leading or trailing space', key: from(`${text} `) },
    { hint: 'the secret was used with quotes around it', key: from(`"${text}"`) },
    { hint: 'the secret was percent-encoded', key: from(encodeURIComponent(text)) },
    { hint: 'the secret was encoded in base64', key: from(secret.toString('base64')) },
    { hint: 'the secret was decoded from base64; use its characters', key: decoded(secret, 'base64', scope) },
    {
      hint: 'the secret was decoded from hexadecimal; use its characters',
      key: decoded(secret, 'hex', scope),
    },
  ];
}

function scopeMistakes(secret: Buffer, scope: Scope): KeyMistake[] {
  const derived = (changes: Partial<Scope>): Buffer => deriveKey(secret, { ...scope, ...changes });
  const dates = otherDates(scope.date).map((date) => ({
    hint: `the signing key was derived with the date ${date}, and the scope has ${scope.date}`,
    key: derived({ date }),
  }));
  const inRegions = regions.map((region) => ({
    hint: `the signing key was derived for the region "${region}", and the scope has "${scope.region}"`,
    key: derived({ region }),
  }));
  const forServices = services.map((service) => ({
    hint: `the signing key was derived for the service "${service}", and the scope has "${scope.service}"`,
    key: derived({ service }),
  }));
  return [...dates, ...inRegions, ...forServices];
}

/** The days before and after, and other formats of the date. */
function otherDates(date: string): string[] {
  const [year, month, day] = [date.slice(0, 4), date.slice(4, 6), date.slice(6)];
  const time = Date.UTC(Number(year), Number(month) - 1, Number(day));
  const neighbour = (days: number): string =>
    new Date(time + days * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
  return [neighbour(-1), neighbour(1), `${year}-${month}-${day}`];
}

function prefixed(secret: Buffer): Buffer {
  return Buffer.concat([keyPrefix, secret]);
}

const partsOf = ({ date, region, service }: Scope): string[] => [date, region, service, scopeEnd];

function chain(secret: Buffer, scope: Scope): Buffer {
  return hmacs(secret, partsOf(scope));
}

function hmacs(first: Buffer, parts: readonly string[]): Buffer {
  return parts.reduce((key, part) => createHmac('sha256', key).update(part).digest(), first);
}

function hexadecimalChain(secret: Buffer, scope: Scope): Buffer {
  return partsOf(scope).reduce(
    (key, part) => Buffer.from(createHmac('sha256', key).update(part).digest('hex')),
    prefixed(secret),
  );
}

function swappedChain(secret: Buffer, scope: Scope): Buffer {
  return partsOf(scope).reduce(
    (key, part) => createHmac('sha256', part).update(key).digest(),
    prefixed(secret),
  );
}

/** Derives a key from the decoded secret; if the decoded secret could be guessed, one that no client derives. */
function decoded(secret: Buffer, encoding: 'base64' | 'hex', scope: Scope): Buffer {
  return deriveKey(decodedSecret(secret.toString('utf8'), encoding) ?? prefixed(prefixed(secret)), scope);
}
