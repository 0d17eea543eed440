import type { IncomingMessage } from "node:http";
import type { AccessClass } from "../../access-class.ts";

/** The properties of a method on which access depends. */
export interface CalledMethod {
  readonly name: string;
  readonly access: AccessClass;
}

/** The rejection of a call that exceeds a budget. */
export interface BudgetRejection {
  readonly message: string;
  readonly retryAfterSeconds: number;
}

/** Access rights of a caller. */
export interface AccessRights {
  /** Returns the reason why the caller may not call the method, or undefined if it may. */
  denialReason(method: CalledMethod): string | undefined;
  /** Charges a call to the caller's budget. Returns a rejection if this would exceed the budget. */
  charge?(method: CalledMethod): BudgetRejection | undefined | Promise<BudgetRejection | undefined>;
}

/** A client with its own API key. */
export interface ApiClient extends Required<AccessRights> {
  /** The client's name in logs and metrics. */
  readonly name: string;
}

/** Clients with API keys. */
export interface ApiClients {
  /** False if no client is configured, in which case requests need no key. */
  readonly isRequired: boolean;
  /**
   * Returns the client that owns the key, or the anonymous client if there is no key. Undefined if there is no such
   * client.
   */
  find(key: string | undefined): ApiClient | undefined;
  /** Calls the listener after clients have changed. Listeners cannot be removed. */
  onChange(listener: () => void): void;
}

/** Returns the reason why an open connection must be closed, or undefined if it may stay open. */
export type RevocationReason = () => string | undefined;

export const KEY_REVOKED = "The API key was revoked.";

const KEY_HEADER = "x-api-key";
const BEARER = /^Bearer +(\S+) *$/i;
/** The first path segment is a key if it is longer than the first segment of every route. */
const KEY_SEGMENT = /^\/+([\w-]{16,200})(?=[/?]|$)/;
/** Separators of path segments and query values. */
const URL_SEPARATORS = /([/?&=#;,]|%2C)/i;
const KEY_LENGTH_RUN = /[\w-]{16,}/g;
/** A name made of letters, such as `finality_checkpoints` or `get_v1_node_version`, or hex digits after 0x. */
const NAME_OR_HEX = /^(?:0x[\da-f]*|(?:[a-z_]|(?<=_)v\d{1,2}(?=_))*)$/i;
const REDACTED = "…";

/** Returns a request's API key, or undefined if it has none. */
export function keyOf({ headers }: IncomingMessage): string | undefined {
  return headers[KEY_HEADER]?.toString() ?? BEARER.exec(headers.authorization ?? "")?.[1];
}

/** Moves an API key from the path of a request to a header, so that neither routes nor logs see the key. */
export function moveKeyToHeader(req: IncomingMessage): void {
  const [prefix, key] = KEY_SEGMENT.exec(req.url ?? "") ?? [];
  if (prefix === undefined || key === undefined) return;
  const path = req.url!.slice(prefix.length);
  req.url = path.startsWith("/") ? path : `/${path}`;
  req.headers[KEY_HEADER] ??= key;
}

/** Redacts all parts of a URL, or of a text that contains a path, that contain or resemble an API key. */
export function redactKeys(text: string, clients: ApiClients): string {
  const isKey = (part: string) => part !== "" && clients.find(part) !== undefined;
  const isRedacted = (part: string) =>
    isKey(part) ||
    // Percent-encoding may hide a key.
    (part.includes("%") && !/^%2C$/i.test(part)) ||
    (part.match(KEY_LENGTH_RUN) ?? []).some((run) => !NAME_OR_HEX.test(run) || isKey(run));
  return text
    .split(URL_SEPARATORS)
    .map((part) => (isRedacted(part) ? REDACTED : part))
    .join("");
}
