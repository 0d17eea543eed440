import type { UpstreamSettings } from "../../settings.ts";

/** Shorter strings may occur in any text by chance. */
const MIN_SECRET_LENGTH = 8;
const REDACTED = "***";

/** Returns the secrets of an upstream: its header values, and the password both plain and in Base64. */
export function extractSecrets({
  authorization,
  headers = {},
}: Pick<UpstreamSettings, "authorization" | "headers">): readonly string[] {
  const [scheme, credentials = ""] = authorization?.split(" ") ?? [];
  const password =
    scheme === "Basic"
      ? Buffer.from(credentials, "base64")
          .toString("utf8")
          .replace(/^[^:]*:/, "")
      : "";
  return [credentials, password, ...Object.values(headers)].filter(({ length }) => length >= MIN_SECRET_LENGTH);
}

/** Replaces secrets in a body, because an upstream or proxy may echo them. */
export function redactSecrets(body: Buffer, secrets: readonly string[]): Buffer {
  let redacted = body;
  for (const secret of secrets) {
    if (!redacted.includes(secret)) continue;
    redacted = Buffer.from(redacted.toString("latin1").replaceAll(asLatin1(secret), REDACTED), "latin1");
  }
  return redacted;
}

/** Redacts secrets in a stream. Keeps its length, which the Content-Length header has already announced. */
export class SecretRedactor {
  readonly #secrets: readonly Buffer[];
  readonly #longest: number;
  /** Bytes that may be the start of a secret. */
  #partial: Buffer = Buffer.alloc(0);

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets.map((secret) => Buffer.from(secret));
    this.#longest = Math.max(...this.#secrets.map(({ length }) => length));
  }

  /** Returns the bytes that can be forwarded. */
  push(chunk: Buffer): Buffer {
    const bytes = this.#redact(this.#partial.length === 0 ? chunk : Buffer.concat([this.#partial, chunk]));
    const end = Math.max(0, bytes.length - this.#longest + 1);
    // A copy, because the chunk may be a slice of a large buffer.
    this.#partial = Buffer.from(bytes.subarray(end));
    return bytes.subarray(0, end);
  }

  /** Returns the remaining bytes. */
  end(): Buffer {
    return this.#partial;
  }

  /** Copies the bytes only if they contain a secret. */
  #redact(bytes: Buffer): Buffer {
    let redacted = bytes;
    for (const secret of this.#secrets) {
      for (let at = redacted.indexOf(secret); at !== -1; at = redacted.indexOf(secret, at + secret.length)) {
        if (redacted === bytes) redacted = Buffer.from(bytes);
        redacted.fill("*", at, at + secret.length);
      }
    }
    return redacted;
  }
}

const asLatin1 = (text: string): string => Buffer.from(text).toString("latin1");
