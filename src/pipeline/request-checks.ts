// Steps 1 to 4 of decide.ts: what can be checked without knowing the resource.
import { HttpHeaders } from '../http/fields.ts';
import { isValidHost } from '../http/host.ts';
import type { IncomingRequest } from '../http/message.ts';
import { isMethod, methods } from '../http/method.ts';
import { Problem } from '../http/problem.ts';
import { authorityOf, parseTarget, type Target } from '../http/target.ts';
import type { Router } from './router.ts';

/** Returns the problem of a request that arrives while the server stops. */
export function stopping(): Problem {
  return new Problem('stopping', 'The server takes no new requests.', {
    headers: [['Retry-After', '5']],
    close: true,
  });
}

/** Throws a Problem unless the version is HTTP/1.1 or HTTP/1.0. */
export function checkVersion(version: string): void {
  if (version === '1.1' || version === '1.0') return;
  throw new Problem('version-not-supported', 'The request is not HTTP/1.1 or HTTP/1.0.', { close: true });
}

/** Throws a Problem unless there is exactly one valid Host. HTTP/1.0 requires none. */
export function checkHost({ headers: fields, version }: IncomingRequest): void {
  const host = fields.get('host');
  if (host === undefined) {
    // RFC 9112 §3.2: HTTP/1.0 had no Host.
    if (version === '1.0') return;
    throw new Problem('malformed-host', 'There is no Host.');
  }
  if (fields.repeated && fields.getAll('host').length > 1)
    throw new Problem('malformed-host', 'There is more than one Host.');
  if (!isValidHost(host)) throw new Problem('malformed-host', 'Host is not a host with an optional port.');
}

/** Returns the request with the authority of an absolute form as Host, in place of that which was sent (RFC 9112 §3.2.2). */
export function applyAuthority(request: IncomingRequest): IncomingRequest {
  const authority = authorityOf(request.target);
  if (authority === undefined) return request;
  const { raw } = request.headers;
  const others = raw.filter((_, at) => raw[at - (at % 2)]?.toLowerCase() !== 'host');
  return { ...request, headers: new HttpHeaders(['Host', authority, ...others]) };
}

// RFC 9110 §5.3: fields that are not lists occur at most once. Step 7 checks the fields with credentials.
const singletons = [
  'content-length',
  'content-type',
  'content-location',
  'content-md5',
  'content-range',
  'date',
  'from',
  'if-modified-since',
  'if-range',
  'if-unmodified-since',
  'max-forwards',
  'range',
  'referer',
  'user-agent',
  'x-date',
] as const;

/** Throws a Problem if a field that is not a list occurs more than once. */
export function checkSingletons(fields: HttpHeaders): void {
  if (!fields.repeated) return;
  for (const name of singletons) {
    if (fields.getAll(name).length > 1) {
      throw new Problem('repeated-field', `${name} was sent more than once.`, { members: { field: name } });
    }
  }
}

/** Returns the method. Throws a Problem if no resource implements it. */
export function requireKnownMethod(token: string, router: Router): string {
  if (isMethod(token)) return token;
  const further = router.furtherMethods();
  if (further.has(token)) return token;
  const all: string[] = [...methods, ...further];
  const last = all.pop() ?? '';
  const hint = token === 'PATCH' ? ' POST to an item changes the fields that are sent.' : '';
  throw new Problem('method-not-implemented', `The methods are ${all.join(', ')} and ${last}.${hint}`);
}

/** Parses the target. Throws a Problem if it is longer than `limit` characters or malformed. */
export function requireTarget(target: string, method: string, limit: number): Target {
  if (target.length > limit) {
    throw new Problem('target-too-long', `A request target has at most ${limit} bytes.`, { close: true });
  }
  return parseTarget(target, method);
}
