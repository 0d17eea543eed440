import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import nodeModule from "node:module";
import { compressWhole, isWorthCompressing } from "./compression.ts";
import { entityTag, namesTag } from "./entity-tag.ts";
import type { Exchange } from "./exchanges.ts";
import { accepts, prefersGzip } from "./negotiation.ts";
import { writeWhole } from "./send.ts";

/** The files that a server shows to browsers, by the path of their URL: where each lies. */
export type PageFiles = Readonly<Record<string, string>>;

export const PAGE_VERBS: readonly string[] = ["GET", "HEAD"];

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  js: "text/javascript; charset=utf-8",
};

/** Nothing may come from elsewhere, nothing may be sent elsewhere, and no other page may show this one as its own. */
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

/** Pages for browsers. Each file is read when it is first asked for, and held. */
export class Pages {
  readonly #files: PageFiles;
  readonly #pages = new Map<string, Promise<Page>>();

  constructor(files: PageFiles) {
    this.#files = files;
  }

  isAt(url: string | undefined): boolean {
    return Object.hasOwn(this.#files, pathOf(url));
  }

  /** Whether the request is for one of the files. What asks for something else than HTML there is no browser. */
  has({ method = "", url, headers }: IncomingMessage): boolean {
    if (!PAGE_VERBS.includes(method) || !this.isAt(url)) return false;
    return pathOf(url) !== "/" || accepts("text/html", headers.accept);
  }

  async serve(req: IncomingMessage, { res, record }: Exchange): Promise<void> {
    const { body, zipped, headers, tag } = await this.#page(pathOf(req.url));
    if (res.destroyed) return;
    if (namesTag(req.headers["if-none-match"] ?? "", tag)) {
      res.writeHead(304, headers).end();
      return;
    }
    const isZipped = zipped !== undefined && prefersGzip(req.headers["accept-encoding"]);
    const sent = isZipped ? zipped : body;
    const encoding = isZipped ? { "Content-Encoding": "gzip" } : {};
    res.writeHead(200, { ...headers, ...encoding, "Content-Length": sent.length });
    if (req.method === "HEAD") {
      res.end();
    } else {
      record?.sent(body.length);
      writeWhole(res, [sent], sent.length);
    }
  }

  #page(path: string): Promise<Page> {
    let page = this.#pages.get(path);
    if (page === undefined) {
      page = readPage(path, this.#files[path]!);
      // A file that could not be read may be there again when it is asked for later.
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
      "Content-Type": TYPES[extension] ?? TYPES.js,
      // A newer version of the program may be behind the same address.
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

/** A checkout has TypeScript, of which browsers know nothing. Lines that held nothing but types are left out. */
function toJavaScript(source: string): string {
  return withoutWarnings(() => nodeModule.stripTypeScriptTypes(source))
    .replace(/(\bfrom "\.{1,2}\/[^"]+)\.ts"/g, '$1.js"')
    .replace(/[ \t]+$/gm, "")
    .replace(/\n{2,}/g, "\n");
}

/** Node warns at its first use that the function may change, which is nothing that a user of the program could mend. */
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
