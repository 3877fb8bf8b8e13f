import { randomBytes } from 'node:crypto';
import { createControllableService } from '../../service/service.ts';
import { createControlAuthenticator } from './authenticator.ts';
import { EventLog } from './event-log.ts';
import { openApiOf } from './openapi.ts';
import { bareOperation, type Operation, resourcesOf } from './operation.ts';
import { adversaryOperations } from './operations/attack.ts';
import { clockOperations } from './operations/clock.ts';
import { credentialOperations } from './operations/credentials.ts';
import { eventOperations } from './operations/events.ts';
import { faultOperations } from './operations/faults.ts';
import { journalOperations } from './operations/journal.ts';
import { servedOperations } from './operations/routes.ts';
import { stateOperations } from './operations/state.ts';
import type { ControlTarget } from './target.ts';

/** How a control interface is opened. */
export interface ControlOptions {
  /** 0, or left out, picks a free one. It is one of 127.0.0.1 always. */
  readonly port?: number;
  /** 16 characters at least, of those that a bearer token may have; drawn when left out. */
  readonly token?: string;
  /** Called with internal errors of the interface; they go to standard error when left out. */
  readonly fault?: (error: unknown) => void;
}

/** A control interface that is open. */
export interface Control {
  /** `http://127.0.0.1:41234`. */
  readonly url: string;
  /** What every request but those for `/health` and `/openapi.json` has to bring: `Authorization: Bearer …`. */
  readonly token: string;
  /** Closes it; what is in flight has `grace` ms (500) to end. */
  close(grace?: number): Promise<void>;
}

/** Bytes of a token that is drawn. */
const tokenBytes = 32;
/** The largest content in bytes: a seed may be long. */
const mostContent = 16 * 1024 * 1024;
/** b64token (RFC 6750 §2.1), long enough not to be guessed. */
const tokenForm = /^(?=.{16})[A-Za-z0-9._~+/-]+=*$/;

/** Throws RangeError on a token that is too short, or that no field could carry. It is not in the message. */
export function judgeToken(token: string): void {
  if (tokenForm.test(token)) return;
  throw new RangeError('the control token is not 16 characters or more of A-Z a-z 0-9 . _ ~ + / -');
}

/**
 * Opens a control interface of `target`. Rejects with RangeError on a token that cannot be, with ListenError.
 * @param unref whether the process may exit while it is open
 */
export async function openControl(
  target: ControlTarget,
  options: ControlOptions = {},
  unref = false,
): Promise<Control> {
  const { port = 0, token = randomBytes(tokenBytes).toString('base64url'), fault } = options;
  judgeToken(token);
  const log = new EventLog(target.events, target.clock);
  const service = createControllableService(
    {
      ...{
        collections: {},
        resources: resourcesOf(operationsOf(target, log)),
        limits: { body: mostContent },
      },
      ...(fault !== undefined && { onError: fault }),
    },
    { authenticator: createControlAuthenticator(token), format: 'json' },
  );
  const { url } = await service.listen({ port, unref });
  return {
    url,
    token,
    close(grace = 500) {
      log.close();
      return service.close(grace);
    },
  };
}

/** All operations, with the one that gives the OpenAPI document of them. */
function operationsOf(target: ControlTarget, log: EventLog): readonly Operation[] {
  const operations: Operation[] = [
    ...stateOperations(target),
    ...clockOperations(target),
    ...faultOperations(target),
    ...journalOperations(target),
    ...credentialOperations(target),
    ...eventOperations(log),
    ...servedOperations(target),
    ...adversaryOperations(target),
    bareOperation({
      ...{ method: 'GET', path: '/openapi.json', id: 'openapi', open: true, gives: { type: 'object' } },
      summary: 'This document',
      answer: () => openApiOf(operations),
    }),
  ];
  return operations;
}
