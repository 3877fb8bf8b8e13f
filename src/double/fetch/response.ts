/** What `fetch` knows of a reply besides its head and its content. */
export interface Seen {
  readonly url: string;
  /** Whether a redirect led to it. */
  readonly redirected: boolean;
  /** `cors` where another origin lay on the way. */
  readonly type: 'basic' | 'cors';
}

/** The content that came; null where there is none. */
export type PresentContent = string | Uint8Array | null;

type OwnMembers =
  | 'url'
  | 'redirected'
  | 'type'
  | 'body'
  | 'bodyUsed'
  | 'text'
  | 'json'
  | 'arrayBuffer'
  | 'bytes'
  | 'blob'
  | 'formData'
  | 'clone';

/** The platform's Response, of which everything about the content is made here. */
const ResponseHead: new (content: null, init: ResponseInit) => Omit<Response, OwnMembers> = Response;

/**
 * A Response whose content is here already. The platform makes a stream of any content at once, which costs more than the
 * whole answer; here it is made when somebody asks for it.
 */
export class PresentResponse extends ResponseHead {
  readonly #seen: Seen;
  readonly #head: ResponseInit;
  readonly #content: PresentContent;
  readonly #signal: AbortSignal | null | undefined;
  #used = false;
  #streamed: Response | undefined;

  /** From when on `signal` says so, the content cannot be read. */
  constructor(
    seen: Seen,
    head: ResponseInit,
    content: PresentContent,
    signal: AbortSignal | null | undefined,
  ) {
    super(null, head);
    this.#seen = seen;
    this.#head = head;
    this.#content = content;
    this.#signal = signal;
  }

  get url(): string {
    return this.#seen.url;
  }

  get redirected(): boolean {
    return this.#seen.redirected;
  }

  get type(): 'basic' | 'cors' {
    return this.#seen.type;
  }

  get body(): Response['body'] {
    return this.#content === null ? null : this.#stream().body;
  }

  get bodyUsed(): boolean {
    return this.#used || this.#streamed?.bodyUsed === true;
  }

  async text(): Promise<string> {
    const content = this.#take();
    if (typeof content === 'string') return content.startsWith('\ufeff') ? content.slice(1) : content;
    return content === undefined ? this.#stream().text() : new TextDecoder().decode(content);
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    const content = this.#take();
    if (content === undefined) return this.#stream().arrayBuffer();
    return Uint8Array.from(typeof content === 'string' ? Buffer.from(content) : content).buffer;
  }

  /** The content as bytes, which platforms of today have too. */
  async bytes(): Promise<Uint8Array> {
    return new Uint8Array(await this.arrayBuffer());
  }

  async blob(): ReturnType<Response['blob']> {
    return this.#stream().blob();
  }

  async formData(): ReturnType<Response['formData']> {
    return this.#stream().formData();
  }

  clone(): Response {
    if (this.#streamed !== undefined) return this.#streamed.clone();
    if (this.#used) throw usedUp();
    return new PresentResponse(this.#seen, this.#head, this.#content, this.#signal);
  }

  /** The content, which is used up by that; undefined where a stream has it. Throws TypeError when it was used up before. */
  #take(): string | Uint8Array | undefined {
    if (this.#streamed !== undefined) return undefined;
    if (this.#content === null) return '';
    if (this.#used) throw usedUp();
    this.#signal?.throwIfAborted();
    this.#used = true;
    return this.#content;
  }

  /** The same as the platform would have made it, from when on it has the content. */
  #stream(): Response {
    if (this.#streamed === undefined) {
      if (this.#used) throw usedUp();
      const content = this.#content;
      const { body } = new Response(typeof content === 'string' ? Buffer.from(content) : content);
      this.#streamed = new Response(body && endedBy(body, this.#signal), this.#head);
    }
    return this.#streamed;
  }
}

/** The stream, which fails from when on the signal says so. */
export function endedBy(
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal | null | undefined,
): ReadableStream<Uint8Array> {
  if (signal == null) return stream;
  const reader = stream.getReader();
  let heard = (): void => {};
  return new ReadableStream(
    {
      start(controller) {
        const abort = (): void => {
          controller.error(signal.reason);
          reader.cancel(signal.reason).catch(() => undefined);
        };
        signal.addEventListener('abort', abort, { once: true });
        heard = () => signal.removeEventListener('abort', abort);
        if (signal.aborted) abort();
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (signal.aborted) return;
        if (!done) return controller.enqueue(value);
        heard();
        controller.close();
      },
      cancel(reason) {
        heard();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

function usedUp(): TypeError {
  return new TypeError('Body is unusable: Body has already been read');
}
