import { findQueryValues } from '../http/form.ts';
import type { SchemeTraits } from '../signature/signing.ts';
import { type AttackRequest, findLine, type HeaderLine, removeLines, replaceLine } from './attempt.ts';
import { replaceParameter } from './target.ts';

/** Credentials, split at their proof (digest, signature, password or token). */
interface Credentials {
  readonly before: string;
  readonly proof: string;
  readonly after: string;
  /** Returns the request with another proof in the same place. */
  replaceProof(proof: string): AttackRequest;
  /** Returns the field line with another proof. Undefined if the credentials are in the query. */
  line(proof: string): HeaderLine | undefined;
}

/** Finds credentials and dates in signed requests. */
export interface Locator {
  /** Returns the line that contains the proof. Undefined if it is in the query, or in an unknown field. */
  credentials(request: AttackRequest): HeaderLine | undefined;
  /** Splits the credentials at their proof. */
  split(request: AttackRequest): Credentials | undefined;
  /** Returns the request without credentials. Undefined if they were not found. */
  bare(request: AttackRequest): AttackRequest | undefined;
  /** Returns the line with the date that counts. */
  dateLine(request: AttackRequest): HeaderLine | undefined;
  /** Removes all date fields. */
  undated(request: AttackRequest): AttackRequest;
}

/** Creates the locator of a scheme; by default that of the schemes that need no configuration. */
export function createLocator(plain: AttackRequest, traits?: SchemeTraits): Locator {
  if (traits === undefined) return builtInLocator;
  const { place, dateField } = traits;
  const dates = dateField === undefined ? [] : [dateField];
  const credentials = (request: AttackRequest): HeaderLine | undefined =>
    'field' in place.in ? findLine(request.headers, place.in.field) : undefined;
  return {
    credentials,
    split: (request) => splitAt(request, place),
    bare(request) {
      if (!('field' in place.in)) return plain;
      return {
        ...request,
        headers: removeLines(request.headers, place.in.field, ...(place.otherFields ?? [])),
      };
    },
    dateLine: ({ headers }) => (dateField === undefined ? undefined : findLine(headers, dateField)),
    undated: (request) => ({ ...request, headers: removeLines(request.headers, ...dates) }),
  };
}

function splitAt(request: AttackRequest, place: SchemeTraits['place']): Credentials | undefined {
  if ('field' in place.in) {
    const line = findLine(request.headers, place.in.field);
    return line && splitLine(request, line, place.form.exec(line[1]));
  }
  const { query: name } = place.in;
  const encoded = findQueryValues(request.url, name)[0];
  const found = encoded === undefined ? null : place.form.exec(decodeURIComponent(encoded));
  if (found === null) return undefined;
  const [, before = '', proof = '', after = ''] = found;
  const replaceProof = (other: string): AttackRequest => {
    const value = encodeURIComponent(`${before}${other}${after}`);
    return { ...request, url: replaceParameter(request.url, name, value) };
  };
  return { before, proof, after, replaceProof, line: () => undefined };
}

function splitLine(
  request: AttackRequest,
  [name]: HeaderLine,
  found: RegExpExecArray | null,
): Credentials | undefined {
  if (found === null) return undefined;
  const [, before = '', proof = '', after = ''] = found;
  const line = (other: string): HeaderLine => [name, `${before}${other}${after}`];
  return { before, proof, after, line, replaceProof: (other) => replaceLine(request, line(other)) };
}

/** Returns the line that contains the credentials of a scheme that needs no configuration. */
export function findCredentials({ headers }: AttackRequest): HeaderLine | undefined {
  return findLine(headers, 'Authentication', 'Authorization', 'Signature', 'X-Signature');
}

/** The fields in which schemes send dates. The first one present counts. */
const dateFields = ['X-Date', 'Date', 'X-Amz-Date', 'X-Timestamp'] as const;

/** Locates the credentials of schemes that need no configuration. */
const builtInLocator: Locator = {
  credentials: findCredentials,
  /** Splits at the parameter `signature`, or before the last part. */
  split(request) {
    const line = findCredentials(request);
    const found =
      /^(.*signature=")([^"]+)(".*)$/is.exec(line?.[1] ?? '') ??
      /^(.*[\s:",])?([^\s:",]+)()$/.exec(line?.[1] ?? '');
    return line && splitLine(request, line, found);
  },
  bare(request) {
    const line = findCredentials(request);
    return line && { ...request, headers: removeLines(request.headers, line[0]) };
  },
  dateLine: ({ headers }) =>
    dateFields.map((name) => findLine(headers, name)).find((line) => line !== undefined),
  undated: (request) => ({ ...request, headers: removeLines(request.headers, ...dateFields) }),
};
