import { badRequestTypes } from './problem-types/bad-request.ts';
import { clientErrorTypes } from './problem-types/client-errors.ts';
import { credentialTypes } from './problem-types/credentials.ts';
import type { ProblemTypeInfo } from './problem-types/info.ts';
import { serverErrorTypes } from './problem-types/server-errors.ts';

/** All problem types by name. The `type` member of a problem is `/problems/` and the name. */
export const problemTypes = {
  ...badRequestTypes,
  ...credentialTypes,
  ...clientErrorTypes,
  ...serverErrorTypes,
} as const satisfies Record<string, ProblemTypeInfo>;

/** The name of a problem type. */
export type ProblemType = keyof typeof problemTypes;

/** The names of all problem types. */
export const problemTypeNames: readonly ProblemType[] = Object.keys(problemTypes).filter(isProblemType);

function isProblemType(name: string): name is ProblemType {
  return Object.hasOwn(problemTypes, name);
}

/** Returns the problem type of a name; undefined if there is none. */
export function findProblemType(name: string): ProblemTypeInfo | undefined {
  return Object.entries(problemTypes).find(([type]) => type === name)?.[1];
}
