import { systemClock } from '../../clock.ts';
import { writeProblem } from '../../formats/server-documents.ts';
import type { FieldLine } from '../../http/fields.ts';
import { formatDate } from '../../http/headers/date.ts';
import type { HttpRequest, Response } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import { createRequestTrace } from '../../pipeline/call.ts';
import type { Observer } from '../../pipeline/observer.ts';
import { toProblemResponse } from '../../pipeline/problem-response.ts';
import { isForOwnHost } from './own-host.ts';

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
export function createGuard(port: () => number): Observer {
  const responseTo = (request: HttpRequest, answer: Parameters<Observer['observe']>[1]): Promise<Response> =>
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

function misdirected(request: HttpRequest): Response {
  const problem = new Problem('misdirected-request', 'Host is not that of this control interface.', {
    close: true,
  });
  const date = formatDate(systemClock.now());
  return toProblemResponse(problem, request, createRequestTrace(), date, (written, instance, accept) =>
    writeProblem(written, instance, accept, 'json'),
  );
}
