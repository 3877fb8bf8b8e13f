import { basename, relative } from 'node:path';
import type { Credentials } from '../accounts/credentials.ts';
import { shellQuote } from '../terminal.ts';

/** The name of the user that a first start creates. */
export const firstUserName = 'demo';

/** The message of a first start, as text and by its parts. */
interface Introduction {
  readonly text: string;
  readonly message: string;
  readonly members: Readonly<Record<string, unknown>>;
}

/**
 * Returns the message of a first start: password, secret, and two commands to try.
 *
 * @param url the address of the server
 * @param basePath the path prefix that a proxy removes, which is signed
 * @param certificate the file of the server's own certificate, if it has one
 */
export function introduction(
  { password, secret }: Credentials,
  url: string,
  basePath = '',
  certificate?: string,
): Introduction {
  const sign = `${invocation()} sign POST ${url}${basePath}/articles --user ${firstUserName}`;
  const article = '<article><title>A first article</title><price currency="EUR">12.30</price></article>';
  const curl = `curl -i${chooseTlsOption(url, certificate)}`;
  const send = `${curl} -H @- -H 'Content-Type: application/xml' -d '${article}' ${url}/articles`;
  const message = `First start: created the user ${firstUserName}. Its password and secret are shown only once.`;
  const commands = [`export COUNTERSIGN_SECRET=${shellQuote(secret)}`, `${sign} | ${send}`];
  const text = `${message}

  user      ${firstUserName}
  password  ${password}
  secret    ${secret}

Try it in another terminal:

  ${commands.join('\n  ')}
`;
  return { text, message, members: { user: firstUserName, password, secret, commands } };
}

/** Returns the option with which curl accepts the certificate. A certificate of the server's own is for localhost only. */
function chooseTlsOption(url: string, certificate: string | undefined): string {
  if (url.startsWith('http:')) return '';
  const { hostname } = new URL(url);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  return isLocal && certificate !== undefined ? ` --cacert ${shellQuote(certificate)}` : ' --insecure';
}

/** Returns the shell command that started this program, without its arguments. */
function invocation(): string {
  const script = process.argv[1] ?? 'countersign';
  if (basename(script) === 'countersign') return 'countersign';
  const near = relative(process.cwd(), script);
  return ['node', ...process.execArgv, near.startsWith('..') ? script : near].map(shellQuote).join(' ');
}
