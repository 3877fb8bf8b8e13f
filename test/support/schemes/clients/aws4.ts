import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AccountRecord } from '../../../../src/accounts/user-declaration.ts';
import { createRequest, type IncomingRequest } from '../../../../src/http/message.ts';
import type { PathRules } from '../../../../src/schemes/aws4/canonical-request.ts';
import { readAws4Options } from '../../../../src/schemes/aws4/options.ts';
import { createAws4Scheme } from '../../../../src/schemes/aws4/scheme.ts';
import type { Aws4SignOptions } from '../../../../src/schemes/aws4/sign.ts';
import { createKey } from '../../../../src/schemes/hmac/credentials.ts';
import type { SchemeContext } from '../../../../src/schemes/scheme-context.ts';
import { keepSecret } from '../../transcript.ts';
import { openScheme, type SchemeTest } from './declared.ts';

/** The credentials and the time of the AWS Signature Version 4 test suite. */
export const accessKeyId = 'AKIDEXAMPLE';
export const secret = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
export const time = Date.UTC(2015, 7, 30, 12, 36);

/** A request of `fixtures/aws4/`. */
export interface Aws4Case {
  readonly name: string;
  readonly service: string;
  readonly method: string;
  readonly target: string;
  readonly fields: readonly [name: string, value: string][];
  readonly content: string;
  readonly canonicalRequest: string;
  readonly stringToSign: string;
}

/** Reads the cases of a file in `fixtures/aws4/`. */
export function aws4Cases(file: string): readonly Aws4Case[] {
  const text = readFileSync(join(import.meta.dirname, '../../../../fixtures/aws4', file), 'utf8');
  const { cases }: { readonly cases: readonly Aws4Case[] } = JSON.parse(text);
  return cases;
}

/** A request as it is received. */
interface Received {
  readonly method: string;
  readonly target: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** Each character is one octet. */
  readonly content?: string | undefined;
}

/** Creates a request. Empty content is no content. */
export function received({ method, target, fields, content = '' }: Received): IncomingRequest {
  const parts = { method, target, headers: fields };
  return createRequest(content === '' ? parts : { ...parts, body: Buffer.from(content, 'latin1') });
}

const users: ReadonlyMap<string, AccountRecord> = new Map([
  [accessKeyId, { secrets: [{ secret }, { secret: 'expired-secret-of-somebody', until: time }] }],
  ['ann', { secrets: [{ secret: 'the-secret-of-ann-herself' }] }],
  ['empty', { secrets: [] }],
  ['jürgen', { secrets: [{ secret: 'the-secret-of-jürgen' }] }],
]);

/**
 * Opens the scheme with the region us-east-1 and the service `service`, unless `options` differ, on a clock that stands, with the users
 * AKIDEXAMPLE and ann, who has the key AKIAANN.
 */
export function openAws4Service(
  options: Readonly<Record<string, unknown>> = {},
  changes: Partial<SchemeContext> = {},
): SchemeTest {
  keepSecret(secret);
  const read = readAws4Options({ region: 'us-east-1', service: 'service', ...options }, 'schemes.aws4');
  const key = { id: 'AKIAANN', algorithm: 'aws4', secret: createKey('the-secret-of-the-key') } as const;
  return openScheme(createAws4Scheme('aws4', read), {
    users,
    keys: { ann: [key] },
    at: time,
    context: { nonceWindow: 900_000, bodyLimit: 100_000, ...changes },
  });
}

/** Returns the options of a signature with the credentials of the test suite. */
export function signOptions(changes: Partial<Aws4SignOptions> = {}): Aws4SignOptions {
  const service = changes.service ?? 'service';
  return { accessKeyId, secret, region: 'us-east-1', service, time, ...selectPathRules(service), ...changes };
}

/** Returns whether the path of a target has neither dot segments nor repeated slashes. */
export function isNormalizedTarget(target: string): boolean {
  return !/\/\/|\/\.\.?(?:\/|$)/.test(target.replace(/\?.*$/s, ''));
}

/** Returns the path rules of a service. */
export function selectPathRules(service: string): PathRules {
  const { normalizePath, doubleEncode, plusInPath } = readAws4Options({ region: 'any', service }, 'aws4');
  return { normalizePath, doubleEncode, plusInPath };
}
