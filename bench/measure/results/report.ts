import { describeMachine } from '../machine.ts';
import type { GroupResult, Result, Verdict } from './result.ts';
import { asMarkdown, asText, exponentsOf, tableOf } from './table.ts';

/** Formats a result for a terminal. */
export function reportText(result: Result): string {
  const { name, title, rounds, machine, seconds, groups, figures, verdicts } = result;
  const blocks = groups.map((group) =>
    [
      ...(group.name === '' ? [] : [group.name]),
      asText(tableOf(group, figures)),
      ...notes(group, result).map((note) => `  ${note}`),
    ].join('\n'),
  );
  const head = `${name}: ${title}\n${rounds} rounds, ${describeMachine(machine)}, ${seconds} s`;
  return [head, ...blocks, verdicts.map(verdictText).join('\n')].join('\n\n').trimEnd();
}

/** Formats a result for the page; `chart` is the address of the chart. */
export function reportMarkdown(result: Result, chart: string): string {
  const { name, title, about, groups, figures, verdicts, rounds, machine, date, full } = result;
  const blocks = groups.flatMap((group) => [
    ...(group.name === '' ? [] : [`**${group.name}**`]),
    asMarkdown(tableOf(group, figures)),
    notes(group, result)
      .map((note) => `- ${note}`)
      .join('\n'),
  ]);
  const command = `\`npm run bench -- ${name}${full ? ' --full' : ''}\``;
  const details = ['<details><summary>Figures</summary>', ...blocks, '</details>'];
  const verdictLines = verdicts.map((verdict) => `- ${verdictText(verdict)}`).join('\n');
  const made = `${command} · ${date}, ${rounds} rounds, ${describeMachine(machine)}`;
  return [`## ${title}`, about, `![${title}](${chart})`, ...details, verdictLines, made]
    .filter((block) => block !== '')
    .join('\n\n');
}

function notes(group: GroupResult, { figures }: Result): string[] {
  const absent = group.leftOut.map(({ name, reason }) => `${name} is left out: ${reason}`);
  return [...exponentsOf(group, figures), ...absent];
}

function verdictText({ what, bound, met }: Verdict): string {
  return `${met ? 'met' : 'MISSED'}: ${what} (${bound})`;
}
