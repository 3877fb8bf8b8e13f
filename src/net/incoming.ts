import { IncomingMessage } from 'node:http';

/**
 * A request as node:http makes it, but for `headers`, of which node:http itself asks each time whether there is an
 * Expect, and makes an object of all fields for that. Here is Expect alone; everything else is read from `rawHeaders`.
 */
export class Incoming extends IncomingMessage {
  static {
    Object.defineProperty(Incoming.prototype, 'headers', {
      get(this: Incoming) {
        return expectOf(this.rawHeaders);
      },
    });
  }
}

const none: IncomingMessage['headers'] = Object.freeze({});

function expectOf(raw: readonly string[]): IncomingMessage['headers'] {
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? '';
    if (name.length === 6 && name.toLowerCase() === 'expect') return { expect: raw[at + 1] };
  }
  return none;
}
