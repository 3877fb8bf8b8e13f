// Reports a test run: each failure in full with the command that repeats it, then a summary.
import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { inspect } from 'node:util';

/** A reason for skipping a test that `npm run test:deps` resolves. */
const isMissing = /^(.+?) (?:is |are )?(?:missing|not installed)\b/;

/**
 * Creates a reporter of node:test.
 *
 * @param {{ root: string, processes: { script: string, files: string[] }[], seed: number, clear: boolean, startedAt: number }}
 *   options The repository, the scripts of the processes and the test files in each, the seed of the random tests, whether a
 *   line that shows the progress is rewritten, and when the run started (ms)
 */
export function createReporter({ root, processes, seed, clear, startedAt }) {
  const counts = { passed: 0, failed: 0, expected: 0 };
  const skipped = new Map();
  const failures = [];
  /** The names of the tests that contain the one reported last, itself included. */
  const names = [];
  /** What each process has written, by its script. */
  const written = new Map();
  const fileCount = processes.reduce((sum, { files }) => sum + files.length, 0);
  const scripts = new Map(processes.flatMap(({ script, files }) => files.map((file) => [file, script])));
  const isGroup = (file) => processes.some(({ script, files }) => script === file && !files.includes(file));
  const sourceOf = (file) =>
    relative(root, file)
      .replace(/^\.compiled\//, '')
      .replace(/\.js$/, '.ts');
  const position = createPositions(root);

  const failure = ({ name, nesting, file, line, column, details: { error } }) => {
    const members = processes.find(({ script }) => script === name)?.files;
    const place = members === undefined ? position(file, line, column) : members.map(sourceOf).join(' ');
    const title =
      members === undefined ? [...names.slice(0, nesting), name].join(' > ') : 'the process failed';
    const cause = error.cause ?? error;
    const text = typeof cause === 'string' ? cause : inspect(cause, { depth: 10 });
    const script = scripts.get(file) ?? file;
    const output = written.get(script)?.join('').trim() ?? '';
    written.delete(script);
    failures.push(`${place} ${title}`);
    return [
      `FAILED ${place}`,
      `  ${title}`,
      indent(position.inText(text)),
      ...(output === '' ? [] : ['  output of the process:', indent(position.inText(output))]),
      `  repeat: SEED=${seed} npm test -- ${place.replace(/:\d+:\d+$/, '')}\n\n`,
    ].join('\n');
  };

  const progress = () => {
    const line = `${counts.passed + counts.failed} tests, ${counts.failed} failed, ${span(startedAt)}`;
    return clear ? `\r\x1b[K${line}` : '';
  };

  const summary = () => {
    const count = [...skipped.values()].reduce((sum, each) => sum + each, 0);
    const total = counts.passed + counts.failed + count;
    const reasons = [...skipped].filter(([reason]) => !isMissing.test(reason));
    const missing = [...skipped].filter(([reason]) => isMissing.test(reason));
    const absent = [...new Set(missing.map(([reason]) => isMissing.exec(reason)[1]))].sort();
    const skippedForMissing = missing.reduce((sum, [, each]) => sum + each, 0);
    return [
      ...(failures.length > 1 ? ['failed:', ...failures.map((each) => `  ${each}`)] : []),
      `${number(total)} tests in ${fileCount} files: ${number(counts.passed)} passed, ${number(counts.failed)} failed, ` +
        `${number(count)} skipped; ${span(startedAt)}`,
      ...(counts.expected === 0 ? [] : [`  ${number(counts.expected)} failed as expected`]),
      ...reasons.map(([reason, each]) => `  ${number(each)} skipped: ${reason}`),
      ...(absent.length === 0
        ? []
        : [
            `  ${number(skippedForMissing)} skipped, because these are not installed: ${absent.join(', ')}`,
            '  `npm run test:deps` installs them',
          ]),
      '',
    ].join('\n');
  };

  return async function* report(source) {
    for await (const { type, data } of source) {
      if (type === 'test:start') names[data.nesting] = data.name;
      if (type === 'test:stdout' || type === 'test:stderr')
        written.set(data.file, [...(written.get(data.file) ?? []).slice(-200), data.message]);
      // An error outside of a test fails the process, which has no other description of it.
      if (type === 'test:diagnostic' && /^(Error|Warning): /.test(data.message))
        yield `${clear ? '\r\x1b[K' : ''}${position.inText(data.message)}\n`;
      if (type !== 'test:pass' && type !== 'test:fail') continue;
      const isContainer =
        data.details.type === 'suite' || data.details.error?.failureType === 'subtestsFailed';
      if (data.skip !== undefined) {
        const reason = data.skip === true || data.skip === '' ? 'no reason' : data.skip;
        skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
      } else if (type === 'test:fail' && data.todo !== undefined) {
        counts.expected += 1;
      } else if (type === 'test:fail' && data.details.error?.failureType !== 'subtestsFailed') {
        counts.failed += 1;
        yield `${clear ? '\r\x1b[K' : ''}${failure(data)}`;
      } else if (!isContainer && !isGroup(data.file)) counts.passed += 1;
      yield progress();
    }
    yield `${clear ? '\r\x1b[K' : ''}${summary()}`;
  };
}

/** Returns the time since then, as `3 min 12 s`. */
function span(since) {
  const seconds = Math.round((Date.now() - since) / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

function indent(text) {
  return text.replace(/^/gm, '    ');
}

function number(count) {
  return count.toLocaleString('en');
}

/**
 * Creates a function that returns the position in the source of a position in a compiled file. Maps are read only here, when a
 * test has failed: reading them in each process would take a tenth of a second.
 */
export function createPositions(root) {
  const maps = new Map();
  const mapOf = (path) => {
    if (!maps.has(path)) {
      const isMapped = existsSync(`${path}.map`);
      maps.set(path, isMapped ? new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8'))) : undefined);
    }
    return maps.get(path);
  };
  const position = (path, line, column) => {
    const found = mapOf(path)?.findEntry(line - 1, column - 1);
    if (found?.originalSource === undefined) return `${relative(root, path)}:${line}:${column}`;
    const source = resolve(dirname(path), found.originalSource);
    return `${relative(root, source)}:${found.originalLine + 1}:${found.originalColumn + 1}`;
  };
  const prefix = join(root, '/').replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const inStack = new RegExp(`(?:file://)?(${prefix}[^\\s():]+\\.js):(\\d+):(\\d+)`, 'g');
  position.inText = (text) =>
    text.replace(inStack, (_, path, line, column) => position(path, Number(line), Number(column)));
  return position;
}
