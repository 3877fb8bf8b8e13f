import { findQueryValues } from '../http/form.ts';
import type { SchemeTraits } from '../schemes/auth-scheme.ts';
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
  const { place, dateField } = traits ?? {};
  const dates = traits === undefined ? dateFields : [dateField].filter((field) => field !== undefined);
  const query = place !== undefined && 'query' in place.in ? place.in.query : undefined;
  const credentials = (request: AttackRequest): HeaderLine | undefined => {
    if (place === undefined) return findCredentials(request);
    return 'field' in place.in ? findLine(request.headers, place.in.field) : undefined;
  };
  return {
    credentials,
    split(request) {
      if (place !== undefined && query !== undefined) return splitParameter(request, query, place.form);
      const line = credentials(request);
      return line && splitLine(request, line, matchProof(line, place?.form));
    },
    bare(request) {
      if (query !== undefined) return plain;
      const line = credentials(request);
      const field = place !== undefined && 'field' in place.in ? place.in.field : line?.[0];
      if (field === undefined) return undefined;
      return { ...request, headers: removeLines(request.headers, field, ...(place?.otherFields ?? [])) };
    },
    dateLine: ({ headers }) =>
      dates.map((name) => findLine(headers, name)).find((line) => line !== undefined),
    undated: (request) => ({ ...request, headers: removeLines(request.headers, ...dates) }),
  };
}

/** Finds the proof in a line: by the form of its scheme, or else the parameter `signature` or the last part. */
function matchProof([, value]: HeaderLine, form: RegExp | undefined): RegExpExecArray | null {
  if (form !== undefined) return form.exec(value);
  return /^(.*signature=")([^"]+)(".*)$/is.exec(value) ?? /^(.*[\s:",])?([^\s:",]+)()$/.exec(value);
}

function splitParameter(request: AttackRequest, name: string, form: RegExp): Credentials | undefined {
  const encoded = findQueryValues(request.url, name)[0];
  const found = encoded === undefined ? null : form.exec(decodeURIComponent(encoded));
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
