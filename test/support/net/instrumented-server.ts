/**
 * A program that serves under OpenTelemetry's instrumentation of HTTP, unmodified, until its input ends; then it prints what the
 * spans say as JSON. Its first line is the port.
 */
import { createRequire } from 'node:module';
import { listen } from '../../../src/net/listener.ts';
import { makeIdentity } from './transport.ts';

const load = createRequire(import.meta.url);
const { context, trace } = load('@opentelemetry/api');
const { AsyncLocalStorageContextManager } = load('@opentelemetry/context-async-hooks');
const { HttpInstrumentation } = load('@opentelemetry/instrumentation-http');
const { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } = load(
  '@opentelemetry/sdk-trace-base',
);

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
trace.setGlobalTracerProvider(provider);
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
new HttpInstrumentation({
  headersToSpanAttributes: { server: { requestHeaders: ['user-agent'], responseHeaders: ['etag'] } },
}).setTracerProvider(provider);
for (const name of ['http', 'https']) load(name); // from here on servers are instrumented

const limits = {
  headers: 16384,
  target: 8192,
  connections: 100,
  headerTimeout: 30_000,
  requestTimeout: 30_000,
};
const tracer = trace.getTracer('the service');
const { port } = await listen({
  host: '127.0.0.1',
  port: 0,
  limits,
  tls: process.argv[2] === 'tls' ? makeIdentity() : undefined,
  async respond({ target }) {
    await new Promise((resolve) => setImmediate(resolve));
    tracer.startSpan(`work ${target}`).end();
    return { status: target === '/missing' ? 404 : 200, headers: [['ETag', '"e"']], body: target };
  },
  refuse: () => ({ status: 503, headers: [], body: '' }),
});
process.stdout.write(`${port}\n`);

interface Span {
  readonly name: string;
  readonly attributes: Record<string, unknown>;
  readonly parentSpanContext?: { readonly spanId: string };
  spanContext(): { readonly spanId: string };
}

process.stdin.on('end', async () => {
  const spans = (): Span[] => exporter.getFinishedSpans();
  const works = spans().filter(({ name }) => name.startsWith('work'));
  while (spans().length < 2 * works.length) await new Promise((resolve) => setImmediate(resolve));
  const seen = spans().map((span) => ({
    name: span.name,
    attributes: span.attributes,
    id: span.spanContext().spanId,
    parent: span.parentSpanContext?.spanId,
  }));
  process.stdout.write(`${JSON.stringify(seen)}\n`, () => process.exit());
});
process.stdin.resume();
