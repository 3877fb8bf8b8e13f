// The scripts with which shells complete the command. Commands, actions and options are those of the help.
import { didYouMean } from '../../did-you-mean.ts';
import { formatFlag, optionSpecs } from '../../options/table.ts';
import { commandSpecs } from '../command-table.ts';
import { CommandError } from '../errors.ts';
import type { Command } from '../terminal.ts';

/** Runs `countersign completion SHELL`: prints the script with which a shell completes the command. */
export const completion: Command = async ([shell, ...more], _, { stdout }) => {
  if (more.length > 0) throw new CommandError(['completion requires one shell']);
  stdout.write(formatCompletion(shell));
  return 0;
};

/** What can follow a command: its actions and options, with their descriptions. */
interface Completed {
  readonly command: string;
  readonly about: string;
  /** The actions, such as `add` of `user`. */
  readonly actions: readonly string[];
  readonly options: readonly CompletedOption[];
}

interface CompletedOption {
  /** The name, with its dashes. */
  readonly name: string;
  /** What its value is, such as `FILE` or `on|off`; undefined if it needs none. */
  readonly value: string | undefined;
  readonly about: string;
}

const writers: Readonly<Record<string, (all: readonly Completed[]) => string>> = {
  bash: formatBash,
  zsh: formatZsh,
  fish: formatFish,
};

/** Returns the script for a shell. Throws CommandError if there is none. */
export function formatCompletion(shell: string | undefined): string {
  const shells = Object.keys(writers);
  const write = shell !== undefined && Object.hasOwn(writers, shell) ? writers[shell] : undefined;
  if (write !== undefined) return write(listCommands());
  const fault =
    shell === undefined
      ? `completion requires a shell: ${shells.join(', ')}`
      : `there is no completion for ${JSON.stringify(shell)}${didYouMean(shell, shells)}`;
  throw new CommandError([fault]);
}

/** Lists the commands with their actions and options. */
function listCommands(): readonly Completed[] {
  const served = [...optionSpecs].map(([key, { value, about }]) => ({ name: formatFlag(key), value, about }));
  return [...commandSpecs].map(([command, { listed, flags, served: isServed }]) => ({
    command,
    about: listed[0]?.[1] ?? '',
    actions: listActions(listed.map(([usage]) => usage)),
    options: [
      ...flags.map(({ name, value, about }) => ({ name, value, about })),
      ...(command === 'serve' || isServed !== undefined ? served : []),
      { name: '--help', value: undefined, about: 'show help' },
    ],
  }));
}

/** Returns the actions of usages such as `user key add|remove|list`. An action can have actions of its own. */
function listActions(usages: readonly string[]): readonly string[] {
  const words = usages
    .filter((usage) => usage.includes('|'))
    .flatMap((usage) => usage.split(/[ |]/).slice(1));
  return [...new Set(words)];
}

/** Returns the words of a value such as `on|off`; none for any other value. */
function listChoices({ value = '' }: Pick<CompletedOption, 'value'>): readonly string[] {
  return /^[a-z]+(?:\|[a-z]+)+$/.test(value) ? value.split('|') : [];
}

function listWords({ actions, options }: Completed): string {
  return [...actions, listNames(options)].join(' ');
}

function listNames(options: readonly CompletedOption[]): string {
  return options.map(({ name }) => name).join(' ');
}

/** Returns the options without a command: those of the default command. */
function listFirstOptions(all: readonly Completed[]): readonly CompletedOption[] {
  const served = all.find(({ command }) => command === 'serve')?.options ?? [];
  return [...served, { name: '--version', value: undefined, about: 'show the version' }];
}

/** Returns the cases of a shell script by which the option before the cursor determines the words: its values, or none. */
function formatValueCases(all: readonly Completed[], assign: (words: string) => string): string {
  const options = new Map(
    all.flatMap((each) => each.options.map((option) => [option.name, option] as const)),
  );
  const valued = [...options.values()].filter(({ value }) => value !== undefined);
  const isChoice = (option: CompletedOption): boolean => listChoices(option).length > 0;
  const others = valued.filter((option) => !isChoice(option)).map(({ name }) => name);
  return [
    ...valued
      .filter(isChoice)
      .map((option) => `    ${option.name}) ${assign(listChoices(option).join(' '))} ;;\n`),
    `    ${others.join('|')}) ${assign('')} ;;\n`,
  ].join('');
}

function formatBash(all: readonly Completed[]): string {
  const cases = all.map((each) => `    ${each.command}) words='${listWords(each)}' ;;\n`).join('');
  return `# Completes countersign in bash: source <(countersign completion bash)
_countersign() {
  local words current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  case "\${COMP_WORDS[1]}" in
${cases}    -*) words='${listNames(listFirstOptions(all))}' ;;
    *) words='' ;;
  esac
  [ "$COMP_CWORD" -eq 1 ] && [[ "$current" != -* ]] && words='${all.map(({ command }) => command).join(' ')}'
  # The value of an option can also follow "=", which is a word of its own.
  [ "$current" = '=' ] && current=''
  [ "$before" = '=' ] && before="\${COMP_WORDS[COMP_CWORD-2]}"
  case "$before" in
${formatValueCases(all, (words) => `words='${words}'`)}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _countersign countersign
`;
}

function formatZsh(all: readonly Completed[]): string {
  const cases = all.map((each) => `    ${each.command}) candidates=(${listWords(each)}) ;;\n`).join('');
  return `#compdef countersign
# Completes countersign in zsh: source <(countersign completion zsh)
_countersign() {
  local -a candidates
  case "\${words[2]}" in
${cases}    -*) candidates=(${listNames(listFirstOptions(all))}) ;;
  esac
  (( CURRENT == 2 )) && [[ "\${words[2]}" != -* ]] && candidates=(${all.map(({ command }) => command).join(' ')})
  case "\${words[CURRENT-1]}" in
${formatValueCases(all, (words) => `candidates=(${words})`)}  esac
  compadd -- $candidates || _files
}
compdef _countersign countersign
`;
}

function formatFish(all: readonly Completed[]): string {
  const lines = all.flatMap(({ command, about, actions, options }) => {
    const condition = `'__fish_seen_subcommand_from ${command}'`;
    return [
      `complete -c countersign -n __fish_use_subcommand -f -a ${command} -d ${quote(about)}`,
      ...(actions.length === 0
        ? []
        : [`complete -c countersign -n ${condition} -f -a '${actions.join(' ')}'`]),
      ...formatFishOptions(condition, options),
    ];
  });
  return `# Completes countersign in fish: countersign completion fish | source
function __countersign_without_command
  not __fish_seen_subcommand_from ${all.map(({ command }) => command).join(' ')}
end
${[...lines, ...formatFishOptions('__countersign_without_command', listFirstOptions(all))].join('\n')}
`;
}

function formatFishOptions(condition: string, options: readonly CompletedOption[]): readonly string[] {
  return options.map((option) => {
    const value = formatFishValue(option);
    return `complete -c countersign -n ${condition} -l ${option.name.slice(2)}${value} -d ${quote(option.about)}`;
  });
}

function formatFishValue(option: CompletedOption): string {
  if (option.value === undefined) return '';
  const choices = listChoices(option);
  return choices.length === 0 ? ' -r' : ` -x -a '${choices.join(' ')}'`;
}

/** Quotes a text for fish, in which a quote and a backslash are escaped. */
function quote(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}
