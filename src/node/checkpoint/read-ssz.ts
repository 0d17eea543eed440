import { readFile } from "node:fs/promises";
import { HttpClient } from "../../http-client/http-client.ts";
import type { HttpResponse } from "../../http-client/response.ts";

const MAX_REDIRECTS = 5;

export const isUrl = (source: string): boolean => /^https?:\/\//i.test(source);

export interface ReadLimits {
  /** Idle timeout of a download. */
  idleMs: number;
  /** Maximum size of a download. */
  maxBytes: number;
}

interface ReadOptions extends ReadLimits {
  /** Cancels the read. */
  signal?: AbortSignal;
  /** Reports received bytes. `total` is undefined without a Content-Length. */
  onProgress?(received: number, total: number | undefined): void;
}

/** Reads SSZ bytes from a file or an http(s) URL. Follows redirects. */
export async function readSsz(source: string, options: ReadOptions): Promise<Uint8Array> {
  if (!isUrl(source)) return plainBytes(await readFile(source, { signal: options.signal }));
  let url = source;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const bytesOrRedirect = await readUrl(url, options);
    if (typeof bytesOrRedirect !== "string") return bytesOrRedirect;
    url = bytesOrRedirect;
  }
  throw new Error(`the server redirects more than ${MAX_REDIRECTS} times`);
}

/** Returns the body, or the redirect target. */
async function readUrl(source: string, options: ReadOptions): Promise<Uint8Array | string> {
  // The idle timeout covers headers and body.
  const client = new HttpClient(source, { headersTimeoutMs: 0, bodyTimeoutMs: 0 });
  const idle = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, idle.signal]) : idle.signal;
  const idleTimer = setTimeout(
    () => idle.abort(new Error(`the server sent nothing for ${options.idleMs / 1000} seconds`)),
    options.idleMs,
  );
  try {
    const { pathname, search } = new URL(source);
    const headers = { accept: "application/octet-stream" };
    const response = await client.request({ method: "GET", path: `${pathname}${search}`, headers }, { signal });
    const target = redirectTarget(response, source);
    if (target !== undefined) return target;
    requireSszResponse(response, options.maxBytes);
    return await readBody(response, { ...options, onChunk: () => void idleTimer.refresh() });
  } finally {
    clearTimeout(idleTimer);
    client.close();
  }
}

/** Returns the redirect target. Checkpoint providers redirect from http to https and to other hosts. */
function redirectTarget({ status, headers: { location } }: HttpResponse, source: string): string | undefined {
  if (status < 300 || status >= 400) return undefined;
  const target = location === undefined ? undefined : URL.parse(location, source)?.href;
  if (target === undefined || !isUrl(target))
    throw new Error(`the server responded ${status} without a valid Location`);
  return target;
}

function requireSszResponse({ status, statusText, headers }: HttpResponse, maxBytes: number): void {
  if (status >= 400) throw new Error(`the server responded ${status} ${statusText}${hintFor(status)}`);
  const type = headers["content-type"]?.split(";")[0]?.trim();
  if (type === "application/json" || type === "text/html") {
    throw new Error(`the server responded with ${type} instead of SSZ (application/octet-stream)`);
  }
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") throw new Error(`the server responded with the unexpected content encoding ${encoding}`);
  if ((contentLength(headers) ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

function contentLength(headers: HttpResponse["headers"]): number | undefined {
  const length = Number(headers["content-length"] ?? Number.NaN);
  return Number.isSafeInteger(length) ? length : undefined;
}

async function readBody(
  { headers, body }: HttpResponse,
  { maxBytes, onProgress, onChunk }: ReadOptions & { onChunk(): void },
): Promise<Uint8Array> {
  const total = contentLength(headers);
  const chunks: Uint8Array[] = [];
  let received = 0;
  for await (const chunk of body) {
    onChunk();
    received += chunk.length;
    if (received > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
    onProgress?.(received, total);
  }
  const bytes = new Uint8Array(received);
  let position = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, position);
    position += chunk.length;
  }
  return bytes;
}

/** Converts a buffer to a plain Uint8Array. Its slices are copies, so decoded values do not retain the buffer. */
function plainBytes({ buffer, byteOffset, byteLength }: Buffer<ArrayBuffer>): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function tooLarge(maxBytes: number): Error {
  return new Error(`the response exceeds the limit of ${maxBytes / 1024 ** 2} MiB`);
}

/** Explains common error statuses of beacon nodes. */
function hintFor(status: number): string {
  if (status === 401 || status === 403) return "; it does not serve states to the public";
  if (status === 404) return "; there is no beacon node at this URL, or it does not serve states";
  if (status === 406 || status === 415) return "; it does not support SSZ";
  if (status === 410) return "; it no longer has the object";
  return "";
}
