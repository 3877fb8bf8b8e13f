import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The repository. */
export const root = join(import.meta.dirname, '../../..');

/** A fenced code block. */
export interface Block {
  readonly language: string;
  /** The path behind the language: a file of the repository, or one that the page's reader creates. */
  readonly file: string | undefined;
  readonly text: string;
  /** The last heading above it. */
  readonly section: string;
  /** The text of the `text` block that follows it directly: its output. */
  readonly output: string | undefined;
}

/** A document and its code blocks. */
export interface Page {
  /** Path from the root of the repository. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

/** Returns the paths of all documents, from the root of the repository. */
export function documentPaths(): string[] {
  const inFolder = (folder: string): string[] =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name));
  const examples = readdirSync(join(root, 'examples'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => inFolder(join('examples', name)));
  return [...inFolder('.'), ...inFolder('docs'), ...inFolder('examples'), ...inFolder('bench'), ...examples];
}

/** Reads a document. */
export function readPage(path: string): Page {
  const text = readFileSync(join(root, path), 'utf8');
  return { path, text, blocks: parseBlocks(text) };
}

/** Returns the text of the block with this file name. */
export function fileBlock({ path, blocks }: Page, file: string): string {
  const text = blocks.find((each) => each.file === file)?.text;
  if (text === undefined) throw new Error(`${path} has no block ${file}`);
  return text;
}

function parseBlocks(text: string): Block[] {
  const fences = [...text.matchAll(/^```(\w*)(?: (\S+))?\n(.*?)^```$/gms)];
  const all = fences.map(([, language = '', file, content = ''], at) => {
    const before = text.slice(0, fences[at]?.index);
    const headings = [...before.replace(/^```.*?^```$/gms, '').matchAll(/^#+ (.+)$/gm)];
    return { language, file, text: content, section: headings.at(-1)?.[1] ?? '' };
  });
  return all.map((block, at) => {
    const next = all[at + 1];
    return { ...block, output: next?.language === 'text' ? next.text : undefined };
  });
}

/** Returns the targets of the links and images of a document that are not absolute URLs. */
export function relativeLinks({ text }: Page): string[] {
  const prose = text.replace(/^```.*?^```$/gms, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** Returns the fragments that the headings of a document have, in the form that GitHub gives them. */
export function listAnchors({ text }: Page): Set<string> {
  const headings = text.replace(/^```.*?^```$/gms, '').matchAll(/^#+ (.+)$/gm);
  const anchors = [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set(anchors);
}

/** Replaces the output of a block in its document: for `UPDATE_DOCUMENTS=1`. */
export function writeOutput(path: string, block: Block, output: string): void {
  const file = join(root, path);
  const shown = `\`\`\`text\n${block.output}\`\`\``;
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(shown, () => `\`\`\`text\n${output.trimEnd()}\n\`\`\``),
  );
}
