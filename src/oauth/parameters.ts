import type { Form } from '../http/form.ts';

/**
 * Reads the parameters that an endpoint knows and passes over all others (RFC 6749 §3.1, §3.2). One without a value counts
 * as left out. Those of them that stand more than once are listed in `repeated`, and are not among the values.
 */
export function readParameters(form: Form, names: readonly string[]): Parameters {
  const values = new Map<string, string>();
  const repeated: string[] = [];
  for (const name of names) {
    const sent = form.filter(([each]) => each === name).map(([, value]) => value);
    if (sent.length > 1) repeated.push(name);
    else if (sent[0] !== undefined && sent[0] !== '') values.set(name, sent[0]);
  }
  return { values, repeated };
}

/** The parameters of one request. */
export interface Parameters {
  readonly values: ReadonlyMap<string, string>;
  readonly repeated: readonly string[];
}
