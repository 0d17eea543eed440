import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import nodeModule from "node:module";
import type { Exchange } from "../exchange.ts";
import { compressWhole, isWorthCompressing } from "./compression.ts";
import { entityTag, matchesTag } from "./entity-tag.ts";
import { accepts, prefersGzip } from "./negotiation.ts";
import { writeBody } from "./send.ts";

/** Files served to browsers, as a map from URL path to file path. */
export type StaticFilePaths = Readonly<Record<string, string>>;

export const STATIC_FILE_METHODS: readonly string[] = ["GET", "HEAD"];

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  js: "text/javascript; charset=utf-8",
};

/** Prevents framing, content sniffing and cross-origin access. */
const SECURITY_HEADERS: OutgoingHttpHeaders = {
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
};

const INLINE_SCRIPT = /<script[^>]*>([^<]+)<\/script>/g;

interface Page {
  body: Buffer;
  zipped: Buffer | undefined;
  headers: OutgoingHttpHeaders;
  tag: string;
}

/** Serves static files. Each file is read on the first request and then cached in memory. */
export class StaticFiles {
  readonly #files: StaticFilePaths;
  readonly #pages = new Map<string, Promise<Page>>();

  constructor(files: StaticFilePaths) {
    this.#files = files;
  }

  /** Returns true if there is a file at the URL's path. */
  hasPath(url: string | undefined): boolean {
    return Object.hasOwn(this.#files, pathOf(url));
  }

  /** Returns true if one of the files is requested. Requests for "/" must accept HTML, as browsers do. */
  matches({ method = "", url, headers }: IncomingMessage): boolean {
    if (!STATIC_FILE_METHODS.includes(method) || !this.hasPath(url)) return false;
    return pathOf(url) !== "/" || accepts("text/html", headers.accept);
  }

  async serve(req: IncomingMessage, { res, record }: Exchange): Promise<void> {
    const { body, zipped, headers, tag } = await this.#page(pathOf(req.url));
    if (res.destroyed) return;
    if (matchesTag(req.headers["if-none-match"] ?? "", tag)) {
      res.writeHead(304, headers).end();
      return;
    }
    const isZipped = zipped !== undefined && prefersGzip(req.headers["accept-encoding"]);
    const content = isZipped ? zipped : body;
    const encoding = isZipped ? { "Content-Encoding": "gzip" } : {};
    res.writeHead(200, { ...headers, ...encoding, "Content-Length": content.length });
    if (req.method === "HEAD") {
      res.end();
    } else {
      record?.addBytes(body.length);
      writeBody(res, [content], content.length);
    }
  }

  #page(path: string): Promise<Page> {
    let page = this.#pages.get(path);
    if (page === undefined) {
      page = readPage(path, this.#files[path]!);
      // The next request will try again.
      page.catch(() => this.#pages.delete(path));
      this.#pages.set(path, page);
    }
    return page;
  }
}

async function readPage(path: string, file: string): Promise<Page> {
  const content = await readFile(file);
  const body = file.endsWith(".ts") ? Buffer.from(toJavaScript(content.toString())) : content;
  const extension = path === "/" ? "html" : path.slice(path.lastIndexOf(".") + 1);
  const tag = entityTag(body);
  return {
    body,
    zipped: isWorthCompressing(body.length) ? await compressWhole(body) : undefined,
    tag,
    headers: {
      ...SECURITY_HEADERS,
      ...(extension === "html" ? { "Content-Security-Policy": contentSecurityPolicy(body.toString()) } : {}),
      "Content-Type": CONTENT_TYPES[extension] ?? CONTENT_TYPES.js,
      // A newer version may serve different content at the same URL.
      "Cache-Control": "no-cache",
      Vary: "Accept-Encoding",
      ETag: tag,
    },
  };
}

function contentSecurityPolicy(html: string): string {
  const hashes = [...html.matchAll(INLINE_SCRIPT)].map(
    ([, text]) => `'sha256-${createHash("sha256").update(text!).digest("base64")}'`,
  );
  return [
    "default-src 'none'",
    `script-src 'self' ${hashes.join(" ")}`,
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/**
 * Converts TypeScript to JavaScript when running from a checkout. Removes the types and the blank lines left behind.
 */
function toJavaScript(source: string): string {
  return withoutWarnings(() => nodeModule.stripTypeScriptTypes(source))
    .replace(/(\b(?:from |import\()"\.{1,2}\/[^"]+)\.ts"/g, '$1.js"')
    .replace(/[ \t]+$/gm, "")
    .replace(/\n{2,}/g, "\n");
}

/** Suppresses Node's experimental warning for type stripping. */
function withoutWarnings<T>(work: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}

const pathOf = (url = "/"): string => url.split("?", 1)[0]!;
