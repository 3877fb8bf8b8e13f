/** What holds on plain connections holds over TLS: the same tests once more, with TLS in between. */
import { makeIdentity, transport } from '../support/net/transport.ts';

transport.tls = makeIdentity();
for (const name of ['backpressure', 'body', 'fuzz', 'lifetime', 'malformed', 'replies'])
  await import(`./${name}.test.ts`);
