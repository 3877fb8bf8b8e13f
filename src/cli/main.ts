import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from './terminal.ts';

/**
 * Runs the command that the arguments name. Each command is loaded only when it is used, because the time of a start
 * depends mostly on the amount of code that is loaded.
 *
 * @param argv the arguments, without those of Node.js
 * @param root the folder of the package, a path or a `file:` URL
 * @returns the exit status; undefined while a server runs
 */
export async function main(argv: readonly string[], root: string | URL): Promise<number | undefined> {
  const [first = 'serve', ...others] = argv;
  const isImplicit = first.startsWith('-');
  const command = isImplicit ? 'serve' : first;
  const rest = isImplicit ? argv : others;
  const request = chooseAction(command, rest);
  // A server keeps running after its output is closed.
  if (command === 'serve' && request === 'run')
    return (await import('./commands/serve.ts')).serve(rest, process.env, process);
  const { withOutputErrors } = await import('./output-errors.ts');
  return withOutputErrors(process, () => {
    if (command === 'help') return help(rest[0]);
    if (request === 'help') return help(isImplicit ? undefined : command);
    if (request === 'version') return printVersion(root);
    return run(command, rest, process.env, process);
  });
}

function chooseAction(command: string, rest: readonly string[]): 'help' | 'version' | 'run' {
  if (command === 'help' || rest.includes('--help') || rest.includes('-h')) return 'help';
  return rest.includes('--version') || rest.includes('-v') ? 'version' : 'run';
}

/** The commands that end by themselves. Each is loaded when it is used. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  sign: async () => (await import('./commands/sign.ts')).sign,
  attack: async () => (await import('./commands/attack.ts')).attackServer,
  user: async () => (await import('./commands/user.ts')).user,
  client: async () => (await import('./commands/client.ts')).client,
  consumer: async () => (await import('./commands/consumer.ts')).consumer,
  grant: async () => (await import('./commands/grant.ts')).grant,
  key: async () => (await import('./commands/key.ts')).key,
  check: async () => (await import('./commands/check.ts')).check,
  openapi: async () => (await import('./commands/openapi.ts')).openapi,
  backup: async () => (await import('./commands/copy.ts')).backup,
  restore: async () => (await import('./commands/copy.ts')).restore,
  export: async () => (await import('./commands/export.ts')).exportItems,
  import: async () => (await import('./commands/import.ts')).importItems,
  schema: async () => (await import('./commands/schema.ts')).schema,
  completion: async () => (await import('./commands/completion.ts')).completion,
};

/** Runs a command but `serve`, and reports its error. Returns the exit status. */
export async function run(name: string, ...given: Parameters<Command>): Promise<number> {
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load === undefined) return reportUnknown(name);
  try {
    return await (await load())(...given);
  } catch (error) {
    return (await import('./errors.ts')).reportError(error, given[2]);
  }
}

async function help(name: string | undefined): Promise<number> {
  const [{ commandSpecs }, { formatHelp }] = await Promise.all([
    import('./command-table.ts'),
    import('./help.ts'),
  ]);
  if (name !== undefined && !commandSpecs.has(name)) return reportUnknown(name);
  process.stdout.write(formatHelp(name));
  return 0;
}

async function printVersion(root: string | URL): Promise<number> {
  process.stdout.write(`${readVersion(root)}\n`);
  return 0;
}

/**
 * Returns the version in package.json.
 *
 * @param root the folder of the package, a path or a `file:` URL
 */
function readVersion(root: string | URL): string {
  const file = typeof root === 'string' ? join(root, 'package.json') : new URL('package.json', root);
  const text = readFileSync(file, 'utf8');
  const about: unknown = JSON.parse(text);
  if (typeof about === 'object' && about !== null && 'version' in about) return String(about.version);
  throw new Error('package.json has no version');
}

async function reportUnknown(command: string): Promise<number> {
  const [{ commandSpecs }, { didYouMean }, { printMessage }] = await Promise.all([
    import('./command-table.ts'),
    import('../did-you-mean.ts'),
    import('./terminal.ts'),
  ]);
  const meant = didYouMean(command, [...commandSpecs.keys()]);
  printMessage(`unknown command ${JSON.stringify(command)}${meant}`, process.stderr);
  return 2;
}
