// Mistakes in the signing key of AWS Signature Version 4.
import { createHmac } from 'node:crypto';
import {
  deriveKey,
  formatStamp,
  keyPrefix,
  prepareSecret,
  type Scope,
  scopeEnd,
} from '../../signature/aws4/signing-key.ts';
import { permutations } from '../explain/mistake.ts';

const hour = 3_600_000;

/** Returns the signing keys that clients derive by mistake. Their number does not depend on the secret. */
export function keyMistakes(secret: Buffer, scope: Scope): (readonly [hint: string, key: Buffer])[] {
  const { date, region, service } = scope;
  const prefixed = Buffer.concat([keyPrefix, secret]);
  const prepared = prepareSecret(secret);
  const steps = [date, region, service, scopeEnd];
  return [
    ...otherDates(date).map(
      (other) =>
        [
          `the signing key was derived with the date ${other}, and the scope has ${date}`,
          deriveKey(prepared, { ...scope, date: other }),
        ] as const,
    ),
    ['the signing key was derived without the prefix AWS4 before the secret', chain(secret, steps)],
    ['the secret itself was used as the signing key', secret],
    ['the secret with the prefix AWS4 was used as the signing key', prefixed],
    [
      'the steps of the signing key were passed on in hexadecimal; each key is the bytes of the HMAC',
      steps.reduce(
        (key, step) => Buffer.from(createHmac('sha256', key).update(step).digest('hex')),
        prefixed,
      ),
    ],
    [
      'the signing key was used in hexadecimal; it must be used as bytes',
      Buffer.from(deriveKey(prepared, scope).toString('hex')),
    ],
    [
      'key and message of the HMACs were swapped when the signing key was derived',
      steps.reduce((key, step) => createHmac('sha256', step).update(key).digest(), prefixed),
    ],
    [`the signing key was derived without the last step, ${scopeEnd}`, chain(prefixed, steps.slice(0, -1))],
    [
      'the signing key was derived with region and service in the wrong order',
      chain(prefixed, [date, service, region, scopeEnd]),
    ],
    [
      'the prefix before the secret is in lower case; AWS4 is expected',
      chain(Buffer.concat([Buffer.from('aws4'), secret]), steps),
    ],
    ...permutations(steps).map(
      (order) =>
        [
          'the steps of the signing key were made in another order; date, region, service and aws4_request are expected',
          chain(prefixed, order),
        ] as const,
    ),
  ];
}

/** The days before and after, and other forms of the date. */
function otherDates(date: string): string[] {
  const [year, month, day] = [date.slice(0, 4), date.slice(4, 6), date.slice(6)];
  const time = Date.UTC(Number(year), Number(month) - 1, Number(day));
  const neighbour = (days: number): string => formatStamp(time + days * 24 * hour).slice(0, 8);
  return [neighbour(-1), neighbour(1), `${year}-${month}-${day}`];
}

function chain(first: Buffer, steps: readonly string[]): Buffer {
  return steps.reduce((key, step) => createHmac('sha256', key).update(step).digest(), first);
}
