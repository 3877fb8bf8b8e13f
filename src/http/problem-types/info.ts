/** A type of problems. */
export interface ProblemTypeInfo {
  /** The HTTP status code. */
  readonly status: number;
  /** A short summary, the same for each occurrence (RFC 9457 §3.1.3). */
  readonly title: string;
  /** The meaning, and what to do: the text at `/problems/NAME`. */
  readonly explanation: string;
}
