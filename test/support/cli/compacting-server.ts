// The server as `countersign serve` runs it, but with a new snapshot as soon as its journals have some thousand bytes.
import { serve } from '../../../src/cli/commands/serve.ts';

serve(process.argv.slice(2), process.env, process, { minBytes: 4_000, ratio: 0.05 }).then((status) => {
  if (status !== undefined) process.exitCode = status;
});
