import { type Double, startDouble } from './double.ts';
import type { JournalEntry } from './journal/entry.ts';
import type { DoubleJournal } from './journal/journal.ts';
import type { DoubleOptions } from './options.ts';

/**
 * Returns a test function that runs with its own double: it starts the double, calls `run`, and closes the double. If `run` fails, the
 * message of its error also contains the last refused requests with their reasons. Works with every test runner that accepts functions
 * which return a promise: Vitest, Jest, node:test, Mocha, Deno.
 * @param options the options of `startDouble`
 * @param run the test. It receives the double, then the arguments of the runner, such as a test context or the row of a table.
 * @example
 * test('the client lists articles', withDouble({ users: { ann: { secret: 's3cret' } } }, async (double) => {
 *   assert.equal((await new Client(double.url).list()).length, 0);
 * }));
 */
export function withDouble<Context extends readonly unknown[], This>(
  options: DoubleOptions,
  run: (this: This, double: Double, ...context: Context) => unknown,
): (this: This, ...context: Context) => Promise<void> {
  const runTest = async function (this: This, ...context: Context): Promise<void> {
    const double = await startDouble(options);
    try {
      await run.call(this, double, ...context);
    } catch (error) {
      addToMessage(error, double.journal);
      // The failure of the test is the one to report.
      await double.close().catch(() => undefined);
      throw error;
    }
    await double.close();
  };
  // Without parameters: Vitest looks for fixtures in the source of the first one, and Jest and Mocha wait for a callback if there is one.
  return function () {
    // biome-ignore lint/complexity/noArguments: rest parameters are parameters for Vitest
    return Reflect.apply(runTest, this, arguments);
  };
}

/** The maximum number of requests in a message. */
const maxShown = 3;

/** Adds the last requests to the message of an error, and to the stack, which some runners print in its place. */
function addToMessage(error: unknown, journal: DoubleJournal): void {
  if (!(error instanceof Error)) return;
  const { message, stack } = error;
  const added = describeRequests([...journal], message);
  if (added === undefined) return;
  error.message = `${message}\n\n${added}`;
  // A function, since the message may contain `$&`.
  if (stack !== undefined) error.stack = stack.replace(message, () => error.message);
}

/** Returns the last refused requests as text, or else the last requests. Undefined if the message contains them. */
function describeRequests(entries: readonly JournalEntry[], message: string): string | undefined {
  if (entries.length === 0) return 'The double received no request.';
  const refused = entries.filter(({ status }) => status === 0 || status >= 400);
  const [heading, relevant] =
    refused.length === 0
      ? ['The double accepted all requests. The last ones:', entries]
      : ['The double refused:', refused];
  const shown = relevant.slice(-maxShown).map(String);
  const missing = shown.filter((text) => !message.includes(text));
  return missing.length === 0 ? undefined : [heading, ...missing].join('\n');
}
