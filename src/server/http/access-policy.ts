import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Logger } from "../../log/logger.ts";
import { ACCESS_CLASSES, type AccessClass } from "../access-class.ts";
import { AllowedOrigins } from "./cross-origin.ts";
import { countHeader, hostHeaderOf, hostNameOf, isSameAuthority } from "./host-header.ts";
import { isLoopbackAddress, isLoopbackHost } from "./loopback.ts";
import { HttpRefusal } from "./refusal.ts";

export interface AccessOptions {
  /** Names that the server may be called by, beside those of this machine; "*" stands for all. */
  virtualHosts?: readonly string[];
  /** Origins whose pages may use the server from a browser; "*" stands for all, none given for none. */
  allowedOrigins?: readonly string[];
  /** By default all where only this machine can connect, and those of `CLASSES_FOR_OTHERS` elsewhere. */
  classes?: readonly AccessClass[];
  /** What every request has to carry; undefined when none is wanted. */
  token?: string;
}

const CLASSES_FOR_OTHERS: readonly AccessClass[] = ["read", "submit"];
/** They change the node for everybody, so that it takes more than a connection to call them. */
const PRIVILEGED_CLASSES: readonly AccessClass[] = ["admin", "dev"];

/** What proxies add to a request that they pass on. */
const PROXY_HEADERS = [
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-forwarded-server",
  "x-real-ip",
  "x-client-ip",
  "cf-connecting-ip",
  "true-client-ip",
];

const BEARER = /^Bearer +(\S+) *$/i;
const LONGEST_QUOTE = 100;

/** Who may ask a server, and for what: the same rules for every protocol over HTTP. */
export class AccessPolicy {
  readonly origins: AllowedOrigins;
  readonly #flag: (name: string) => string;
  readonly #virtualHosts: Set<string>;
  readonly #tokenHash: Buffer | undefined;
  #classes: ReadonlySet<AccessClass>;
  /** The last Host header that named the server; most requests have the same. */
  #knownHost: string | undefined;
  readonly #hasOwnClasses: boolean;
  readonly #hasPages: boolean;

  /** The flags that refusals name begin with the prefix. A server that has pages of its own trusts them. */
  constructor(flagPrefix: "rpc" | "rest", options: AccessOptions = {}, { hasPages = false } = {}) {
    const { virtualHosts = [], allowedOrigins = [], classes, token } = options;
    this.origins = new AllowedOrigins(allowedOrigins);
    this.#flag = (name) => `--${flagPrefix}-${name}`;
    this.#virtualHosts = new Set(virtualHosts);
    this.#tokenHash = token === undefined ? undefined : hashOf(token);
    this.#hasOwnClasses = classes !== undefined;
    this.#hasPages = hasPages;
    this.#classes = new Set(classes ?? CLASSES_FOR_OTHERS);
  }

  get needsToken(): boolean {
    return this.#tokenHash !== undefined;
  }

  /** To be told where the server listens: `name` is what it was given to listen on, `address` what that came to. */
  listensOn({ name, address, url }: { name: string; address: string; url: string }, logger: Logger): void {
    this.#virtualHosts.add(name.toLowerCase());
    if (isLoopbackAddress(address)) {
      if (!this.#hasOwnClasses) this.#classes = new Set(ACCESS_CLASSES);
    } else if (this.#tokenHash === undefined) {
      logger.warn("Other machines can reach this server and need no token to call it.", { url });
    }
  }

  /** Throws an `HttpRefusal` for a request that must not be served, whatever it asks for. */
  admit(req: IncomingMessage): void {
    this.admitReader(req);
    const { authorization } = req.headers;
    if (authorization !== undefined && countHeader(req.rawHeaders, "authorization") > 1) {
      throw new HttpRefusal(400, "The request has more than one Authorization header.");
    }
    // A browser asks without the token whether a page may send it.
    if (req.method !== "OPTIONS" && !this.hasToken(req)) {
      const given = authorization === undefined ? "is missing" : "does not hold it";
      throw new HttpRefusal(
        401,
        `This server wants the token of ${this.#flag("token-file")} as "Authorization: Bearer TOKEN", and the header ${given}.`,
        { "WWW-Authenticate": "Bearer" },
      );
    }
  }

  /** The same for what everybody may read who calls the server by its name. */
  admitReader(req: IncomingMessage): void {
    const { origin } = req.headers;
    // HTTP/1.0 knows no Host, and no browser speaks it.
    const host = hostHeaderOf(req);
    if (host !== undefined && host !== this.#knownHost) {
      const name = hostNameOf(host)!;
      if (!this.#isOwnName(name)) {
        throw new HttpRefusal(
          403,
          `This server is not called ${quoted(name)}; ${this.#flag("vhosts")} gives it more names.`,
        );
      }
      this.#knownHost = host;
    }
    if (
      origin !== undefined &&
      !this.origins.allows(origin) &&
      !(host !== undefined && isSameAuthority(origin, host))
    ) {
      const flag = this.#flag("allow-origin");
      throw new HttpRefusal(403, `Pages of ${quoted(origin)} may not use this server unless ${flag} allows it.`);
    }
  }

  /** Whether a request carries the token, or the server needs none. */
  hasToken({ headers: { authorization } }: IncomingMessage): boolean {
    if (this.#tokenHash === undefined) return true;
    const given = BEARER.exec(authorization ?? "")?.[1];
    return given !== undefined && timingSafeEqual(hashOf(given), this.#tokenHash);
  }

  /** Whether whoever sent a request that was admitted may change how the node runs. */
  isPrivileged({ headers, socket }: IncomingMessage): boolean {
    if (this.#tokenHash !== undefined) return true;
    // What a proxy passes on comes from anywhere.
    if (PROXY_HEADERS.some((name) => headers[name] !== undefined)) return false;
    if (headers.origin !== undefined && !this.#isTrusted(headers.origin, headers.host)) return false;
    return isLoopbackAddress(socket.remoteAddress ?? "");
  }

  /** Why methods of the class are not served to the caller; undefined when they are. */
  refusal(access: AccessClass, isPrivileged: boolean): string | undefined {
    if (!this.#classes.has(access)) {
      const served = [...this.#classes].join(", ");
      return `This server answers methods of the classes ${served} alone, and this is one of the class ${access}; ${this.#flag("api")} changes that.`;
    }
    if (isPrivileged || !PRIVILEGED_CLASSES.includes(access)) return undefined;
    return (
      `Methods of the class ${access} can be called from this machine alone, not through a proxy, and by web pages only of origins ` +
      `that ${this.#flag("allow-origin")} names; with ${this.#flag("token-file")}, by whoever has the token.`
    );
  }

  /** What comes from the server's own pages is what their reader did on them: no other page has their origin. */
  #isTrusted(origin: string, host: string | undefined): boolean {
    return this.origins.names(origin) || (this.#hasPages && host !== undefined && isSameAuthority(origin, host));
  }

  /** An address cannot be made to mean another machine, as a name can by whoever owns it. */
  #isOwnName(name: string): boolean {
    return isIP(name) !== 0 || isLoopbackHost(name) || this.#virtualHosts.has(name) || this.#virtualHosts.has("*");
  }
}

/** Hashes have one length, which comparing in constant time needs. */
function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

function quoted(text: string): string {
  return JSON.stringify(text.length <= LONGEST_QUOTE ? text : `${text.slice(0, LONGEST_QUOTE)}…`);
}
