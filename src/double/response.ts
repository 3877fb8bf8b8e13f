/** What a reply is made of, as the platform's fetch would give it. */
export interface ResponseParts {
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  readonly headers: [string, string][];
  /** Null where no content follows. */
  readonly content: string | Uint8Array | null;
}

type OfContent =
  | 'url'
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
const ResponseHead: new (content: null, init: ResponseInit) => Omit<Response, OfContent> = Response;

/**
 * A Response whose content is here already. The platform makes a stream of any content at once, which costs more than the
 * whole answer; here it is made when somebody asks for it.
 */
export class PresentResponse extends ResponseHead {
  readonly #parts: ResponseParts;
  #used = false;
  #streamed: Response | undefined;

  constructor(parts: ResponseParts) {
    const { status, statusText, headers } = parts;
    super(null, { status, statusText, headers });
    this.#parts = parts;
  }

  get url(): string {
    return this.#parts.url;
  }

  get body(): Response['body'] {
    return this.#parts.content === null ? null : this.#stream().body;
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
    return new PresentResponse(this.#parts);
  }

  /** The content, which is used up by that; undefined where a stream has it. Throws TypeError when it was used up before. */
  #take(): string | Uint8Array | undefined {
    if (this.#streamed !== undefined) return undefined;
    const { content } = this.#parts;
    if (content === null) return '';
    if (this.#used) throw usedUp();
    this.#used = true;
    return content;
  }

  /** The same as the platform would have made it, from when on it has the content. */
  #stream(): Response {
    if (this.#streamed === undefined) {
      if (this.#used) throw usedUp();
      const { content, status, headers } = this.#parts;
      const bytes = typeof content === 'string' ? Buffer.from(content) : content;
      this.#streamed = new Response(bytes, { status, headers });
    }
    return this.#streamed;
  }
}

function usedUp(): TypeError {
  return new TypeError('Body is unusable: Body has already been read');
}
