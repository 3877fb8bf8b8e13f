// Writes docs/mistakes.md from the catalogue of mistakes. A test fails if the page differs from it.
//
//   node scripts/mistakes.mjs
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile, compiled } from './compile.mjs';

await compile();
const { renderMistakes } = await import(join(compiled, 'test/support/documents/mistakes.js'));
writeFileSync(join(import.meta.dirname, '../docs/mistakes.md'), renderMistakes());
