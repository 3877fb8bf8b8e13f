// Scripts with what V8 made of them when they were built: half of a start would be spent on compiling otherwise. V8 checks
// only its own version, and two releases of Node.js with the same one crash on each other's code; so it is used by the very
// build that made it, and everybody else compiles as usual.
'use strict';
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { Script } = require('node:vm');

const here = (name) => join(__dirname, name);

/** What tells builds of Node.js apart. */
exports.build = () => JSON.stringify([process.versions, process.platform, process.arch, process.config]);

/** What this build of Node.js made of a script; undefined where another one did, or none. */
exports.cacheOf = (name) => {
  try {
    return readFileSync(here('node.build'), 'utf8') === exports.build()
      ? readFileSync(here(`${name}.cache`))
      : undefined;
  } catch {
    return undefined;
  }
};

/** What the script gives; with `parameters` it is the body of a function of these. */
exports.scriptOf = (name, cachedData, parameters) => {
  const filename = here(`${name}.js`);
  const text = readFileSync(filename, 'utf8');
  const source = parameters === undefined ? text : `(function (${parameters}) {${text}\n})`;
  return new Script(source, { filename, cachedData });
};
