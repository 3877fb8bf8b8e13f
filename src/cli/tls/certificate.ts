import type { ServerIdentity } from '../../net/tls/identity.ts';

/** A certificate that takes the place of the one before it, and what is told of that. */
export interface Renewal {
  readonly identity: ServerIdentity;
  readonly news: string;
}

/** What HTTPS is served with, and how it stays good. */
export interface Certificate {
  readonly identity: ServerIdentity;
  /** What is told of it at a start, one sentence each. */
  readonly notes: readonly string[];
  /** Where it is and until when it is valid, for a person. */
  readonly about: string;
  /** The file by which a client on this host can trust it; undefined when there is none. */
  readonly file: string | undefined;
  /** Puts what was made for it on the disk. */
  keep(): Promise<void>;
  /** Reads it again where somebody else looks after it. Throws Refusal. */
  reload(): Promise<Renewal | undefined>;
  /** Makes it anew, and keeps it, when it nears its end. */
  renew(): Promise<Renewal | undefined>;
}
