/** What holds on plain connections holds over TLS: the same tests once more, but for those of the parser, which sees the same bytes. */
import { makeIdentity, transport } from '../support/net/transport.ts';

transport.tls = makeIdentity();
await import('./backpressure.test.ts');
await import('./body.test.ts');
await import('./lifetime.test.ts');
await import('./replies.test.ts');
