import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { truncate } from "../../../errors/truncate.ts";
import type { Logger } from "../../../log/logger.ts";
import { ACCESS_CLASSES, type AccessClass } from "../../access-class.ts";
import { HttpError } from "../http-error.ts";
import {
  type AccessRights,
  type ApiClient,
  type ApiClients,
  KEY_REVOKED,
  keyOf,
  moveKeyToHeader,
  type RevocationReason,
  redactKeys,
} from "./api-clients.ts";
import { AllowedOrigins } from "./cors.ts";
import { countHeader, hostHeaderOf, hostNameOf, isSameAuthority } from "./host-header.ts";
import { isLoopbackAddress, isLoopbackHost } from "./loopback.ts";
import { TrustedProxies } from "./trusted-proxies.ts";

export interface AccessOptions {
  /** Accepted Host names in addition to loopback names and addresses. "*" accepts all. */
  virtualHosts?: readonly string[];
  /** Origins whose pages may call the server. "*" allows all. By default there are none. */
  allowedOrigins?: readonly string[];
  /** Also accept unprivileged calls from pages on this machine and from browser extensions such as wallets. */
  allowsLocalPages?: boolean;
  /** Served access classes. By default all on loopback, and otherwise `REMOTE_CLASSES`. */
  classes?: readonly AccessClass[];
  /** Addresses or CIDR blocks of proxies whose X-Forwarded-For headers are trusted. */
  trustedProxies?: readonly string[];
  /** Bearer token required on every request. Undefined if no token is required. */
  token?: string;
}

const REMOTE_CLASSES: readonly AccessClass[] = ["read", "submit"];
/** Classes that affect all users of the node. They require a token or a trusted local caller. */
const PRIVILEGED_CLASSES: readonly AccessClass[] = ["admin", "dev"];

/** Headers that proxies add to forwarded requests. */
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
const MAX_QUOTE_LENGTH = 100;

/** Decides which requests a server accepts and which classes of methods it serves. Used for all HTTP protocols. */
export class AccessPolicy {
  readonly origins: AllowedOrigins;
  readonly #flag: (name: string) => string;
  readonly #virtualHosts: Set<string>;
  readonly #tokenHash: Buffer | undefined;
  #classes: ReadonlySet<AccessClass>;
  /** The last accepted Host header, which most requests repeat. */
  #knownHost: string | undefined;
  readonly #hasOwnClasses: boolean;
  readonly #hasPages: boolean;
  readonly #clients: ApiClients | undefined;
  readonly #proxies: TrustedProxies | undefined;

  /**
   * `flagPrefix` is the prefix of flags mentioned in errors. A server that serves its own pages trusts their origin.
   */
  constructor(
    flagPrefix: "rpc" | "rest",
    options: AccessOptions = {},
    { hasPages = false, clients }: { hasPages?: boolean; clients?: ApiClients | undefined } = {},
  ) {
    const { virtualHosts = [], allowedOrigins = [], allowsLocalPages, classes, trustedProxies = [], token } = options;
    this.origins = new AllowedOrigins(allowedOrigins, { allowsLocalPages });
    this.#flag = (name) => `--${flagPrefix}-${name}`;
    this.#virtualHosts = new Set(virtualHosts);
    this.#tokenHash = token === undefined ? undefined : hashOf(token);
    this.#hasOwnClasses = classes !== undefined;
    this.#hasPages = hasPages;
    this.#clients = clients;
    if (trustedProxies.length > 0) this.#proxies = new TrustedProxies(trustedProxies);
    this.#classes = new Set(classes ?? REMOTE_CLASSES);
  }

  /** True if requests need a token or an API key. */
  get needsToken(): boolean {
    return this.#tokenHash !== undefined || this.#needsKey;
  }

  /** Returns the client's address, looking past trusted proxies. */
  clientAddressOf(req: IncomingMessage): string {
    return this.#proxies?.clientAddressOf(req) ?? req.socket.remoteAddress ?? "";
  }

  get #needsKey(): boolean {
    return this.#clients?.isRequired ?? false;
  }

  /** Removes an API key from the path of a request. Must be called before the request is routed or logged. */
  hideKey(req: IncomingMessage): void {
    if (this.#needsKey) moveKeyToHeader(req);
  }

  /** Returns a URL for the log, without any API keys that were sent in the wrong place. */
  loggedUrl(url: string): string {
    return this.#needsKey ? redactKeys(url, this.#clients!) : url;
  }

  /** Sets the listening address: `name` is the configured host, and `address` the address it resolved to. */
  setListeningAddress({ name, address, url }: { name: string; address: string; url: string }, logger: Logger): void {
    this.#virtualHosts.add(name.toLowerCase());
    if (isLoopbackAddress(address)) {
      if (!this.#hasOwnClasses) this.#classes = new Set(ACCESS_CLASSES);
    } else if (!this.needsToken) {
      logger.warn("Server reachable from other machines without a token", { url });
    }
  }

  /**
   * Throws an `HttpError` if the request fails the Host, Origin, token or key check. Returns the client that owns the
   * request's key, or undefined if the request carries the token or no credentials are required.
   */
  authorize(req: IncomingMessage): ApiClient | undefined {
    this.checkHostAndOrigin(req);
    const { authorization } = req.headers;
    if (authorization !== undefined && countHeader(req.rawHeaders, "authorization") > 1) {
      throw new HttpError(400, "The request has more than one Authorization header.");
    }
    // CORS preflight requests do not carry a token.
    if (req.method === "OPTIONS" || this.#isOpen || this.#hasToken(req)) return undefined;
    if (this.#needsKey) return this.#clientOf(req);
    const problem = authorization === undefined ? "is missing" : "does not contain it";
    throw unauthorized(
      `The Authorization header ${problem}: send the token of ${this.#flag("token-file")} as "Authorization: Bearer TOKEN".`,
    );
  }

  #clientOf(req: IncomingMessage): ApiClient {
    const key = keyOf(req);
    const client = this.#clients?.find(key);
    if (client) return client;
    if (key !== undefined) throw unauthorized("The API key is unknown.");
    throw unauthorized(
      'The API key is missing: send it as "X-Api-Key: KEY", as "Authorization: Bearer KEY" or as the first path segment.',
    );
  }

  /** Calls the listener after changes that may revoke the access of open connections. */
  onAccessChange(listener: () => void): void {
    this.#clients?.onChange(listener);
  }

  /**
   * Returns a function that returns the reason why an authorized request's connection must be closed, or undefined as
   * long as the connection may stay open.
   */
  revocationOf(req: IncomingMessage): RevocationReason {
    if (this.#clients === undefined || this.#hasToken(req)) return () => undefined;
    const clients = this.#clients;
    const key = keyOf(req);
    const client = clients.find(key);
    return () => {
      if (clients.find(key) === client && (client !== undefined || !clients.isRequired)) return undefined;
      return client ? KEY_REVOKED : "The server requires an API key now.";
    };
  }

  /** Throws an `HttpError` if the request fails the Host or Origin check. */
  checkHostAndOrigin(req: IncomingMessage): void {
    const { origin } = req.headers;
    // HTTP/1.0, which browsers do not use, has no Host header.
    const host = hostHeaderOf(req, this.#knownHost);
    if (host !== undefined && host !== this.#knownHost) {
      const name = hostNameOf(host)!;
      if (!this.#isOwnName(name)) {
        throw new HttpError(403, `Host ${quoted(name)} is not allowed. Add it with ${this.#flag("vhosts")}.`);
      }
      this.#knownHost = host;
    }
    if (
      origin !== undefined &&
      !this.origins.allows(origin) &&
      !(host !== undefined && isSameAuthority(origin, host))
    ) {
      const flag = this.#flag("allow-origin");
      throw new HttpError(403, `Origin ${quoted(origin)} is not allowed. Add it with ${flag}.`);
    }
  }

  /** Returns true if the request carries the token or a known key, or if no credentials are required. */
  isAuthenticated(req: IncomingMessage): boolean {
    return this.#isOpen || this.#hasToken(req) || (this.#needsKey && this.#clients!.find(keyOf(req)) !== undefined);
  }

  get #isOpen(): boolean {
    return this.#tokenHash === undefined && !this.#needsKey;
  }

  #hasToken({ headers: { authorization } }: IncomingMessage): boolean {
    if (this.#tokenHash === undefined) return false;
    const token = BEARER.exec(authorization ?? "")?.[1];
    return token !== undefined && timingSafeEqual(hashOf(token), this.#tokenHash);
  }

  /** Returns the caller's rights, limited to the classes served by the server. */
  rightsOf(req: IncomingMessage, client: ApiClient | undefined): AccessRights {
    if (!client) {
      return { denialReason: ({ access }) => this.denialReason(access, () => this.isPrivileged(req)) };
    }
    return {
      // For clients with a key, the classes of the key decide whether privileged methods are allowed.
      denialReason: (method) => this.denialReason(method.access, () => true) ?? client.denialReason(method),
      charge: (method) => client.charge(method),
    };
  }

  /** Returns true if the caller may use privileged classes. */
  isPrivileged({ headers, socket }: IncomingMessage): boolean {
    if (this.#tokenHash !== undefined) return true;
    // A forwarded request may originate anywhere.
    if (PROXY_HEADERS.some((name) => headers[name] !== undefined)) return false;
    if (headers.origin !== undefined && !this.#isTrusted(headers.origin, headers.host)) return false;
    return isLoopbackAddress(socket.remoteAddress ?? "");
  }

  /**
   * Returns the reason why the caller may not use the class, or undefined if it may. `isPrivileged` is called only for
   * privileged classes.
   */
  denialReason(access: AccessClass, isPrivileged: () => boolean): string | undefined {
    if (!this.#classes.has(access)) {
      const servedClasses = [...this.#classes].join(", ");
      return `Access class "${access}" is not served, only ${servedClasses}. Enable it with ${this.#flag("api")}.`;
    }
    if (!PRIVILEGED_CLASSES.includes(access) || isPrivileged()) return undefined;
    return (
      `Access class "${access}" is served only to local callers: not through a proxy, and to web pages only of origins listed in ` +
      `${this.#flag("allow-origin")}. Remote callers need the token of ${this.#flag("token-file")}.`
    );
  }

  /** Returns true for trusted origins and for the server's own pages, whose origin other pages cannot forge. */
  #isTrusted(origin: string, host: string | undefined): boolean {
    return this.origins.isTrusted(origin) || (this.#hasPages && host !== undefined && isSameAuthority(origin, host));
  }

  /**
   * Returns true for accepted Host names. Addresses are safe because, unlike a name, they cannot be rebound (DNS
   * rebinding).
   */
  #isOwnName(name: string): boolean {
    return isIP(name) !== 0 || isLoopbackHost(name) || this.#virtualHosts.has(name) || this.#virtualHosts.has("*");
  }
}

function unauthorized(message: string): HttpError {
  return new HttpError(401, message, { "WWW-Authenticate": "Bearer" });
}

/** Hashes to a fixed length, which `timingSafeEqual` requires. */
function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

function quoted(text: string): string {
  return JSON.stringify(truncate(text, MAX_QUOTE_LENGTH));
}
