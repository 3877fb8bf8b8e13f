/** Shows one line that changes as work goes on. */
export interface Progress {
  show(text: string): void;
  clear(): void;
}

/** Shows it on a terminal, and nothing anywhere else. */
export function progressOn(stream: NodeJS.WriteStream): Progress {
  if (!stream.isTTY) return { show: () => undefined, clear: () => undefined };
  const write = (text: string): void => {
    stream.write(`\r\u001b[K${text.slice(0, (stream.columns || 80) - 1)}`);
  };
  return { show: write, clear: () => write('') };
}
