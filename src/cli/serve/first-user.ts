import { basename, relative } from 'node:path';
import type { Credentials } from '../accounts/credentials.ts';
import { shellQuote } from '../shell-quote.ts';

/** The user that a first start makes. */
export const firstUserName = 'demo';

/**
 * What its owner is told, once: password, secret, and two commands that work as they stand at this URL. `trusted` is
 * the file of the server's own certificate, where there is one.
 */
export function introduction({ password, secret }: Credentials, url: string, trusted?: string): string {
  const sign = `${invocation()} sign POST ${url}/articles --user ${firstUserName}`;
  const article = '<article><title>A first article</title><price currency="EUR">12.30</price></article>';
  const curl = `curl -i${trustOf(url, trusted)}`;
  const send = `${curl} -H @- -H 'Content-Type: application/xml' -d '${article}' ${url}/articles`;
  return `This is a first start, so there is a user now. This is told once:

  user      ${firstUserName}
  password  ${password}
  secret    ${secret}

Try it from another terminal:

  export COUNTERSIGN_SECRET=${shellQuote(secret)}
  ${sign} | ${send}

`;
}

/** How curl comes to trust the server at this URL: its own certificate says localhost and is good for nothing else. */
function trustOf(url: string, trusted: string | undefined): string {
  if (url.startsWith('http:')) return '';
  const { hostname } = new URL(url);
  const named = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  return named && trusted !== undefined ? ` --cacert ${shellQuote(trusted)}` : ' --insecure';
}

/** How this program was called, as words of a shell command. */
function invocation(): string {
  const script = process.argv[1] ?? 'countersign';
  if (basename(script) === 'countersign') return 'countersign';
  const near = relative(process.cwd(), script);
  return ['node', ...process.execArgv, near.startsWith('..') ? script : near].map(shellQuote).join(' ');
}
