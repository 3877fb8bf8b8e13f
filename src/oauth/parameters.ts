import type { Form } from '../http/form.ts';

/**
 * Reads the parameters that an endpoint supports and ignores all others (RFC 6749 §3.1, §3.2). A parameter without a value
 * counts as omitted. Parameters that occur more than once are listed in `repeated` and not in `values`.
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
interface Parameters {
  readonly values: ReadonlyMap<string, string>;
  readonly repeated: readonly string[];
}
