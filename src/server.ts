#!/usr/bin/env node
import { nodeVersionFault } from './cli/node-version.ts';

const fault = nodeVersionFault(process.version);
if (fault === undefined) void start();
else {
  console.error(`countersign: ${fault}`);
  process.exitCode = 1;
}

/** Runs the command. Loads everything else after the check above: an older Node.js may fail to parse it. */
async function start(): Promise<void> {
  const { main } = await import('./cli/main.ts');
  const status = await main(process.argv.slice(2), new URL('../', import.meta.url));
  if (status === undefined) return;
  process.exitCode = status;
  const { endSoon } = await import('./cli/output-errors.ts');
  endSoon();
}
