import type { Options } from '../options/options.ts';
import { CommandError, listMessages } from './errors.ts';
import type { LoadedModule } from './module/load-module.ts';
import { printMessage } from './terminal.ts';

/**
 * Loads the module of the options, if there is one, runs a command, and closes the store of the module.
 *
 * @throws CommandError if the module cannot be used, or if its store fails; the message contains no password
 */
export async function withModule<T>(
  options: Options,
  environment: NodeJS.ProcessEnv,
  run: (module: LoadedModule | undefined) => Promise<T>,
): Promise<T> {
  if (options.module === undefined) return run(undefined);
  const { loadModule } = await import('./module/load-module.ts');
  const { redirectWarnings } = await import('./serve/notices.ts');
  redirectWarnings({ warn: (line) => printMessage(line, process.stderr) }, process);
  const module = await loadModule(options, environment);
  try {
    try {
      return await run(module);
    } finally {
      await module.store?.close();
    }
  } catch (error) {
    throw await redactError(error, environment);
  }
}

/** Returns an error with the messages of another one, but without passwords. */
export async function redactError(error: unknown, environment: NodeJS.ProcessEnv): Promise<CommandError> {
  const { redactPasswords } = await import('./module/module-fault.ts');
  const messages = listMessages(error).map((message) => redactPasswords(message, environment));
  return new CommandError(messages, error instanceof CommandError ? error.status : 1);
}
