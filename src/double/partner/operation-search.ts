// Finds the operations of a document that a request addresses, and how it differs from the others.
import type { IncomingRequest } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import { parseTarget } from '../../http/target.ts';
import { findDifference, isMatchMethod, type MatchedRequest, type RequestMatchParts } from '../match.ts';
import type { Candidate } from '../nearest.ts';
import type { FaultyOperation, Operation, PartnerDocument, Route } from './document.ts';
import { createPaths, type FoundPath, type PartnerPaths } from './paths.ts';
import { ReceivedParameters } from './received.ts';
import type { RequestCheck } from './request-check.ts';

/** An operation at a path, with the values of its parameters. It may have a mistake. */
type Found = FoundPath<Operation | FaultyOperation>;

/** An operation with what a request has for it. */
interface FoundOperation {
  readonly operation: Operation;
  readonly received: ReceivedParameters;
}

/** Finds operations. */
export class OperationSearch {
  readonly #paths: PartnerPaths<Operation | FaultyOperation>;
  readonly #requests: Pick<RequestCheck, 'fits'>;

  constructor({ operations, faulty, basePaths }: PartnerDocument, requests: Pick<RequestCheck, 'fits'>) {
    this.#paths = createPaths<Operation | FaultyOperation>([...operations, ...faulty], basePaths);
    this.#requests = requests;
  }

  /** Returns the operations for a request, the nearest one first. Without a request, all at the address. */
  list(segments: readonly string[], request: IncomingRequest | undefined): readonly Found[] {
    // The operation GET answers HEAD too, unless there is one of its own.
    const found = [...this.#paths.find(segments)].sort(headFirst);
    const target = request && parsedTarget(request);
    if (request === undefined || target === undefined) return found;
    const asked = selectByQuery(found, target.search);
    const answering = asked.filter(({ operation: { method } }) => method === request.method);
    if (answering.length < 2) return asked;
    const fits = ({ operation }: Found): boolean =>
      'fault' in operation ||
      this.#requests.fits(operation, new ReceivedParameters(operation, target, request.headers));
    const fitting = answering.find(fits);
    return fitting === undefined ? asked : [fitting, ...asked.filter((each) => each !== fitting)];
  }

  /** Returns the operation that answers a request; undefined if none does, or it has a mistake. */
  find(request: IncomingRequest): FoundOperation | undefined {
    const { method, headers } = request;
    const target = parsedTarget(request);
    if (target === undefined) return undefined;
    const found = this.list(target.segments, request);
    const { operation } =
      found.find((each) => each.operation.method === method) ??
      found.find((each) => method === 'HEAD' && each.operation.method === 'GET') ??
      {};
    if (operation === undefined || 'fault' in operation) return undefined;
    return { operation, received: new ReceivedParameters(operation, target, headers) };
  }
}

/** Returns the operations whose keys have no query, or that of the request, those with the longest one first. */
function selectByQuery(found: readonly Found[], search: string): readonly Found[] {
  const query = new URLSearchParams(search);
  return found
    .filter(({ operation }) => operation.query.every(([name, value]) => hasQuery(query, name, value)))
    .sort((one, other) => other.operation.query.length - one.operation.query.length);
}

function hasQuery(query: URLSearchParams, name: string, value: string): boolean {
  return value === '' ? query.has(name) : query.getAll(name).includes(value);
}

function headFirst({ operation: one }: FoundPath<Route>, { operation: other }: FoundPath<Route>): number {
  return Number(other.method === 'HEAD') - Number(one.method === 'HEAD');
}

function parsedTarget({
  target,
  method,
}: Pick<IncomingRequest, 'target' | 'method'>): ReturnType<typeof parseTarget> | undefined {
  try {
    return parseTarget(target, method);
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

/** Returns the operations of a document, and how a request differs from each: at the root, and below the path of each server. */
export function listCandidates(
  { operations, faulty, basePaths }: PartnerDocument,
  request: MatchedRequest,
): readonly Candidate[] {
  const named = [
    ...operations.map((operation) => ({ route: operation, id: operation.id })),
    ...faulty.map((route) => ({ route, id: undefined })),
  ];
  return named.flatMap(({ route, id }) =>
    ['', ...basePaths].map((base) => {
      const match = createMatch(route, base, request.method);
      return {
        match,
        explain: () => `${nameOperation(route, id)}, but ${findDifference(request, match, () => true)}`,
      };
    }),
  );
}

function nameOperation({ method, key }: Route, id: string | undefined): string {
  const address = `${method} ${key}`;
  return `operation is ${id === undefined || id === address ? address : `${id} (${address})`}`;
}

function createMatch({ method, path, query }: Route, base: string, asked: string): RequestMatchParts {
  const answersHead = asked === 'HEAD' && method === 'GET';
  return {
    ...(!answersHead && isMatchMethod(method) && { method }),
    path: `/${`${base}${path}`.slice(1)}`,
    query: Object.fromEntries(query.map(([name, value]) => [name, value === '' ? /^/ : value])),
  };
}
