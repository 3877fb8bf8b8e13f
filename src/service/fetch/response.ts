/** The properties of a Response that its constructor cannot set. */
interface ResponseMetadata {
  /** Clients resolve `Location` against it. */
  readonly url: string;
  /** Whether a redirect led to it. */
  readonly redirected: boolean;
  /** `cors` if a redirect led to another origin. */
  readonly type: 'basic' | 'cors';
}

/** Returns a response of the platform with these properties, which its clones have, too. */
export function withMetadata(response: Response, metadata: ResponseMetadata): Response {
  const { url, redirected, type } = metadata;
  return Object.defineProperties(response, {
    url: { value: url },
    redirected: { value: redirected },
    type: { value: type },
    clone: { value: () => withMetadata(Response.prototype.clone.call(response), metadata) },
  });
}

/** Returns content as a stream, which fails once `signal` is aborted; as bytes if there is no signal. */
export function abortable(
  content: Uint8Array | ReadableStream<Uint8Array> | null,
  signal: AbortSignal | null | undefined,
): Uint8Array | ReadableStream<Uint8Array> | null {
  if (signal == null || content === null) return content;
  return failOnAbort(content instanceof Uint8Array ? new Blob([content]).stream() : content, signal);
}

/** Returns the stream, which fails once the signal is aborted. */
function failOnAbort(stream: ReadableStream<Uint8Array>, signal: AbortSignal): ReadableStream<Uint8Array> {
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
