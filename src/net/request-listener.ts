import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpHeaders } from '../http/fields.ts';
import type { Connection, IncomingRequest, Response } from '../http/message.ts';
import { Exchange, readPeer } from './exchange.ts';
import { encodeFaulty, sendFaulty } from './fault-injection.ts';
import { cutOff } from './parse-error.ts';

/** A listener for the 'request' event of node:http. */
export type RequestListener = (incoming: IncomingMessage, response: ServerResponse) => void;

/**
 * Creates a request listener for a server of node:http or node:https that the caller owns. `respond` must not reject. Timeouts, and
 * requests that this server rejects or drops by itself, are not covered.
 */
export function requestListener(respond: (request: IncomingRequest) => Promise<Response>): RequestListener {
  return (incoming, response) => {
    const { socket } = incoming;
    const origin: Connection = {
      peer: readPeer(socket),
      secure: 'encrypted' in socket && socket.encrypted === true,
      isOpen: () => !socket.destroyed,
    };
    const exchange = new Exchange(incoming, new HttpHeaders(incoming.rawHeaders), response, origin, false);
    incoming.once('close', () => {
      if (!exchange.isComplete) exchange.content.fail(cutOff());
    });
    response.on('error', () => undefined);
    void answer(exchange, respond);
  };
}

/** The fields for an HTTP/1.0 client. For others, node:http adds them. */
const keepAlive = ['Connection', 'keep-alive'];

async function answer(
  exchange: Exchange,
  respond: (request: IncomingRequest) => Promise<Response>,
): Promise<void> {
  const response = await respond(exchange.request);
  const { incoming, outgoing } = exchange;
  if (outgoing.destroyed) {
    response.onAbandoned?.();
    return;
  }
  if (response.fault !== undefined) {
    const { socket } = incoming;
    const message = encodeFaulty(response, response.fault, exchange.isHead);
    sendFaulty({ socket, tcpSocket: socket, timeout: socket.timeout ?? 0 }, message, response.fault);
    return;
  }
  const persists = response.close !== true && exchange.persists;
  if (!persists) outgoing.shouldKeepAlive = false;
  try {
    exchange.write(response, persists && exchange.request.version === '1.0' ? keepAlive : []);
  } catch {
    // A field cannot be written, so no response can be sent.
    outgoing.destroy();
  }
}
