/** Shows progress on one line. */
export interface Progress {
  show(text: string): void;
  clear(): void;
}

/** Shows progress on a terminal, and nothing elsewhere. */
export function progressOn(stream: NodeJS.WriteStream): Progress {
  if (!stream.isTTY) return { show: () => undefined, clear: () => undefined };
  const write = (text: string): void => {
    stream.write(`\r\u001b[K${text.slice(0, (stream.columns || 80) - 1)}`);
  };
  return { show: write, clear: () => write('') };
}
