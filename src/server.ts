#!/usr/bin/env node
import { nodeVersionFault } from './node-version.ts';

// Everything else is loaded only after this check: an older Node.js might not be able to parse it.
const fault = nodeVersionFault(process.version);
if (fault === undefined) {
  const { main } = await import('./cli/main.ts');
  process.exitCode = await main(process.argv.slice(2), new URL('../', import.meta.url));
} else {
  console.error(`countersign: ${fault}`);
  process.exitCode = 1;
}
