import { findDifference, isMatchMethod, type MatchedRequest, type RequestMatchParts } from '../match.ts';
import type { Candidate } from '../nearest.ts';
import type { PartnerDocument, Route } from './document.ts';

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
