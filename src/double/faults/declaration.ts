import { didYouMean } from '../../did-you-mean.ts';
import { linesOf } from '../../http/field-lines.ts';
import { type FieldLine, sendableLine } from '../../http/fields.ts';
import type { WireBreak, WireFault } from '../../http/wire-fault.ts';
import { mostSkew } from '../state/clock.ts';

/**
 * Something that goes wrong. What a server does goes together with how it is late and how its reply breaks:
 * `{ status: 503, delay: 200, truncate: 10 }`. Of `truncate`, `reset`, `badChunk` and `wrongLength` there is one at most.
 */
export interface Fault {
  /** This is answered (200 to 599) in the place of the server, which does nothing. */
  readonly status?: number;
  /** Content of that answer; none when left out. A string goes as UTF-8, `text/plain` unless `fields` say otherwise. */
  readonly body?: string | Uint8Array;
  /** Further field lines of that answer. */
  readonly fields?: Readonly<Record<string, string>> | readonly FieldLine[];
  /** The value of its Retry-After: seconds, or a date as it is to be sent. */
  readonly retryAfter?: number | string;
  /** The reply is held back for so many milliseconds of the host's time, after the server has acted; `before` is before it acts. */
  readonly delay?: number;
  /** The content of the reply comes at so many bytes a second of the host's time. */
  readonly dribble?: number;
  /** The connection ends in order after so many bytes of the content, which was declared longer. */
  readonly truncate?: number;
  /**
   * The connection is reset: `before` anything of the reply, `amid` (after half of its content), or after so many bytes of
   * it. The server has acted by then, unless `before` says that it never does.
   */
  readonly reset?: 'before' | 'amid' | number;
  /** The content comes in chunks, of which the second has a size that is no number. */
  readonly badChunk?: boolean;
  /** Content-Length is off by so many bytes, one way or the other. */
  readonly wrongLength?: number;
  /** The document that the server gives is cut before its last end tag; in JSON before its last bracket. Its length is right. */
  readonly malformedXml?: boolean;
  /**
   * A certificate that has expired, for so many new connections over TLS. At that point there is no request yet, so it
   * goes with no match and with nothing else.
   */
  readonly staleCertificate?: boolean;
  /** The secret of the user is another one from now on: it really is rotated before the credentials are judged. */
  readonly rotatedSecret?: boolean;
  /** The token that the request carries has expired: it really is ended before it is judged. */
  readonly expiredToken?: boolean;
  /** The nonce of the request counts as seen. */
  readonly nonceSeen?: boolean;
  /** For this request alone the server's clock is ahead by so many ms (late, if negative), its `Date` too. */
  readonly skewedDate?: number;
  /** With `delay`: wait first, then act. With `reset: 'before'`: do not act at all. */
  readonly before?: boolean;
}

const faultNames: Readonly<Record<keyof Fault, true>> = {
  status: true,
  body: true,
  fields: true,
  retryAfter: true,
  delay: true,
  dribble: true,
  truncate: true,
  reset: true,
  badChunk: true,
  wrongLength: true,
  malformedXml: true,
  staleCertificate: true,
  rotatedSecret: true,
  expiredToken: true,
  nonceSeen: true,
  skewedDate: true,
  before: true,
};

const breaks = ['truncate', 'reset', 'badChunk', 'wrongLength'] as const;

/** Throws RangeError on a fault that cannot be, saying what is wrong with it. */
export function checkFault(fault: Fault): void {
  const names = Object.keys(fault).filter((name) => Reflect.get(fault, name) !== undefined);
  if (names.length === 0) throw new RangeError('a fault says what goes wrong, such as { status: 503 }');
  for (const name of names) {
    if (!Object.hasOwn(faultNames, name))
      throw new RangeError(`${name} is no fault${didYouMean(name, Object.keys(faultNames))}`);
  }
  checkNumbers(fault);
  checkFields(fault);
  checkCompany(fault, names);
}

function checkFields({ fields = {}, retryAfter = '' }: Fault): void {
  for (const [name, value] of linesOf(fields)) sendableLine(name, value);
  sendableLine('Retry-After', String(retryAfter));
}

function checkNumbers({ status, delay, dribble, truncate, reset, wrongLength, skewedDate }: Fault): void {
  hold(
    'status',
    status,
    (value) => Number.isInteger(value) && value >= 200 && value <= 599,
    'a whole number from 200 to 599',
  );
  hold('delay', delay, (value) => value >= 0 && value <= longestDelay, `from 0 to ${longestDelay} ms`);
  hold('dribble', dribble, (value) => value > 0 && Number.isFinite(value), 'above 0');
  hold('truncate', truncate, isCount, 'a whole number of bytes');
  hold(
    'wrongLength',
    wrongLength,
    (value) => Number.isInteger(value) && value !== 0,
    'a whole number of bytes other than 0',
  );
  hold(
    'skewedDate',
    skewedDate,
    (value) => Math.abs(value) <= mostSkew,
    `a number of ms, at most ${mostSkew}`,
  );
  if (reset !== undefined && reset !== 'before' && reset !== 'amid')
    hold('reset', reset, isCount, "'before', 'amid' or a whole number of bytes");
}

/** What setTimeout can wait for, in ms. */
const longestDelay = 2_147_483_647;

const isCount = (value: number): boolean => Number.isInteger(value) && value >= 0;

function hold(
  name: string,
  value: number | undefined,
  good: (value: number) => boolean,
  wanted: string,
): void {
  if (value !== undefined && !good(value)) throw new RangeError(`${name} of a fault is not ${wanted}`);
}

function checkCompany(fault: Fault, names: readonly string[]): void {
  const breaking = breaks.filter((name) => fault[name] !== undefined && fault[name] !== false);
  if (breaking.length > 1) throw new RangeError(`${breaking.join(' and ')} are two ways to break one reply`);
  for (const name of ['body', 'fields', 'retryAfter'] as const) {
    if (fault[name] !== undefined && fault.status === undefined)
      throw new RangeError(`${name} of a fault goes with a status`);
  }
  if (fault.status !== undefined && fault.malformedXml === true)
    throw new RangeError('malformedXml is of what the server gives; with a status there is only its body');
  if (fault.before === true && fault.delay === undefined && fault.reset !== 'before')
    throw new RangeError("before goes with delay, or with reset: 'before'");
  if (fault.staleCertificate === true && names.length > 1)
    throw new RangeError('staleCertificate goes with no other fault: no request is there yet');
}

/** What goes wrong with this fault while a reply with content of `length` bytes is sent; undefined when nothing does. */
export function wireFaultOf(fault: Fault, length: number): WireFault | undefined {
  const breaking = breakOf(fault, length);
  if (breaking === undefined && fault.dribble === undefined) return undefined;
  return {
    ...(fault.dribble === undefined ? {} : { dribble: fault.dribble }),
    ...(breaking === undefined ? {} : { break: breaking }),
  };
}

function breakOf({ truncate, reset, badChunk, wrongLength }: Fault, length: number): WireBreak | undefined {
  if (truncate !== undefined) return { kind: 'truncate', after: truncate };
  if (reset === 'before') return { kind: 'reset', after: undefined };
  if (reset !== undefined) return { kind: 'reset', after: reset === 'amid' ? Math.floor(length / 2) : reset };
  if (badChunk === true) return { kind: 'badChunk' };
  return wrongLength === undefined ? undefined : { kind: 'wrongLength', by: wrongLength };
}
