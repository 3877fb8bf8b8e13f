/** Converts lines of standard error, as they arrive: notices in JSON become the text that a terminal shows. Other lines stay. */
export function createNoticeText(): (chunk: string) => string {
  let rest = '';
  return (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    return lines.map((line) => `${parseText(line)}\n`).join('');
  };
}

function parseText(line: string): string {
  if (!line.startsWith('{"time":"') || !line.includes('"level":"') || line.includes('"fault":')) return line;
  const { message, user, password, secret, commands, url } = JSON.parse(line);
  if (url !== undefined) return `${message}: ${url}`;
  if (commands === undefined) return `countersign: ${message}`;
  const credentials = `  user      ${user}\n  password  ${password}\n  secret    ${secret}`;
  return `${message}\n\n${credentials}\n\nTry it in another terminal:\n\n  ${commands.join('\n  ')}\n`;
}
