import { readFileSync } from 'node:fs';
import { join } from 'node:path';

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
    return run(command, rest);
  });
}

function chooseAction(command: string, rest: readonly string[]): 'help' | 'version' | 'run' {
  if (command === 'help' || rest.includes('--help') || rest.includes('-h')) return 'help';
  return rest.includes('--version') || rest.includes('-v') ? 'version' : 'run';
}

async function run(command: string, rest: readonly string[]): Promise<number> {
  switch (command) {
    case 'sign':
      return (await import('./commands/sign.ts')).sign(rest, process.env, process);
    case 'attack':
      return (await import('./commands/attack.ts')).attackServer(rest, process.env, process);
    case 'user':
      return (await import('./commands/user.ts')).user(rest, process.env, process);
    case 'check':
      return (await import('./commands/check.ts')).check(rest, process.env, process);
    case 'openapi':
      return (await import('./commands/openapi.ts')).openapi(rest, process.env, process);
    case 'export':
    case 'import':
    case 'backup':
    case 'restore':
      return (await import('./commands/data.ts')).runDataCommand(command, rest, process.env, process);
    case 'client':
      return (await import('./commands/client.ts')).client(rest, process.env, process);
    case 'grant':
      return (await import('./commands/grant.ts')).grant(rest, process.env, process);
    case 'key':
      return (await import('./commands/key.ts')).key(rest, process.env, process);
    case 'consumer':
      return (await import('./commands/consumer.ts')).consumer(rest, process.env, process);
    case 'schema':
      return (await import('./commands/schema.ts')).schema(rest, process);
    case 'completion':
      return (await import('./commands/completion.ts')).completion(rest, process);
    default:
      return reportUnknown(command);
  }
}

async function help(name: string | undefined): Promise<number> {
  const [{ commands }, { formatHelp }] = await Promise.all([
    import('./command-table.ts'),
    import('./help.ts'),
  ]);
  if (name !== undefined && !commands.includes(name)) return reportUnknown(name);
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
  const [{ commands }, { didYouMean }, { printMessage }] = await Promise.all([
    import('./command-table.ts'),
    import('../did-you-mean.ts'),
    import('./terminal.ts'),
  ]);
  printMessage(`unknown command ${JSON.stringify(command)}${didYouMean(command, commands)}`, process.stderr);
  return 2;
}
