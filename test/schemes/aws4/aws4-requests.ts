import assert from 'node:assert/strict';
import type { IncomingRequest } from '../../../src/http/message.ts';
import { type Aws4SignOptions, presignAws4, signAws4 } from '../../../src/schemes/aws4/sign.ts';
import { received, signOptions } from '../../support/schemes/clients/aws4.ts';

interface Wanted extends Partial<Aws4SignOptions> {
  readonly method?: string;
  readonly target?: string;
  readonly content?: string;
  /** Fields that are signed. */
  readonly fields?: readonly (readonly [string, string])[];
  /** Fields that are added after signing. */
  readonly added?: readonly (readonly [string, string])[];
  readonly without?: string;
}

export const host: readonly [string, string] = ['Host', 'example.amazonaws.com'];

function buildParts({ method = 'GET', target = '/', content, fields = [] }: Wanted) {
  const bytes = content === undefined ? undefined : Buffer.from(content);
  return { method, target, fields: [host, ...fields], content: bytes };
}

export function signed(wanted: Wanted = {}): IncomingRequest {
  const parts = buildParts(wanted);
  const made = signAws4(parts, signOptions(wanted));
  const fields = [...parts.fields, ...made.fields, ...(wanted.added ?? [])];
  return received({
    ...parts,
    content: wanted.content,
    fields: fields.filter(([name]) => name !== wanted.without),
  });
}

export function presigned(expires: number, wanted: Wanted = {}): IncomingRequest {
  const parts = buildParts(wanted);
  const { target } = presignAws4(parts, signOptions(wanted), expires);
  return received({
    ...parts,
    target,
    content: wanted.content,
    fields: [...parts.fields, ...(wanted.added ?? [])],
  });
}

/** Changes the value of Authorization. */
export function withCredentials(
  { method, target, headers: fields }: IncomingRequest,
  change: (value: string) => string,
): IncomingRequest {
  const lines = fields.raw.flatMap((name, at): [string, string][] => {
    const value = fields.raw[at + 1] ?? '';
    return at % 2 === 0 ? [[name, name === 'Authorization' ? change(value) : value]] : [];
  });
  return received({ method, target, fields: lines });
}

/** A request whose content must not be read. */
export function unread(request: IncomingRequest): IncomingRequest {
  const fail = (): never => assert.fail('the content was read');
  return { ...request, body: { present: true, consume: fail, hold: fail } };
}
