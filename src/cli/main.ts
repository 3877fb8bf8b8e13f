/**
 * Runs the command that the arguments name and gives the exit status; undefined while a server runs. Each command
 * is loaded only when it is asked for: how long a start takes is mostly how much is read. `root` is the
 * package's own folder, a path or a `file:` URL.
 */
export async function main(argv: readonly string[], root: string | URL): Promise<number | undefined> {
  const [first = 'serve', ...others] = argv;
  const bare = first.startsWith('-');
  const command = bare ? 'serve' : first;
  const rest = bare ? argv : others;
  if (command === 'help') return help(rest[0]);
  if (rest.includes('--help') || rest.includes('-h')) return help(bare ? undefined : command);
  if (rest.includes('--version')) return tellVersion(root);
  switch (command) {
    case 'serve':
      return (await import('./commands/serve.ts')).serve(rest, process.env);
    case 'sign':
      return (await import('./commands/sign.ts')).sign(rest, process.env, process);
    case 'user':
      return (await import('./commands/user.ts')).user(rest, process.env, process);
    case 'check':
      return (await import('./commands/check.ts')).check(rest, process.env, process);
    case 'export':
      return (await import('./commands/export.ts')).exportItems(rest, process.env, process);
    case 'import':
      return (await import('./commands/import.ts')).importItems(rest, process.env, process);
    case 'client':
      return (await import('./commands/client.ts')).client(rest, process.env, process);
    case 'consumer':
      return (await import('./commands/consumer.ts')).consumer(rest, process.env, process);
    default:
      return unknown(command);
  }
}

async function help(command: string | undefined): Promise<number> {
  const { commands, helpOf } = await import('./help.ts');
  const known = commands.find((name) => name === command);
  if (command !== undefined && known === undefined) return unknown(command);
  process.stdout.write(helpOf(known));
  return 0;
}

async function tellVersion(root: string | URL): Promise<number> {
  const { version } = await import('./commands/version.ts');
  console.log(version(root));
  return 0;
}

async function unknown(command: string): Promise<number> {
  const [{ commands }, { didYouMean }] = await Promise.all([
    import('./help.ts'),
    import('../did-you-mean.ts'),
  ]);
  console.error(`countersign: ${JSON.stringify(command)} is not a command${didYouMean(command, commands)}`);
  return 2;
}
