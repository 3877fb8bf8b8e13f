import type { ProblemMember } from '../http/problem.ts';

type Members = Readonly<Record<string, ProblemMember>>;

/** A named part of a signed message, such as `method` or `query`. */
export interface MessagePart {
  readonly name: string;
  /** The value that the server verifies the signature against. */
  readonly expected: string;
  /** The value that the client's signature covers, if a usual mistake reproduces that signature and the part differs. */
  readonly signed?: string;
}

/** An explanation, which may take long to make. */
export interface Explained {
  /** What the trace records. A function makes it when it is read. */
  readonly traced: Members | (() => Members);
  /** Makes what the client may see, which does not show whether the user exists. */
  readonly shown: () => Members;
}
