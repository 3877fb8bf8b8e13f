import type { IncomingMessage, ServerResponse } from 'node:http';
import { Fields } from '../http/fields.ts';
import type { Connection, Request, Response } from '../http/message.ts';
import { Exchange } from './exchange.ts';
import { faultyParts, sendFaulty } from './fault-injection.ts';
import { peerOf } from './http-connection.ts';
import { cutOff } from './parse-error.ts';

/** What node:http calls for each request. */
export type RequestListener = (incoming: IncomingMessage, response: ServerResponse) => void;

/**
 * Makes a listener for a server of node:http or node:https that somebody else keeps. `handle` never rejects. What such a
 * server refuses or drops by itself, and its timeouts, are its own.
 */
export function requestListener(respond: (request: Request) => Promise<Response>): RequestListener {
  return (incoming, response) => {
    const { socket } = incoming;
    const origin: Connection = {
      peer: peerOf(socket),
      secure: 'encrypted' in socket && socket.encrypted === true,
    };
    const exchange = new Exchange(incoming, new Fields(incoming.rawHeaders), response, origin, false);
    incoming.once('close', () => {
      if (!exchange.isWhole) exchange.content.fail(cutOff());
    });
    response.on('error', () => undefined);
    void answer(exchange, respond);
  };
}

/** What a client that speaks HTTP/1.0 is told; node:http tells the others. */
const keepAlive = ['Connection', 'keep-alive'];

async function answer(exchange: Exchange, respond: (request: Request) => Promise<Response>): Promise<void> {
  const reply = await respond(exchange.request);
  const { response } = exchange;
  if (response.destroyed) {
    reply.onAbandoned?.();
    return;
  }
  if (reply.fault !== undefined) {
    const { socket } = exchange.incoming;
    const pieces = faultyParts(reply, reply.fault, exchange.isHead);
    sendFaulty({ socket, carrier: socket, patience: socket.timeout ?? 0 }, pieces, reply.fault);
    return;
  }
  const persists = reply.close !== true && exchange.persists;
  if (!persists) response.shouldKeepAlive = false;
  try {
    exchange.write(reply, persists && exchange.request.version === '1.0' ? keepAlive : []);
  } catch {
    // A field that cannot be written: nothing can be said any more.
    response.destroy();
  }
}
