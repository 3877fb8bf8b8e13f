// Makes one program of many modules: a few scripts, of which the first has what every start takes, the last what is rarely
// needed, and those between what many starts go on to.
import { readFileSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { build, transform } from 'esbuild';

/** What requires a module, in a file of CommonJS. */
export const requirePattern = /\brequire\((["'])(\.[^"']+)\1\)/g;

/**
 * All modules as one script of CommonJS that tells which of them are loaded: a function of who is told, which gives how a
 * module is loaded and the names of all.
 */
export function observedText(folder, names) {
  return `'use strict';
module.exports = (told) => {
const loaded = new Map();
const modules = {
${modulesText(folder, names)}};
function load(name) {
  const before = loaded.get(name);
  if (before !== undefined) return before;
  if (name.startsWith('node:')) return require(name);
  told(name);
  const exports = {};
  loaded.set(name, exports);
  modules[name](exports, load);
  return exports;
}
return { load, all: Object.keys(modules) };
};
`;
}

/** Each module by its name, as a method, which loads what it imports when something of that is used. */
function modulesText(folder, names) {
  return [...names]
    .sort()
    .map((name) => lazyModule(name, readFileSync(join(folder, name), 'utf8')))
    .join('');
}

function lazyModule(name, text) {
  let body = text.replaceAll(
    requirePattern,
    (_, _quote, specifier) => `require(${JSON.stringify(posix.join(posix.dirname(name), specifier))})`,
  );
  for (const [line, variable, specifier] of body.matchAll(
    /^(?:const|var) (\w+_1) = require\(("[^"]+")\);$/gm,
  )) {
    body = body.replace(line, `let ${variable};`);
    body = body.replaceAll(new RegExp(`\\b${variable}\\.`, 'g'), `(${variable} ??= require(${specifier})).`);
  }
  return `${JSON.stringify(name)}(exports, require) {\n${body}},\n`;
}

/**
 * Modules in one scope, where they need no loading among themselves: the body of a script but the last.
 * @param folder where the ES modules are
 * @param names those that are in it
 * @param members what each module exports
 * @param entries those that only name what is in others, which is loaded when it is asked for
 */
export async function flatText(folder, { names, members, entries }) {
  const { outputFiles } = await build({
    stdin: { contents: ownText(names, members, entries), resolveDir: folder },
    ...{ bundle: true, write: false, format: 'cjs', platform: 'node', target: 'node20' },
    plugins: [within(folder, names)],
  });
  const text = outputFiles[0].text
    .replace(/^"use strict";$/m, '')
    .replace(/^module\.exports = __toCommonJS\(.*$/m, '')
    .replaceAll(
      /\bimport\("(own-module:|)([^"]+)"\)/g,
      (_, own, name) => `Promise.resolve().then(() => ${loading(own, name)})`,
    );
  const body = lazily(text);
  if (body.includes('own-module:'))
    throw new Error(`a module is imported in another way: ${body.match(/^.*own-module:.*$/m)}`);
  return body;
}

/** A module that gives what any other one exports. */
function ownText(names, members, entries) {
  let count = 0;
  const imports = [];
  const cases = [];
  for (const name of names) {
    const named = members[name].map((member) => [member, `$${count++}`]);
    const list = named.map(([member, as]) => `${member} as ${as}`).join(', ');
    const each = named.map(([member, as]) =>
      entries.includes(name) ? `get ${member}() { return ${as}; }` : `${member}: ${as}`,
    );
    imports.push(`import { ${list} } from './${name}';\n`);
    cases.push(`case '${name}': return { ${each.join(', ')} };\n`);
  }
  return `${imports.join('')}export function $own(name) { switch (name) { ${cases.join('')} } }`;
}

/** Marks what is imported from elsewhere. */
function within(folder, names) {
  return {
    name: 'within',
    setup(bundling) {
      bundling.onResolve({ filter: /^\./ }, ({ path, resolveDir, kind }) => {
        const name = relative(folder, join(resolveDir, path)).split(sep).join('/');
        const inside = names.includes(name) && kind !== 'dynamic-import';
        return inside ? { path: join(folder, name) } : { path: `own-module:${name}`, external: true };
      });
    },
  };
}

function loading(own, name) {
  return own === '' ? `require("${name}")` : `$load("${name}")`;
}

/** Has what is imported from elsewhere loaded when something of it is used. */
function lazily(text) {
  let body = text;
  for (const [line, variable, own, name] of text.matchAll(
    /^var (import_\w+) = (?:__toESM\()?require\("(own-module:|)([^"]+)"\)(?:(?:, 1)?\))?;$/gm,
  )) {
    body = body.replace(line, `let ${variable};`);
    body = body.replaceAll(
      new RegExp(`\\b${variable}\\.(default\\.)?`, 'g'),
      `(${variable} ??= ${loading(own, name)}).`,
    );
  }
  return body;
}

/**
 * The first script, which gives what loads a module by its name: its own, those of other scripts of this kind, and all that are
 * in the last one.
 */
export function firstScript(body, others, last) {
  const places = others.flatMap(({ path, names }) => names.map((name) => [name, path]));
  return `'use strict';
const $loaded = new Map();
const $places = new Map(${JSON.stringify(places)});
function $load(name) {
  const before = $loaded.get(name);
  if (before !== undefined) return before;
  if (name.startsWith('node:')) return require(name);
  const path = $places.get(name);
  const own = path === undefined ? $own(name) : require(path)(name);
  const exports = own ?? {};
  $loaded.set(name, exports);
  if (own === undefined) require('${last}')[name](exports, $load);
  return exports;
}
module.exports = $load;
${body}`;
}

/** Another one, which gives a function that finds its own by their names. */
export function otherScript(body, first) {
  return `'use strict';\nconst $load = require('${first}');\nmodule.exports = $own;\n${body}`;
}

/** The last script: its modules by their names. */
export function lastScript(folder, names) {
  return `'use strict';\nmodule.exports = {\n${modulesText(folder, names)}};\n`;
}

/**
 * A script without what V8 need not read. Functions and classes keep their names, for stack traces: within others they would
 * not, so that a script of which all is within others keeps all `names`. It is ASCII: with a single typographic quote in it V8
 * would hold all of a script in two bytes a character, and be half as fast at reading it.
 */
export async function smaller(text, names = false) {
  const { code } = await transform(text, {
    ...{ minifyWhitespace: true, minifySyntax: true, minifyIdentifiers: !names },
    ...{ charset: 'ascii', legalComments: 'none', lineLimit: 120, target: 'node20' },
  });
  return code;
}
