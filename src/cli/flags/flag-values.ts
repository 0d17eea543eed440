import { isIP } from "node:net";
import { MAX_SPEED } from "../../chain/clock/clock.ts";
import { parseGraffiti } from "../../chain/production/graffiti.ts";
import { LogSpecError, parseLogSpec } from "../../log/log-spec.ts";

/** Invalid flag value. The message continues the sentence "The value … of --flag is not accepted: ". */
export class FlagValueError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "FlagValueError";
  }
}

/** A word following a URL that is neither a known upstream setting nor another URL. */
const UNKNOWN_WORD = /\s(?!(?:name|tier|weight|token-file)=|[a-z]+:\/\/)([^\s=]*=)?\S+/gi;

/**
 * Removes user, password and query from URLs in a text, even malformed ones, and unknown settings that follow a URL.
 */
export function withoutCredentials(text: string): string {
  const withoutUser = text.replaceAll(/\/\/[^\s,]*@/g, "//…@").replaceAll(/[^\s,/…]+@/g, "…@");
  const withoutQuery = withoutUser.replaceAll(/(:\/[^\s?#]*[?#])[^\s,]+/g, "$1…");
  return withoutQuery.includes("//") ? withoutQuery.replaceAll(UNKNOWN_WORD, " $1…") : withoutQuery;
}

/** Describes a range of integers, such as `a whole number of seconds from 1 to 60`. */
export function wholeNumberRange(min: number, max = Number.MAX_SAFE_INTEGER, unit?: string): string {
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  return `a whole number${unit === undefined ? "" : ` of ${unit}`} ${range}`;
}

/** Returns a parser for integers. `unit` is the unit of the number, such as seconds. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER, unit?: string): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value > Number.MAX_SAFE_INTEGER) throw new FlagValueError(`it must be at most ${max}`);
    if (!(value >= min && value <= max)) throw new FlagValueError(`it must be ${wholeNumberRange(min, max, unit)}`);
    return value;
  };
}

/** Parses a blob count or a range of counts. */
export function blobCounts(text: string): { min: number; max: number } {
  const [, min = "", max = min] = /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(text) ?? [];
  if (min === "" || Number(max) < Number(min)) {
    throw new FlagValueError("it must be a number of blobs or an ascending range, such as 3 or 0-6");
  }
  return { min: Number(min), max: Number(max) };
}

/** Parses a number of epochs, or "all" as infinity. */
export function epochsOrAll(text: string): number {
  if (text === "all") return Number.POSITIVE_INFINITY;
  if (!/^\d{1,15}$/.test(text)) throw new FlagValueError('it must be a whole number of epochs of at least 0, or "all"');
  return Number(text);
}

export function uint64(text: string): bigint {
  const value = /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
  if (value === undefined || value >= 2n ** 64n) throw new FlagValueError("it must be a whole number from 0 to 2^64-1");
  return value;
}

export function positiveNumber(text: string): number {
  const value = plainNumber(text);
  if (!(value > 0 && Number.isFinite(value))) {
    throw new FlagValueError("it must be a number greater than 0, such as 2 or 0.5");
  }
  return value;
}

export function speedFactor(text: string): number {
  const value = plainNumber(text);
  if (!(value >= 0 && value <= MAX_SPEED)) {
    throw new FlagValueError(`it must be a number from 0 to ${MAX_SPEED}, such as 2 or 0.5`);
  }
  return value;
}

function plainNumber(text: string): number {
  return /^(?:\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
}

export function oneOf<const T extends string>(choices: readonly T[]): (text: string) => T {
  return (text) => {
    const match = choices.find((choice) => choice === text);
    if (match === undefined) {
      throw new FlagValueError(`it must be ${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`);
    }
    return match;
  };
}

export function truth(text: string): boolean {
  if (text === "true" || text === "1") return true;
  if (text === "false" || text === "0") return false;
  throw new FlagValueError("it must be true or false");
}

export function nonEmpty(noun: string): (text: string) => string {
  return (text) => {
    if (text.trim() === "") throw new FlagValueError(`it must be ${noun}, and it is empty`);
    return text;
  };
}

export function address(text: string): string {
  const hostName = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/i;
  const looksNumeric = /^[\d.]+$/.test(text);
  if (isIP(text) === 0 && (looksNumeric || !hostName.test(text))) {
    throw new FlagValueError("it must be an IP address or a host name to listen on, such as 127.0.0.1");
  }
  return text;
}

/** Parses an IP address or a network in CIDR notation. */
export function network(text: string): string {
  const [ip = "", prefix] = text.split("/");
  const version = isIP(ip);
  const isPrefixValid =
    prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 6 ? 128 : 32));
  if (version === 0 || !isPrefixValid || text.split("/").length > 2) {
    throw new FlagValueError("it must be an IP address or a network such as 10.0.0.0/8");
  }
  return text;
}

/** Parses a file name or an http(s) URL. */
export function fileOrUrl(text: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text) && !(/^https?:/i.test(text) && URL.canParse(text))) {
    throw new FlagValueError("it must be a file or a URL that begins with http:// or https://");
  }
  return nonEmpty("a file or a URL")(text);
}

export function httpUrl(text: string): string {
  if (!/^https?:\/\//i.test(text)) {
    throw new FlagValueError("it must be a URL that begins with http:// or https://");
  }
  if (!URL.canParse(text)) throw new FlagValueError("it is not a URL: its host or port is invalid");
  return text;
}

/** Parses a checkpoint in the form ROOT or ROOT:EPOCH. */
export function checkpointPin(text: string): { root: string; epoch: number | undefined } {
  const [, root, epoch] = /^(0x[0-9a-f]{64})(?::(\d{1,15}))?$/i.exec(text) ?? [];
  if (root === undefined) {
    throw new FlagValueError(
      "it must be a block root of 0x and 64 hex digits, optionally followed by an epoch: ROOT:EPOCH",
    );
  }
  return { root: root.toLowerCase(), epoch: epoch === undefined ? undefined : Number(epoch) };
}

export function contractAddress(text: string): string {
  if (!/^0x[0-9a-f]{40}$/i.test(text)) throw new FlagValueError("it must be an address: 0x and 40 hex digits");
  return text.toLowerCase();
}

/** Parses an address into 20 bytes. */
export function feeRecipient(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(contractAddress(text).slice(2), "hex"));
}

/** Validates a log specification and returns it unchanged. */
export function logSpec(text: string): string {
  try {
    parseLogSpec(text);
  } catch (error) {
    if (!(error instanceof LogSpecError)) throw error;
    throw new FlagValueError(error.message.replace(/^The /, "the ").replace(/\.$/, ""));
  }
  return text;
}

export function graffiti(text: string): Uint8Array {
  const bytes = parseGraffiti(text);
  if (!bytes) {
    throw new FlagValueError("it must be text of at most 32 bytes, or 0x and an even number of at most 64 hex digits");
  }
  return bytes;
}

/** Parses a host name without a port. Underscores are allowed, since cluster-internal names use them. */
export function virtualHost(text: string): string {
  if (text !== "*" && !/^[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?$/i.test(text)) {
    throw new FlagValueError("it must be * or a host name such as node.example, without a scheme and a port");
  }
  return text.toLowerCase();
}

/** Parses a web origin: scheme, host and port. */
export function webOrigin(text: string): string {
  if (text === "*") return text;
  if (!URL.canParse(text) || new URL(text).origin !== text.toLowerCase()) {
    throw new FlagValueError("it must be * or an origin such as http://localhost:3000, without a path");
  }
  return text.toLowerCase();
}
