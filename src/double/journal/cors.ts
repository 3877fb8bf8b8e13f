import { HttpHeaders } from '../../http/fields.ts';
import type { JournalCors } from '../../pipeline/cors/cors.ts';
import type { RecordedExchange } from './exchange.ts';
import type { Redact } from './redaction.ts';

/**
 * Returns how a browser's request from another origin was answered, without secrets. A service without the CORS protocol checks
 * none, but then every preflight fails.
 */
export function describeCors(exchange: RecordedExchange, redact: Redact): JournalCors | undefined {
  const cors = exchange.cors ?? describePreflight(exchange);
  if (cors === undefined) return undefined;
  const { origin, preflight, failedAt, detail } = cors;
  return { origin: redact(origin), preflight, failedAt, detail: detail && redact(detail) };
}

function describePreflight({ request, response }: RecordedExchange): JournalCors | undefined {
  if (request?.method !== 'OPTIONS') return undefined;
  const fields = new HttpHeaders(request.raw);
  const origin = fields.get('origin');
  if (origin === undefined || !fields.has('access-control-request-method')) return undefined;
  const isAnswered = response?.headers.some(([name]) => name.toLowerCase() === 'access-control-allow-origin');
  if (isAnswered === true) return undefined;
  return { origin, preflight: true, failedAt: 'origin', detail: 'the option cors is not set' };
}
