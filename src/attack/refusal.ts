import { systemClock } from '../clock.ts';
import type { RawResponse } from '../net/raw-client.ts';
import type { AttackRequest } from './attempt.ts';
import { describeStatus } from './report.ts';

/** Returns why a server refused the good request, as far as its response shows. */
export function explainRefusal(request: AttackRequest, response: RawResponse): string {
  const reasons = [
    describeStatus(response.status) ?? describeRefusal(request, response),
    describeSkew(response),
    quoteContent(request, response),
  ];
  return reasons.filter((reason) => reason !== undefined).join('; ');
}

function describeRefusal({ method, url }: AttackRequest, response: RawResponse): string | undefined {
  const { status } = response;
  switch (status) {
    case 401:
    case 403:
      return 'the server refuses the credentials: compare the secret, the scheme and the signed message, which sign --explain prints';
    case 404:
      return `the server has nothing at ${new URL(url).pathname}`;
    case 405:
      return `the server does not have the method ${method} here`;
    case 400:
    case 415:
    case 422:
      return 'the server refuses the content or a field';
    default:
      return status >= 300 && status < 400
        ? `the server redirects to ${response.field('Location') ?? 'an unknown address'}`
        : undefined;
  }
}

/** The difference of the clocks from which on it is a reason, in ms. */
const greatestSkew = 60_000;

/** Returns how the server's clock differs from that of this host. Undefined if it does not. */
function describeSkew(response: RawResponse): string | undefined {
  const skew = Date.parse(response.field('Date') ?? '') - systemClock.now();
  if (!(Math.abs(skew) > greatestSkew)) return undefined;
  const seconds = Math.round(Math.abs(skew) / 1000);
  return `the server's clock is ${seconds} s ${skew > 0 ? 'ahead of' : 'behind'} that of this host`;
}

/** The longest text of a server that is quoted, in characters. */
const longestQuote = 300;

/** Returns what the server answered, without what it repeats of the request's fields. Undefined if there is no text. */
function quoteContent({ headers }: AttackRequest, { text }: RawResponse): string | undefined {
  const words = readDetail(text)
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  if (words === '') return undefined;
  const values = headers.map(([, value]) => value).filter((value) => value.length >= 8);
  const masked = values.reduce((result, value) => result.replaceAll(value, '…'), words);
  const cut = masked.length > longestQuote ? `${masked.slice(0, longestQuote)}…` : masked;
  return `the server answers ${JSON.stringify(cut)}`;
}

/** Returns the detail of a problem document or of an error in JSON or XML, or else the whole text. */
function readDetail(text: string): string {
  const [, element] = /<(?:detail|message)>([^<]*)</i.exec(text) ?? [];
  if (element !== undefined) return element;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return text;
    for (const name of ['detail', 'message', 'error_description', 'error', 'title']) {
      const member: unknown = Reflect.get(value, name);
      if (typeof member === 'string' && member !== '') return member;
    }
    return text;
  } catch {
    return text;
  }
}
