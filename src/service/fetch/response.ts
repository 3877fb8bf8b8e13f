/** The properties of a Response that its constructor cannot set. */
export interface ResponseMetadata {
  readonly url: string;
  /** Whether a redirect led to it. */
  readonly redirected: boolean;
  /** `cors` if a redirect led to another origin. */
  readonly type: 'basic' | 'cors';
}

/** The content of a response. Null if it has none. */
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

/** The platform's Response, without the members that concern content. `PresentResponse` implements them. */
const ResponseHead: new (content: null, init: ResponseInit) => Omit<Response, OwnMembers> = Response;

/**
 * A Response whose content is in memory. The platform creates a stream for any content, which costs more than the whole
 * response. This class creates one only if a caller reads it.
 */
export class PresentResponse extends ResponseHead {
  readonly #metadata: ResponseMetadata;
  readonly #head: ResponseInit;
  readonly #content: PresentContent;
  readonly #signal: AbortSignal | null | undefined;
  #used = false;
  #streamed: Response | undefined;

  /** Once `signal` is aborted, the content cannot be read. */
  constructor(
    metadata: ResponseMetadata,
    head: ResponseInit,
    content: PresentContent,
    signal: AbortSignal | null | undefined,
  ) {
    super(null, head);
    this.#metadata = metadata;
    this.#head = head;
    this.#content = content;
    this.#signal = signal;
  }

  get url(): string {
    return this.#metadata.url;
  }

  get redirected(): boolean {
    return this.#metadata.redirected;
  }

  get type(): 'basic' | 'cors' {
    return this.#metadata.type;
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

  /** Returns the content as bytes, as newer platforms do. */
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
    if (this.#used) throw alreadyRead();
    return new PresentResponse(this.#metadata, this.#head, this.#content, this.#signal);
  }

  /** Returns the content and marks it as used. Undefined if a stream holds it. Throws TypeError if it was used before. */
  #take(): string | Uint8Array | undefined {
    if (this.#streamed !== undefined) return undefined;
    if (this.#content === null) return '';
    if (this.#used) throw alreadyRead();
    this.#signal?.throwIfAborted();
    this.#used = true;
    return this.#content;
  }

  /** Returns a Response of the platform, to which the content is handed over. */
  #stream(): Response {
    if (this.#streamed === undefined) {
      if (this.#used) throw alreadyRead();
      const content = this.#content;
      const { body } = new Response(typeof content === 'string' ? Buffer.from(content) : content);
      this.#streamed = new Response(body && failOnAbort(body, this.#signal), this.#head);
    }
    return this.#streamed;
  }
}

/** Returns the stream, which fails once the signal is aborted. */
export function failOnAbort(
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal | null | undefined,
): ReadableStream<Uint8Array> {
  if (signal == null) return stream;
  const reader = stream.getReader();
  let removeListener = (): void => {};
  return new ReadableStream(
    {
      start(controller) {
        const abort = (): void => {
          controller.error(signal.reason);
          reader.cancel(signal.reason).catch(() => undefined);
        };
        signal.addEventListener('abort', abort, { once: true });
        removeListener = () => signal.removeEventListener('abort', abort);
        if (signal.aborted) abort();
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (signal.aborted) return;
        if (!done) return controller.enqueue(value);
        removeListener();
        controller.close();
      },
      cancel(reason) {
        removeListener();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

function alreadyRead(): TypeError {
  return new TypeError('Body is unusable: Body has already been read');
}
