import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../support/documents/markdown.ts';
import { renderMistakes } from './mistakes.ts';

const path = join(root, 'docs/mistakes.md');

test('docs/mistakes.md lists the catalogue; UPDATE_DOCUMENTS=1 writes it', () => {
  if (process.env['UPDATE_DOCUMENTS'] !== undefined) writeFileSync(path, renderMistakes());
  assert.equal(readFileSync(path, 'utf8'), renderMistakes());
});

test('docs/mistakes.md consists of sentences: a placeholder of the catalogue has a value', () => {
  assert.doesNotMatch(renderMistakes(), /\{\w/);
});
