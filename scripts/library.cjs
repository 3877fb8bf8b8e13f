// Loads the library, which is one script: with what V8 made of it, in the place where it was built. Anywhere else it is a
// module like any other, and so where a test runner has a world of its own for each test, to which code that was compiled
// for this one does not belong.
'use strict';
const { cacheOf, scriptOf } = require('./compiled.js');

const cache = cacheOf('modules');
const run = cache && scriptOf('modules', cache, 'module, require').runInThisContext();
if (run instanceof Function) run(module, require);
else module.exports = require('./modules.js');
