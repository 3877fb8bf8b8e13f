// Makes resources of the operations of a document.
import type { IncomingRequest } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import { parseTarget } from '../../http/target.ts';
import { andThen } from '../../maybe-promise.ts';
import {
  type Action,
  action,
  type Call,
  type ContentReader,
  listFurtherMethods,
  type Resource,
} from '../../pipeline/resource.ts';
import { createAnyReader } from '../stubs/content.ts';
import type { Answers } from './answers.ts';
import type { FaultyOperation, Operation, PartnerDocument } from './document.ts';
import { ReceivedParameters } from './received.ts';
import type { RequestCheck } from './request-check.ts';
import type { PartnerSecurity } from './security.ts';

/** What resources are made of. */
interface ResourceParts {
  readonly document: PartnerDocument;
  readonly security: PartnerSecurity;
  readonly answers: Answers;
  readonly requests: RequestCheck;
  /** The form of errors. */
  readonly errors: 'partner' | 'problem';
  /** The maximum nesting of JSON content. */
  readonly maxDepth: number;
}

/** The resources of operations. */
export class OperationResources {
  readonly #parts: ResourceParts;
  readonly #resources: ReadonlyMap<Operation | FaultyOperation, Resource>;
  /** The resources that accept any content, of operations that were requested without a check. */
  readonly #lenient = new Map<Operation, Resource>();
  /** The methods of operations that have no name in a resource. */
  readonly furtherMethods: ReadonlySet<string>;

  constructor(parts: ResourceParts) {
    this.#parts = parts;
    const { operations, faulty } = parts.document;
    // OPTIONS is derived.
    const served = operations.filter(({ method }) => method !== 'OPTIONS');
    this.#resources = new Map<Operation | FaultyOperation, Resource>([
      ...served.map((each) => [each, this.#create(each, this.#checkedAction(each))] as const),
      ...faulty.map((each) => [each, createFaultyResource(each)] as const),
    ]);
    this.furtherMethods = new Set([...this.#resources.values()].flatMap(listFurtherMethods));
  }

  /** Returns all routes of the document. */
  get routes(): readonly { readonly template: string; readonly resource: Resource }[] {
    return Array.from(this.#resources, ([{ path: template }, resource]) => ({ template, resource }));
  }

  /** Returns the resource that answers a request for an operation; undefined if it is derived. */
  find(operation: Operation | FaultyOperation, request: IncomingRequest | undefined): Resource | undefined {
    const { answers } = this.#parts;
    if ('fault' in operation || request === undefined) return this.#resources.get(operation);
    if (answers.validationOf(operation, request).request === 'on' || operation.method === 'OPTIONS')
      return this.#resources.get(operation);
    const known = this.#lenient.get(operation) ?? this.#create(operation, this.#lenientAction(operation));
    this.#lenient.set(operation, known);
    return known;
  }

  #create(operation: Operation, implemented: Action): Resource {
    const { security, answers, errors } = this.#parts;
    const requestFields = operation.parameters
      .filter(({ place }) => place === 'header')
      .map(({ name }) => name);
    return {
      ...methodOf(operation, implemented),
      schemes: security.accessOf(operation).schemes,
      requestHeaders: [...requestFields, 'Prefer'],
      ...form,
      ...(errors === 'partner' && {
        writeProblem: (problem: Problem, request: IncomingRequest | undefined) =>
          answers.writeProblem(operation, problem, request),
      }),
    };
  }

  #checkedAction(operation: Operation): Action {
    const { security, answers, requests } = this.#parts;
    const { access, scopes } = security.accessOf(operation);
    const reads = this.#readingsOf(operation);
    return action(access, (call) => answers.respond(operation, call), {
      ...(reads !== undefined && { reads, bodyOptional: operation.body?.required !== true }),
      scopes,
      checkHeaders: ({ incoming: { target, method, headers } }) =>
        requests.checkParameters(
          operation,
          new ReceivedParameters(operation, parseTarget(target, method), headers),
        ),
    });
  }

  /** Returns an action that accepts any content, whose request is compared when it is answered. */
  #lenientAction(operation: Operation): Action {
    const { security, answers, maxDepth } = this.#parts;
    const { access, scopes } = security.accessOf(operation);
    return action(access, (call) => answers.respondLeniently(operation, call), {
      reads: [createAnyReader(maxDepth)],
      bodyOptional: true,
      scopes,
    });
  }

  /** Returns the readers of the content of an operation, which check it; undefined if it has none. */
  #readingsOf(operation: Operation): readonly ContentReader[] | undefined {
    const { requests, maxDepth } = this.#parts;
    if (operation.body === undefined || operation.body.content.length === 0) return undefined;
    const essences = operation.body.content.map(({ essence }) => essence);
    const types = essences.some((essence) => essence.includes('*')) ? ['*/*'] : [...new Set(essences)];
    const { decoder, ...reader } = createAnyReader(maxDepth);
    const check = (content: unknown, { incoming: { headers } }: Call): unknown =>
      andThen(requests.checkContent(operation, content, headers), () => content);
    return types.map((type) => ({
      ...reader,
      type,
      async decoder(call) {
        const inner = await decoder(call);
        return {
          write: (chunk) => inner.write(chunk),
          end: () => andThen<unknown, unknown>(inner.end(), (content) => check(content, call)),
        };
      },
    }));
  }
}

/** The form of what a resource sends. */
const form = { defaultFormat: 'json', verbatim: true } as const;

/** Returns the resource of an operation with a mistake, which anyone may see. */
function createFaultyResource(operation: FaultyOperation): Resource {
  const { method, key, fault } = operation;
  const refused = action('anyone', () => {
    throw new Problem('operation-not-served', `${method} ${key} is not served: ${fault.message}.`);
  });
  return { ...methodOf(operation, refused), ...form };
}

function methodOf({ method }: Pick<Operation, 'method'>, implemented: Action): Resource {
  const isNamed = ['GET', 'PUT', 'POST', 'DELETE', 'PATCH'].includes(method);
  return isNamed ? { [method]: implemented } : { methods: { [method]: implemented } };
}
