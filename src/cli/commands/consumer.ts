import { consumerFile } from '../../accounts/clients.ts';
import { isRsaMethod } from '../../accounts/oauth1-methods.ts';
import { type ConsumerRegistration, defaultMethods, describeConsumers } from '../../accounts/registration.ts';
import { readKeyFile } from '../accounts/protected-file.ts';
import { createRegistrationCommand } from '../accounts/registration.ts';
import { secretFlag } from '../accounts/secret-input.ts';
import { commandTable } from '../command-table.ts';
import { CommandError } from '../errors.ts';

/** Runs `countersign consumer add [KEY]`, `consumer rotate KEY`, `consumer remove KEY` or `consumer list`. Returns the exit status. */
export const consumer = createRegistrationCommand<ConsumerRegistration>({
  accountFile: consumerFile,
  configured: ({ consumers }) => consumers,
  label: 'KEY',
  flags: commandTable.consumer.flags,
  members: new Map([
    ['--callback', 'callbacks'],
    ['--method', 'methods'],
    ['--scope', 'scopes'],
    ['--users', 'users'],
    ['--plain-http', 'plainHttp'],
    ['--rsa-public-key', 'rsaPublicKey'],
  ]),
  prepare({ rsaPublicKey: file, methods: given, ...members }, flags) {
    const rsaPublicKey = typeof file === 'string' ? readKeyFile(file) : undefined;
    const methods = given ?? (rsaPublicKey === undefined ? undefined : defaultMethods.rsaPublicKey);
    // The methods with RSA use no shared secret (RFC 5849 §3.4.3).
    const hasSecret = !Array.isArray(methods) || methods.some((method) => !isRsaMethod(String(method)));
    if (!hasSecret && flags.has(secretFlag))
      throw new CommandError([`${secretFlag} cannot be used: the methods with RSA have no secret`]);
    return { parts: { ...members, methods, rsaPublicKey }, hasSecret };
  },
  describeAll: () => describeConsumers(),
  findMissing: ({ callbacks, users }) =>
    callbacks.length === 0 && users.length === 0
      ? '--callback URI or --callback oob is required; a consumer without tokens can have --users NAME'
      : undefined,
  store: ({ text }) => text,
  explainNoSecret: () => 'has no secret: it signs with its RSA key',
  describe: ({ secret, rsaPublicKey, methods, scopes, users, plainHttp, callbacks }) =>
    [
      [secret === undefined ? [] : 'with a secret', rsaPublicKey === undefined ? [] : 'an RSA key']
        .flat()
        .join(' and '),
      methods.join(' '),
      scopes.join(' ') || 'no scope',
      ...(users.length === 0 ? [] : [`users ${users === '*' ? '*' : users.join(' ')}`]),
      ...(plainHttp ? ['plain HTTP'] : []),
      ...callbacks,
    ].join('; '),
});
