/** What holds on plain connections holds over TLS: the same tests once more, with TLS in between. */
import { makeIdentity, transport } from './transport.ts';

transport.tls = makeIdentity();
for (const name of ['backpressure', 'content', 'fuzz', 'lifetime', 'malformed', 'replies'])
  await import(`./${name}.test.ts`);
