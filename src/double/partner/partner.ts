// The document of a partner as a part of a double: routes that are asked after all others, the check of what stubs receive and send,
// and what a test controls.

import type { SchemeDeclarations } from '../../auth/scheme-declarations.ts';
import { findClosestMatch } from '../../did-you-mean.ts';
import { toLines } from '../../http/field-lines.ts';
import { parseMediaType } from '../../http/headers/media-type.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import { parseTarget } from '../../http/target.ts';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { Observer } from '../../pipeline/observer.ts';
import {
  type ActionResponse,
  action,
  type Call,
  type ContentReader,
  listFurtherMethods,
  type Resource,
} from '../../pipeline/resource.ts';
import type { Match, RouteFallback } from '../../pipeline/router.ts';
import type { Scope } from '../../principal.ts';
import { DeclarationError } from '../../schema/error.ts';
import { checkFlag, checkMembers, checkNumber, checkText } from '../../service/argument-checks.ts';
import type { RuleHandle } from '../match.ts';
import type { DoubleOptions } from '../options.ts';
import type { Snapshottable } from '../state/snapshot.ts';
import { createAnyReader } from '../stubs/content.ts';
import { type StubResponse, toActionResponse } from '../stubs/response.ts';
import type { StubCheck } from '../stubs/stubs.ts';
import { createCoverage, documentedStatus, type PartnerCoverage } from './coverage.ts';
import { named, type Operation, type PartnerDocument, readDocument } from './document.ts';
import { readFormParts } from './form-parts.ts';
import type { LocatedSchema } from './located.ts';
import { createParameterChecker, describe, listMembers } from './parameters.ts';
import { createPaths } from './paths.ts';
import { ReceivedParameters } from './received.ts';
import {
  createResponses,
  examineResponses,
  isInRange,
  type PartnerResponses,
  type ResponseChoice,
} from './responses.ts';
import { createChecker } from './schema-check.ts';
import { type PartnerSecurity, readSecurity } from './security.ts';

/** The options of a response that a test chooses. */
export interface RespondOptions {
  /** The number of requests that get it, from 1. Default: all further ones. */
  readonly times?: number | undefined;
  /** The name of an example in the document. */
  readonly example?: string | undefined;
  /** Whether the content has all members of its schema, with values drawn from the seed of the double. Default: false. */
  readonly dynamic?: boolean | undefined;
}

/** Controls the responses of the partner's document. */
export interface DoublePartner {
  /**
   * Chooses the response of an operation to further requests. The last choice wins.
   * @param operationId the operationId or, without one, method and path: `GET /orders`
   * @param response a status of the document, or a response; what the document does not allow is reported when it is sent
   * @throws RangeError if there is no such operation, or the document has no response of this status
   * @example double.partner.respond('createOrder', 409, { times: 1 });
   */
  respond(operationId: string, response: number | StubResponse, options?: RespondOptions): RuleHandle;
  /**
   * Returns which operations, statuses and parameters were used since the double started. `reset` and `restore` keep the counts,
   * because they are about a whole test suite.
   * @example console.log(String(double.partner.coverage()));
   */
  coverage(): PartnerCoverage;
}

/** A document that has been read, before there is a double. */
interface ReadPartner {
  readonly document: PartnerDocument;
  readonly security: PartnerSecurity;
}

/** What the document needs of its double. */
export interface PartnerContext {
  readonly seed: string;
  /** Returns the time in ms. */
  readonly now: () => number;
  /** The maximum nesting of JSON content. */
  readonly maxDepth: number;
  /** Whether unknown parameters of a query are refused. */
  readonly strictQuery: boolean;
  /** Returns whether a parameter of a query belongs to credentials. */
  readonly isCredential: (name: string) => boolean;
  readonly onError: ((error: unknown) => void) | undefined;
}

/** A choice of a test. */
interface Rule {
  readonly operation: Operation;
  readonly choice: ResponseChoice;
  readonly outcome: ActionResponse | undefined;
  remaining: number;
  count: number;
}

interface PartnerRecord {
  readonly rules: readonly { readonly rule: Rule; readonly remaining: number; readonly count: number }[];
  readonly drawn: number;
}

/** The document as a part of a double. */
export interface PartnerPart extends Snapshottable<PartnerRecord>, StubCheck {
  /** The routes of the document, which are asked after all others. */
  readonly fallback: RouteFallback;
  readonly control: DoublePartner;
  /** Removes the responses that a test chose. */
  clearResponses(): void;
  /** Wraps an observer so that requests are counted. */
  observe(observer: Observer): Observer;
}

/** An operation with the values of its path. */
interface FoundOperation {
  readonly operation: Operation;
  readonly received: ReceivedParameters;
}

/** The document of a partner that has been read. */
export interface PreparedPartner {
  /** The scopes that the document names. */
  readonly scopes: readonly Scope[];
  /** The number of operations. */
  readonly operations: number;
  /** What is not verified or cannot be sent as the document says, one sentence each. Creates every response once. */
  examine(): readonly string[];
  /** Why no request can be accepted by some operations, one sentence each. */
  readonly unreachable: readonly string[];
  create(context: PartnerContext): PartnerPart;
}

/** The options of a double that the document completes. */
type CompletedOptions = Pick<DoubleOptions, 'schemes' | 'collections' | 'clients'>;

/**
 * Reads the document of a partner. Returns the options with the schemes that it declares, and what creates its part of a double.
 * @throws DeclarationError that names the place in the document
 */
export async function withPartner<Options extends CompletedOptions>(
  options: Options,
  source: string | object,
): Promise<{
  readonly options: Options & { readonly schemes: SchemeDeclarations };
  readonly prepared: PreparedPartner;
}> {
  const { schemes, collections = {}, clients } = options;
  const document = await readDocument(source);
  const security = named(source, () =>
    readSecurity(document, { schemes, hasClients: clients !== undefined }),
  );
  return {
    options: { ...options, schemes: security.schemes, collections },
    prepared: {
      scopes: security.scopes,
      operations: document.operations.length,
      unreachable: security.unreachable,
      examine: () => [...security.warnings, ...document.examinePatterns(), ...examineResponses(document)],
      create(context) {
        for (const reason of security.unreachable) context.onError?.(new Error(reason));
        return createPartner({ document, security }, context);
      },
    },
  };
}

/** Creates the part of a double that answers as the document describes. */
function createPartner({ document, security }: ReadPartner, context: PartnerContext): PartnerPart {
  const checker = createChecker(document);
  const parameters = createParameterChecker(document, checker, context);
  const paths = createPaths(document);
  const coverage = createCoverage(document.operations);
  const rules = new Set<Rule>();
  let drawn = 0;
  const responses = createResponses({
    document,
    checker,
    seed: context.seed,
    now: context.now,
    next() {
      drawn += 1;
      return drawn;
    },
  });

  const checkBody = (
    { body }: Operation,
    content: unknown,
    field: string | undefined,
  ): MaybePromise<void> => {
    const essence = parseMediaType(field ?? '')?.type ?? '';
    const media =
      body?.content.find((each) => each.essence === essence) ??
      body?.content.find((each) => isInRange(essence, each.essence));
    if (body !== undefined && media === undefined && body.content.length > 0)
      throw new Problem(
        'unsupported-media-type',
        `The Content-Type is not one of this operation: ${body.content.map(({ type }) => type).join(', ')}.`,
      );
    const schema = media?.schema;
    if (media === undefined || schema === undefined) return;
    // Bytes, such as XML, are not decoded, so only a schema of text could be checked.
    if (content instanceof Uint8Array) return;
    if (content instanceof FormData)
      return readFormParts(content, context.maxDepth).then((parts) =>
        checkValue(schema, parameters.readForm(parts, media)),
      );
    const isForm = content instanceof URLSearchParams;
    checkValue(schema, isForm ? parameters.readForm(content, media) : content);
  };

  const checkValue = (schema: LocatedSchema, value: unknown): void => {
    const violations = checker.check(schema, value, 'request');
    const [first] = violations;
    if (first !== undefined)
      throw new Problem('invalid-content', describe(first), { members: listMembers(violations) });
  };

  const checkContent = (
    operation: Operation,
    content: unknown,
    field: string | undefined,
  ): MaybePromise<void> => {
    if (operation.body === undefined) return;
    if (content !== undefined) return checkBody(operation, content, field);
    if (operation.body.required)
      throw new Problem('content-missing', `${operation.id} requires content (${operation.at}/requestBody).`);
  };

  const readingsOf = (operation: Operation): readonly ContentReader[] | undefined => {
    if (operation.body === undefined || operation.body.content.length === 0) return undefined;
    const essences = operation.body.content.map(({ essence }) => essence);
    const types = essences.some((essence) => essence.includes('*')) ? ['*/*'] : [...new Set(essences)];
    const { decoder, ...reader } = createAnyReader(context.maxDepth);
    return types.map((type) => ({
      ...reader,
      type,
      async decoder(call) {
        const inner = await decoder(call);
        return {
          write: (chunk) => inner.write(chunk),
          end: () =>
            andThen<unknown, unknown>(inner.end(), (content) =>
              andThen(
                checkContent(operation, content, call.incoming.headers.get('content-type')),
                () => content,
              ),
            ),
        };
      },
    }));
  };

  const takeRule = (operation: Operation): Rule | undefined => {
    const found = [...rules].findLast((rule) => rule.operation === operation && rule.remaining > 0);
    if (found === undefined) return undefined;
    found.remaining -= 1;
    found.count += 1;
    if (found.remaining === 0) rules.delete(found);
    return found;
  };

  const createResponse: PartnerResponses['create'] = (operation, ...how) => {
    try {
      return responses.create(operation, ...how);
    } catch (error) {
      if (!(error instanceof DeclarationError)) throw error;
      throw new Error(`${operation.id} has no response: ${error.message}`, { cause: error });
    }
  };

  const respond = (operation: Operation, { incoming: request }: Call): ActionResponse => {
    const rule = takeRule(operation);
    if (rule?.outcome !== undefined) return report(operation, rule.outcome);
    const preferred = responses.readPreferences(operation, request);
    const { choice, applied } = rule === undefined ? preferred : { choice: rule.choice, applied: [] };
    const outcome = createResponse(operation, choice, request.headers.get('accept'));
    if (applied.length === 0) return outcome;
    return {
      ...outcome,
      headers: [...toLines(outcome.headers ?? []), ['Preference-Applied', applied.join(', ')]],
    };
  };

  /** Returns the response of a test, with warnings if the document does not allow it. */
  const report = (operation: Operation, outcome: ActionResponse): ActionResponse => {
    const warnings = responses.check(operation, outcome);
    if (warnings.length === 0) return outcome;
    const error = new Error(`the response of ${operation.id} is not as documented: ${warnings.join(' ')}`);
    context.onError?.(error);
    return { ...outcome, warnings };
  };

  const resourceOf = (operation: Operation): Resource => {
    const { access, schemes, scopes } = security.accessOf(operation);
    const reads = readingsOf(operation);
    const implemented = action(access, (call) => respond(operation, call), {
      ...(reads !== undefined && { reads, bodyOptional: operation.body?.required !== true }),
      scopes,
      checkHeaders: ({ incoming: { target, method, headers } }) =>
        parameters.check(operation, new ReceivedParameters(operation, parseTarget(target, method), headers)),
    });
    const isNamed = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'].includes(operation.method);
    const requestFields = operation.parameters
      .filter(({ place }) => place === 'header')
      .map(({ name }) => name);
    return {
      ...(isNamed ? { [operation.method]: implemented } : { methods: { [operation.method]: implemented } }),
      schemes,
      requestHeaders: [...requestFields, 'Prefer'],
      defaultFormat: 'json',
      verbatim: true,
    };
  };

  // OPTIONS is derived.
  const served = document.operations.filter(({ method }) => method !== 'OPTIONS');
  const resources = new Map(served.map((operation) => [operation, resourceOf(operation)]));
  const further = new Set([...resources.values()].flatMap(listFurtherMethods));

  const findMatches = (segments: readonly string[]): Match[] =>
    paths.find(segments).flatMap(({ operations, parameters: values }) =>
      // The operation GET answers HEAD too, unless there is one of its own.
      [...operations].sort(headFirst).flatMap((operation) => {
        const resource = resources.get(operation);
        return resource === undefined ? [] : [{ template: operation.path, resource, parameters: values }];
      }),
    );

  const findOperation = ({ method, target, headers }: IncomingRequest): FoundOperation | undefined => {
    const parsed = parsedTarget(target, method);
    if (parsed === undefined) return undefined;
    for (const { operations } of paths.find(parsed.segments)) {
      const operation =
        operations.find((each) => each.method === method) ??
        operations.find((each) => method === 'HEAD' && each.method === 'GET');
      if (operation !== undefined)
        return { operation, received: new ReceivedParameters(operation, parsed, headers) };
    }
    return undefined;
  };

  const operationNamed = (id: string): Operation => {
    checkText(id, 'the operationId');
    const found = document.operations.find((operation) => operation.id === id);
    if (found !== undefined) return found;
    const ids = document.operations.map((operation) => operation.id);
    const meant = findClosestMatch(String(id), ids);
    const known = meant === undefined ? `; the document has ${listed(ids)}` : `; did you mean "${meant}"?`;
    throw new RangeError(`the document has no operation ${JSON.stringify(id)}${known}`);
  };

  const restore = ({ rules: kept, drawn: count }: PartnerRecord): void => {
    rules.clear();
    for (const { rule, remaining, count } of kept) rules.add(Object.assign(rule, { remaining, count }));
    drawn = count;
  };

  return {
    fallback: {
      find(segments, router) {
        const endpoint = security.endpoints.get(`/${segments.join('/')}`);
        const own = endpoint === undefined ? undefined : router.find(endpoint.slice(1).split('/'));
        return own === undefined ? findMatches(segments) : [own];
      },
      routes: [...resources].map(([{ path: template }, resource]) => ({ template, resource })),
      furtherMethods: () => further,
    },
    control: {
      respond(operationId, response, options = {}) {
        const operation = operationNamed(operationId);
        checkRespondOptions(options);
        const { times = Number.POSITIVE_INFINITY, example, dynamic } = options;
        const isStatus = typeof response === 'number';
        if (isStatus) checkDocumented(operation, response);
        const rule: Rule = {
          operation,
          choice: { status: isStatus ? response : undefined, example, dynamic },
          outcome: isStatus ? undefined : toActionResponse(response),
          remaining: times,
          count: 0,
        };
        rules.add(rule);
        return createHandle(rule, rules);
      },
      coverage: () => coverage.read(),
    },
    clearResponses: () => rules.clear(),
    checkRequest(call) {
      const found = findOperation(call.incoming);
      if (found === undefined) return;
      const { operation, received } = found;
      parameters.check(operation, received);
      return checkContent(operation, call.body, call.incoming.headers.get('content-type'));
    },
    checkResponse(call, outcome) {
      const found = findOperation(call.incoming);
      return found === undefined ? outcome : report(found.operation, outcome);
    },
    observe: (observer) => ({
      async observe(request, answer) {
        const response = await observer.observe(request, answer);
        const found = findOperation(request);
        if (found !== undefined)
          coverage.add(found.operation, response.status, parameters.present(found.operation, found.received));
        return response;
      },
      observeRefused: (...refused) => observer.observeRefused(...refused),
    }),
    snapshot: () => ({
      rules: [...rules].map((rule) => ({ rule, remaining: rule.remaining, count: rule.count })),
      drawn,
    }),
    restore,
    reset() {
      rules.clear();
      drawn = 0;
    },
  };
}

function headFirst({ method: one }: Operation, { method: other }: Operation): number {
  return Number(other === 'HEAD') - Number(one === 'HEAD');
}

function parsedTarget(target: string, method: string): ReturnType<typeof parseTarget> | undefined {
  try {
    return parseTarget(target, method);
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

function checkRespondOptions(options: RespondOptions): void {
  checkMembers(options, ['times', 'example', 'dynamic'], 'the options of respond', 'such as { times: 1 }');
  checkNumber(options.times, 'times of a response', { min: 1, whole: true });
  checkText(options.example, 'example of a response');
  checkFlag(options.dynamic, 'dynamic of a response');
}

function checkDocumented(operation: Operation, status: number): void {
  checkNumber(status, 'the status of a response', { min: 200, max: 599, whole: true });
  if (documentedStatus(operation, status) !== undefined) return;
  const known = operation.responses.map((each) => each.status).join(', ') || 'none';
  throw new RangeError(`${operation.id} has no response with status ${status}; the document has ${known}`);
}

/** The names in a message, at most. */
const maxListed = 20;

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const shown = names.slice(0, maxListed).join(', ');
  return names.length > maxListed ? `${shown} and ${names.length - maxListed} more` : shown;
}

function createHandle(rule: Rule, rules: Set<Rule>): RuleHandle {
  const remove = (): void => {
    rule.remaining = 0;
    rules.delete(rule);
  };
  return {
    get count() {
      return rule.count;
    },
    get remaining() {
      return rule.remaining;
    },
    remove,
    [Symbol.dispose]: remove,
  };
}
