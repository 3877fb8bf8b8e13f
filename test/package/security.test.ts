import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { formatHelp } from '../../src/cli/help.ts';
import { root } from '../support/cli/command.ts';

const security = readFileSync(join(root, 'SECURITY.md'), 'utf8');

test('every file and option that SECURITY.md names exists', () => {
  const paths = [...security.matchAll(/`((?:test|src|docs)\/[^`]+)`|\]\(([^)]+)\)/g)];
  assert.ok(paths.length > 5);
  for (const [, quoted, linked] of paths) {
    const path = quoted ?? linked ?? '';
    assert.ok(existsSync(join(root, path)), path);
  }
  for (const [, option] of security.matchAll(/`(--[a-z-]+)`/g))
    assert.ok(formatHelp('serve').includes(`${option}`), option);
});

test('the README links to SECURITY.md, and the package includes it', () => {
  assert.match(readFileSync(join(root, 'README.md'), 'utf8'), /\]\(SECURITY\.md\)/);
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  assert.ok(files.includes('SECURITY.md'));
});
