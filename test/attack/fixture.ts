import type { TestContext } from 'node:test';

interface Fixture {
  start(parts: unknown): Promise<{ url: string; close(): Promise<void> }>;
}

/** Starts a naive server of fixtures/naive until the end of the test. Returns its URL. */
export async function startNaive(context: TestContext, name: string, parts: unknown): Promise<string> {
  const { start }: Fixture = await import(new URL(`../../fixtures/naive/${name}.mjs`, import.meta.url).href);
  const server = await start(parts);
  context.after(() => server.close());
  return server.url;
}
