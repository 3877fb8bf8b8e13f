import { randomBytes } from 'node:crypto';
import { checkMembers } from '../../service/argument-checks.ts';
import { createControllableService } from '../../service/service.ts';
import { createControlAuthenticator } from './authenticator.ts';
import { consoleResources } from './console-files.ts';
import { EventLog } from './event-log.ts';
import { createGuard } from './guard.ts';
import { openApiOf } from './openapi.ts';
import { bareOperation, type Operation, resourcesOf } from './operation.ts';
import { attackOperations } from './operations/attack.ts';
import { clockOperations } from './operations/clock.ts';
import { credentialOperations } from './operations/credentials.ts';
import { eventOperations } from './operations/events.ts';
import { faultOperations } from './operations/faults.ts';
import { journalOperations } from './operations/journal.ts';
import { listingOperations } from './operations/listing.ts';
import { partnerOperations } from './operations/partner.ts';
import { routeOperations } from './operations/routes.ts';
import { sendOperations } from './operations/send.ts';
import { signOperations } from './operations/sign.ts';
import { stateOperations } from './operations/state.ts';
import { stubOperations } from './operations/stubs.ts';
import type { ControlTarget } from './target.ts';

/** The options of a control interface. */
export interface ControlOptions {
  /** The port on 127.0.0.1. Default: 0, a free port. */
  readonly port?: number;
  /** The bearer token: at least 16 characters of b64token (RFC 6750 §2.1). Default: generated. */
  readonly token?: string;
  /** Called with internal errors of the interface. Default: they are written to standard error. */
  readonly onError?: (error: unknown) => void;
}

/** The names of the options. The type checks that the list is complete. */
const optionNames: Readonly<Record<keyof ControlOptions, true>> = { port: true, token: true, onError: true };

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
   * @param options `grace`: the ms that requests in flight have to finish. Default: 500.
   */
  close(options?: { readonly grace?: number }): Promise<void>;
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
  target: ControlTarget,
  options: ControlOptions = {},
  unref = true,
): Promise<ControlServer> {
  checkMembers(options, Object.keys(optionNames), 'the options of openControl');
  const { port = 0, token = randomBytes(tokenBytes).toString('base64url'), onError } = options;
  checkToken(token);
  const log = new EventLog(target.events, target.clock);
  const operations = resourcesOf(operationsOf(target, log));
  const routes = Object.entries(operations).map(([template, resource]) => ({ template, resource }));
  let ownPort = port;
  const service = createControllableService(
    {
      collections: {},
      defaultFormat: 'json',
      resources: { ...operations, ...consoleResources(routes) },
      limits: { body: maxContent },
      observer: createGuard(() => ownPort),
      ...(onError !== undefined && { onError }),
    },
    { authenticator: createControlAuthenticator(token) },
  );
  const { url, port: opened } = await service.listen({ port, unref });
  ownPort = opened;
  const close = ({ grace = 500 }: { readonly grace?: number } = {}): Promise<void> => {
    log.close();
    return service.close({ grace });
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
function operationsOf(target: ControlTarget, log: EventLog): readonly Operation[] {
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
    ...routeOperations(target),
    ...stubOperations(target),
    ...partnerOperations(target),
    ...attackOperations(target),
    bareOperation({
      method: 'GET',
      path: '/openapi.json',
      id: 'openapi',
      open: true,
      returns: { type: 'object' },
      summary: 'Returns this document',
      run: () => openApiOf(operations),
    }),
  ];
  return operations;
}
