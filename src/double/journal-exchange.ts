import type { Story } from '../auth/story.ts';
import type { Connection, Reply, Request } from '../http/message.ts';
import type { Principal } from '../principal.ts';
import type { Fault } from './faults-declaration.ts';
import type { KeptContent } from './journal-content.ts';

/** A request as it is kept: no more than what it was made of, for a journal holds a thousand of them. */
export interface RecordedRequest {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  /** Names and values of its fields in turn. */
  readonly raw: readonly string[];
  readonly connection: Connection;
}

/** What of a request is kept. */
export function recorded({ method, target, version, fields, connection }: Request): RecordedRequest {
  return { method, target, version, raw: fields.raw, connection };
}

/** What has come and gone, as it was. */
export interface RecordedExchange {
  readonly time: number;
  readonly duration: number;
  readonly request: RecordedRequest | undefined;
  readonly content: KeptContent | undefined;
  readonly received: string | undefined;
  readonly reply: Reply | undefined;
  readonly principal: Principal | undefined;
  readonly step: number | undefined;
  readonly problem: { readonly type: string; readonly detail: string } | undefined;
  /** Undefined where there was nothing to tell. */
  readonly story: Story | undefined;
  readonly fault: Fault | undefined;
  readonly aborted: boolean;
}
