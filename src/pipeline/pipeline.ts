import type { Clock } from '../clock.ts';
import type { DocumentFormat } from '../formats/server-documents.ts';
import type { Reply, Request } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import { comesLater } from '../maybe-promise.ts';
import type { Principal } from '../principal.ts';
import type { AccessEntry, ServiceOptions } from '../service/options.ts';
import { type Known, nothingKnown } from './call.ts';
import { decide, type House } from './decide.ts';
import type { Answer } from './observer.ts';
import { pathSent, problemOf, toProblemReply } from './problem-response.ts';
import { createProxyTrust } from './proxy.ts';

/** What answering takes. */
export interface AnsweringParts {
  readonly options: Pick<ServiceOptions, 'log' | 'fault' | 'observer' | 'trustProxy'>;
  readonly house: House;
  /** What requests wait for. */
  readonly seeded: Promise<void>;
  /** Keeps the nonce of a request before its reply (`Authentication`). */
  keepNonce(principal: Principal | undefined, durably: boolean): Promise<void> | undefined;
  /** What problems are written in for clients that accept either. */
  readonly format: DocumentFormat;
}

/** Makes a reply of every request: of what was decided, or of what went wrong. */
export class Answering {
  readonly #parts: AnsweringParts;
  readonly #fault: (error: unknown) => void;
  readonly #answer: Answer;
  /** Whether there is nothing left to wait for. */
  #planted = false;

  constructor(parts: AnsweringParts) {
    const { seeded, options } = parts;
    const { trustProxy = [], fault = (error) => console.error(error) } = options;
    this.#parts = parts;
    this.#fault = fault;
    this.#answer = (request, known) => this.#reply(request, known);
    if (trustProxy.length > 0) {
      const asSent = createProxyTrust(trustProxy);
      this.#answer = (request, known) => this.#reply(asSent(request), known);
    }
    // Whoever waits for it learns of a failure; nobody has to.
    seeded.then(
      () => {
        this.#planted = true;
      },
      () => {},
    );
  }

  /** Answers a request; never rejects. */
  handle(request: Request): Promise<Reply> {
    const { observer } = this.#parts.options;
    return observer === undefined
      ? this.#answer(request, nothingKnown())
      : observer.handle(request, this.#answer);
  }

  /** The reply to what was refused before it could be handled; `received` is what was being parsed where it is no request. */
  refuse(problem: Problem, request: Request | undefined, received?: string): Reply {
    const { house, options } = this.#parts;
    const known = nothingKnown();
    const reply = this.#refusal(problem, request, known);
    options.observer?.refused(problem, request, reply, received);
    return this.#told(request, reply, known, house.clock.steady());
  }

  async #reply(request: Request, known: Known): Promise<Reply> {
    const { house, seeded, keepNonce, options } = this.#parts;
    const begun = options.log === undefined ? 0 : house.clock.steady();
    let outcome: Reply | Problem;
    try {
      if (!this.#planted) await seeded;
      const decided = decide(request, house, known);
      outcome = comesLater(decided) ? await decided : decided;
    } catch (error) {
      outcome = problemOf(error, this.#fault);
    }
    // What was used up is kept before anything is said, unless the change kept it.
    const keeping = keepNonce(known.principal, !(outcome instanceof Problem));
    if (keeping !== undefined)
      outcome = await keeping.then(
        () => outcome,
        (error) => problemOf(error, this.#fault),
      );
    const reply = outcome instanceof Problem ? this.#refusal(outcome, request, known) : outcome;
    return this.#told(request, reply, known, begun);
  }

  #refusal(problem: Problem, request: Request | undefined, known: Known): Reply {
    const { house, format } = this.#parts;
    known.problem = problem;
    return toProblemReply(problem, request, known, house.httpDate(house.clock.now()), format);
  }

  /** The same reply, once the access log has been told of it. */
  #told(request: Request | undefined, reply: Reply, known: Known, begun: number): Reply {
    const { house, options } = this.#parts;
    options.log?.(accessEntry(request, reply.status, known, house.clock, begun));
    return reply;
  }
}

/** What the access log is told: method and path as sent, and nothing of query, fields or content. */
function accessEntry(
  request: Request | undefined,
  status: number,
  { principal, problem }: Known,
  clock: Clock,
  begun: number,
): AccessEntry {
  return {
    time: clock.now(),
    method: request?.method ?? '-',
    path: request === undefined ? '-' : pathSent(request),
    status,
    principal: principal?.name,
    scheme: principal?.scheme,
    microseconds: Math.round((clock.steady() - begun) * 1000),
    problem: problem?.type,
  };
}
