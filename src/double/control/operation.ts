import { Problem } from '../../http/problem.ts';
import {
  type Action,
  action,
  type Call,
  json,
  type Outcome,
  type Parameters,
  type Resource,
} from '../../pipeline/resource.ts';
import { DeclarationError } from '../../schema/error.ts';
import { controller } from './authenticator.ts';
import { plainJson } from './content.ts';
import type { JsonSchema, Shape } from './shape.ts';

/** The methods of operations. */
export type OperationMethod = 'GET' | 'PUT' | 'POST' | 'DELETE';

/** What is known of an operation besides what it does. */
interface Described {
  readonly method: OperationMethod;
  /** A path template; its parameters are texts. */
  readonly path: string;
  /** Its name in the document: `advanceClock`. */
  readonly id: string;
  /** What it does, in a few words without a full stop. */
  readonly summary: string;
  /** Further sentences about it. */
  readonly description?: string;
  /** That it needs no token. */
  readonly open?: boolean;
  /** That it is for a server that holds everything in memory. */
  readonly memoryOnly?: boolean;
  /** What is given; left out, nothing is (204). */
  readonly gives?: JsonSchema;
  /** The status where something is given; 200 when left out. */
  readonly status?: 200 | 201;
  /** The statuses of refusals that are its own, and what each means. */
  readonly refuses?: Readonly<Record<string, string>>;
}

/** One thing that the control interface does. Its resource and its entry in the OpenAPI document are made of the same declaration. */
export interface Operation extends Described {
  /** What has to be sent; undefined where nothing is read. */
  readonly takes: JsonSchema | undefined;
  answer(content: unknown, parameters: Parameters, call: Call): unknown;
}

/** An operation as it is declared. */
interface Declared<T> extends Described {
  readonly takes?: Shape<T>;
  /** Does it, and gives what is sent back. Throws RangeError, TypeError or DeclarationError on what cannot be (422). */
  answer(content: T, parameters: Parameters, call: Call): unknown;
}

/** Makes an operation that reads content. */
export function operation<T>({
  takes,
  answer,
  ...described
}: Declared<T> & { readonly takes: Shape<T> }): Operation {
  return {
    ...described,
    takes: takes.schema,
    answer: (content, parameters, call) => answer(takes.read(content, ''), parameters, call),
  };
}

/** Makes an operation that reads no content. */
export function bareOperation({ answer, ...described }: Omit<Declared<undefined>, 'takes'>): Operation {
  return {
    ...described,
    takes: undefined,
    answer: (_, parameters, call) => answer(undefined, parameters, call),
  };
}

/** The resources of operations, by their path templates. */
export function resourcesOf(operations: readonly Operation[]): Readonly<Record<string, Resource>> {
  const resources: Record<string, Partial<Record<OperationMethod, Action>>> = {};
  for (const each of operations)
    resources[each.path] = { ...resources[each.path], [each.method]: actionOf(each) };
  return resources;
}

function actionOf({ open = false, takes, answer, status = 200 }: Operation): Action {
  return action(
    open ? 'anyone' : [controller],
    async (call): Promise<Outcome> => {
      const value = await judged(async () => answer(call.content, call.parameters, call));
      // Secrets may be in it.
      if (value === undefined) return { status: 204, noStore: true };
      return { status, representation: json(value), noStore: true };
    },
    takes === undefined ? {} : { reads: [plainJson] },
  );
}

/** Turns an error about the arguments into the refusal (422) of the content that they came in. */
async function judged<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError || error instanceof DeclarationError)
      throw new Problem('invalid-content', error.message);
    throw error;
  }
}
