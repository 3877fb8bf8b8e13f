import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const tolerance = 300; // seconds
const maxBytes = 65_536;

/** Creates a server that receives payment events at /payments and passes each one to `onEvent` once. */
export function createReceiver({ secret, onEvent, now = Date.now }) {
  const received = new Set(); // a database in real life
  return createServer(async (request, response) => {
    const status = await receive(request).catch(() => 400);
    response.writeHead(status).end();
  });

  async function receive(request) {
    if (request.url !== '/payments') return 404;
    if (request.method !== 'POST') return 405;
    const body = await readBody(request);
    if (body === undefined) return 413;
    if (!isSigned(request.headers['stripe-signature'] ?? '', body)) return 400;
    const event = JSON.parse(body);
    if (!received.has(event.id)) onEvent(event);
    received.add(event.id);
    return 200;
  }

  function isSigned(header, body) {
    const match = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header);
    if (match === null) return false;
    const [, seconds, signature] = match;
    if (Math.abs(now() / 1000 - seconds) > tolerance) return false;
    const expected = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest();
    return timingSafeEqual(expected, Buffer.from(signature, 'hex'));
  }
}

/** Reads the bytes of the content, which are signed; undefined if there are too many. */
async function readBody(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
