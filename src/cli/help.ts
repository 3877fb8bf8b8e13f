import type { Option } from '../options/option.ts';
import { formatFlag, formatVariable, optionSpecs } from '../options/table.ts';
import { type CommandFlag, commandSpecs } from './command-table.ts';

/** Returns the text of `--help`, for one command or, if it is undefined, for the program. */
export function formatHelp(command: string | undefined): string {
  const spec = command === undefined ? undefined : commandSpecs.get(command);
  if (spec === undefined) return formatOverview();
  const { usages, text, flags, served } = spec;
  const usage = usages.map((each) => `countersign ${each.replaceAll('\n', '\n       ')}`).join('\n       ');
  const described = flags.map((flag): readonly [string, string] => [
    flag.value === undefined ? flag.name : `${flag.name} ${flag.value}`,
    describeFlag(flag),
  ]);
  if (served !== undefined)
    described.push(['all options of serve', `${served}; listed by "countersign serve --help"`]);
  const options = command === 'serve' ? `\n${optionLines('Options')}\n${sources}` : '';
  return `Usage: ${usage}\n\n${text}\n${described.length === 0 ? options : `\nOptions:\n${lines(described)}`}`;
}

function describeFlag({ about, actions, repeatable }: CommandFlag): string {
  const [first = '', ...more] = about.split('\n');
  const whole = `${actions === undefined ? '' : `${actions.join(', ')}: `}${first}${repeatable ? '; repeatable' : ''}`;
  return [whole, ...more].join('\n');
}

function formatOverview(): string {
  const listed = [...commandSpecs.values()].flatMap((spec) => spec.listed);
  const width = 23;
  const rows = listed.map(([usage, about]) =>
    usage.length < width - 1
      ? `  ${usage.padEnd(width)}${about}`
      : `  ${usage}\n${' '.repeat(width + 2)}${about}`,
  );
  return `Usage: countersign [COMMAND] [OPTIONS]

An HTTP server for XML and JSON resources that verifies signed requests.

Commands:
${rows.join('\n')}

Run "countersign COMMAND --help" for the options of a command.

  --help, -h             show help
  --version, -v          show the version

${optionLines('Options of serve')}
${sources}`;
}

const sources = `Each option is also an environment variable (${formatVariable('hmacSimple')}) and a key of the configuration file
(hmacSimple). A flag takes precedence over a variable, a variable over the file. The file can also contain
users, clients, consumers, collections and seed.
`;

/** The groups of the options of the server: each begins with an option of the table. */
const groups = new Map<string, string>([
  ['host', 'Addresses and TLS'],
  ['data', 'Data'],
  ['partner', 'The OpenAPI document of a partner'],
  ['keyFile', 'Configuration and storage'],
  ['hmacSimple', 'Signatures, nonces and quotas'],
  ['trustProxy', 'Proxies and browsers'],
  ['codeLifetime', 'OAuth'],
  ['defaultFormat', 'Responses'],
  ['maxBody', 'Limits'],
  ['healthPath', 'Operation'],
]);

/** Returns the lines of all options of the server. */
function optionLines(title: string): string {
  const sections: string[] = [];
  let listed: [string, string][] = [];
  const end = (): void => {
    if (listed.length > 0) sections.push(lines(listed));
    listed = [];
  };
  for (const [key, option] of optionSpecs) {
    const group = groups.get(key);
    if (group !== undefined) {
      end();
      sections.push(`\n${group}:\n`);
    }
    listed.push([formatUsage(key, option), formatDescription(option)]);
  }
  end();
  return `${title}:\n${sections.join('')}`;
}

function formatUsage(key: string, { value }: Option<unknown>): string {
  return value === undefined ? formatFlag(key) : `${formatFlag(key)} ${value}`;
}

function formatDescription({ about, value, fallback, byDefault }: Option<unknown>): string {
  const hasDefault = value !== undefined && fallback !== undefined && !Array.isArray(fallback);
  const shown = byDefault ?? (hasDefault ? fallback : undefined);
  return shown === undefined ? about : `${about} (default: ${shown})`;
}

/** Formats two columns. A left cell that is wider than its column gets its own line. */
function lines(pairs: readonly (readonly [string, string])[]): string {
  const width = 28;
  return pairs
    .map(([left, right]) => {
      const below = `\n${' '.repeat(width + 2)}`;
      const gap = left.length > width - 2 ? below : ' '.repeat(width - left.length);
      return `  ${left}${gap}${right.replaceAll('\n', below)}\n`;
    })
    .join('');
}
