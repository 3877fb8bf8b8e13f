import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../support/documents/markdown.ts';
import { renderMistakes } from '../support/documents/mistakes.ts';

test('docs/mistakes.md lists the catalogue; scripts/mistakes.mjs writes it', () => {
  assert.equal(readFileSync(join(root, 'docs/mistakes.md'), 'utf8'), renderMistakes());
});

test('docs/mistakes.md consists of sentences: a placeholder of the catalogue has a value', () => {
  assert.doesNotMatch(renderMistakes(), /\{\w/);
});
