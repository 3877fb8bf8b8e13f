import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { systemClock } from '../../clock.ts';
import { writeProblem } from '../../collections/formats/server-documents.ts';
import type { Duration } from '../../duration.ts';
import type { FieldLine } from '../../http/fields.ts';
import { formatChallenge, parseCredentials } from '../../http/headers/authorization.ts';
import { formatDate } from '../../http/headers/date.ts';
import type { IncomingRequest, Response } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import { createRequestTrace } from '../../pipeline/call.ts';
import type { Observer } from '../../pipeline/observer.ts';
import { toProblemResponse } from '../../pipeline/problem-response.ts';
import type { Principal } from '../../principal.ts';
import type { Authenticator } from '../../schemes/authenticate.ts';
import { readGrace } from '../../service/options-shape.ts';
import { createControllableService } from '../../service/service.ts';
import { anything, object, optional, read, type ShapesOf } from '../../shape/shape.ts';
import { consoleResources } from './console-files.ts';
import { anyObject } from './content.ts';
import {
  buildOpenApi,
  type Controlled,
  controller,
  createResources,
  type Operation,
  operation,
} from './operation.ts';
import { attackOperations } from './operations/attack.ts';
import { credentialOperations } from './operations/credentials.ts';
import { EventLog, eventOperations } from './operations/events.ts';
import { journalOperations } from './operations/journal.ts';
import { listingOperations } from './operations/listing.ts';
import { faultOperations, partnerOperations, stubOperations } from './operations/rules.ts';
import { sendOperations, signOperations } from './operations/send.ts';
import { clockOperations, stateOperations } from './operations/state.ts';

/** The options of a control interface. */
export interface ControlOptions {
  /** The port on 127.0.0.1. Default: 0, a free port. */
  readonly port?: number | undefined;
  /** The bearer token: at least 16 characters of b64token (RFC 6750 §2.1). Default: generated. */
  readonly token?: string | undefined;
  /** Called with internal errors of the interface. Default: they are written to standard error. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

const optionsShape = object({
  port: optional(anything),
  token: optional(anything),
  onError: optional(anything),
} satisfies ShapesOf<ControlOptions>);

/** An open control interface. */
export interface ControlServer extends AsyncDisposable {
  /** Its origin, such as `http://127.0.0.1:41234`. */
  readonly url: string;
  /** The token. All requests except those for `/health`, `/openapi.json` and the console's files must send `Authorization: Bearer …`. */
  readonly token: string;
  /** The address of the console with the token, such as `http://127.0.0.1:41234/#TOKEN`. Open it in a browser. */
  readonly console: string;
  /**
   * Closes the interface.
   * @param options `grace`: the time that requests in flight have to finish, in ms or as text such as `2s`. Default: 500.
   */
  close(options?: { readonly grace?: Duration }): Promise<void>;
}

/** The length in bytes of a generated token. */
const tokenBytes = 32;
/** The maximum length of content in bytes. A seed may be long. */
const maxContent = 16 * 1024 * 1024;
/** The syntax of a token: b64token (RFC 6750 §2.1), of a length that cannot be guessed. */
const tokenForm = /^(?=.{16})[A-Za-z0-9._~+/-]+=*$/;

/** Throws RangeError if a token is too short or not a b64token. The message does not contain the token. */
export function checkToken(token: string): void {
  if (tokenForm.test(token)) return;
  throw new RangeError('the control token must be at least 16 characters of A-Z a-z 0-9 . _ ~ + / -');
}

/**
 * Opens a control interface for `target`. Rejects with RangeError on an invalid token, and with ListenError if the port
 * is in use.
 * @param unref whether the process may exit while the interface is open. Default: true.
 */
export async function openControl(
  target: Controlled,
  options: ControlOptions = {},
  unref = true,
): Promise<ControlServer> {
  read(optionsShape, options, { optionsOf: 'openControl' });
  const { port = 0, token = randomBytes(tokenBytes).toString('base64url'), onError } = options;
  checkToken(token);
  const log = new EventLog(target.core.events, target.clock);
  const operations = createResources(listOperations(target, log));
  const routes = Object.entries(operations).map(([template, resource]) => ({ template, resource }));
  let ownPort = port;
  const service = createControllableService(
    {
      collections: {},
      defaultFormat: 'json',
      resources: { ...operations, ...consoleResources(routes) },
      limits: { body: maxContent },
      observer: createGuard(() => ownPort),
      onError,
    },
    { authenticator: createControlAuthenticator(token) },
  );
  const { url, port: opened } = await service.listen({ port, unref });
  ownPort = opened;
  const close = async (given?: { readonly grace?: Duration }): Promise<void> => {
    const grace = readGrace(given, 500);
    log.close();
    await service.close({ grace });
  };
  return {
    url,
    token,
    console: `${url}/#${encodeURIComponent(token)}`,
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/** Returns all operations, including the one that returns their OpenAPI document. */
function listOperations(target: Controlled, log: EventLog): readonly Operation[] {
  const operations: Operation[] = [
    ...stateOperations(target),
    ...clockOperations(target),
    ...faultOperations(target),
    ...journalOperations(target),
    ...sendOperations(target),
    ...signOperations(target),
    ...listingOperations(target),
    ...credentialOperations(target),
    ...eventOperations(log),
    ...stubOperations(target),
    ...partnerOperations(target),
    ...attackOperations(target),
    operation('GET', '/openapi.json', 'openapi', {
      open: true,
      returns: anyObject(),
      summary: 'Returns this document',
      run: () => buildOpenApi(operations),
    }),
  ];
  return operations;
}

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The fields of every response: a browser runs only the scripts of the console, and reveals nothing to other sites. */
const securityFields: readonly FieldLine[] = [
  ['Content-Security-Policy', policy],
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
];

/**
 * Creates the observer of the control interface. It refuses requests to other hosts with 421, on every path, before anything else
 * is decided, and adds the security fields to every response.
 * @param port returns the port of the interface
 */
function createGuard(port: () => number): Observer {
  const responseTo = (
    request: IncomingRequest,
    answer: Parameters<Observer['observe']>[1],
  ): Promise<Response> =>
    isForOwnHost(request, port())
      ? answer(request, createRequestTrace())
      : Promise.resolve(misdirected(request));
  return {
    async observe(request, answer) {
      const response = await responseTo(request, answer);
      const fields = response.headers.filter(([name]) => name !== 'X-Content-Type-Options');
      return { ...response, headers: [...fields, ...securityFields] };
    },
    observeRefused() {},
  };
}

function misdirected(request: IncomingRequest): Response {
  const problem = new Problem('misdirected-request', 'Host is not that of this control interface.', {
    close: true,
  });
  const date = formatDate(systemClock.now());
  return toProblemResponse(problem, request, createRequestTrace(), date, (written, instance, accept) =>
    writeProblem(written, instance, accept, 'json'),
  );
}

/** The names of the loopback interface by which clients may address the control interface. */
const names = ['127.0.0.1', 'localhost', '[::1]'];

/** The port that a host without a port means, over plain HTTP. */
const defaultPort = 80;

/**
 * Returns whether a request is addressed to this port of the loopback interface: by its Host, and in absolute form also by its
 * target, which takes precedence (RFC 9112 §3.2.2). A web page cannot forge either.
 */
function isForOwnHost(
  { headers: fields, target }: Pick<IncomingRequest, 'headers' | 'target'>,
  port: number,
): boolean {
  const [host, ...others] = fields.getAll('host');
  if (host === undefined || others.length > 0 || !isOwn(host, port)) return false;
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(target)?.[1];
  return authority === undefined || isOwn(authority, port);
}

function isOwn(host: string, port: number): boolean {
  const given = host.toLowerCase();
  return names.some((name) => given === `${name}:${port}` || (port === defaultPort && given === name));
}

const challenge: FieldLine = [
  'WWW-Authenticate',
  formatChallenge('Bearer', [['realm', 'Countersign control']]),
];

/**
 * Creates the authenticator of the control interface. It accepts the token over plain HTTP, since the interface listens on
 * 127.0.0.1 only.
 */
function createControlAuthenticator(token: string): Authenticator {
  const expected = computeDigest(token);
  const principal: Principal = { name: controller, scheme: 'bearer' };
  return {
    authenticate(request) {
      const sent = readToken(request);
      if (sent === undefined) return undefined;
      // timingSafeEqual requires equal lengths, which digests have.
      if (timingSafeEqual(computeDigest(sent), expected)) return principal;
      throw new Problem('token-refused', 'The token is not the token of this control interface.', {
        headers: [challenge],
      });
    },
    challenges: () => [challenge],
    missing: (detail) => new Problem('authentication-required', detail, { headers: [challenge] }),
    scopeChallenge: () => [],
  };
}

function computeDigest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Returns the token of a request, or undefined without credentials. Throws a Problem (400 or 401) on other credentials. */
function readToken({ headers }: IncomingRequest): string | undefined {
  const lines = headers.getAll('authorization');
  const [line] = lines;
  if (line === undefined) return undefined;
  if (lines.length > 1) throw new Problem('several-credentials', 'Send one Authorization field only.');
  const credentials = parseCredentials(line);
  if (credentials === undefined)
    throw new Problem('malformed-credentials', 'Authorization must be "Bearer" and the token.');
  if (credentials.scheme === 'bearer') return credentials.rest;
  throw new Problem('scheme-not-offered', 'The control interface requires a bearer token.', {
    headers: [challenge],
  });
}
