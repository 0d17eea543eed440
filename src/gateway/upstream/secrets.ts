/** A shorter one may stand in any text by chance. */
const SHORTEST = 8;
const CONCEALED = "***";

/** What of the header Authorization nobody may see: the token, or the password in both of its forms. */
export function secretsIn(authorization: string | undefined): readonly string[] {
  const [scheme, credentials = ""] = authorization?.split(" ") ?? [];
  const password =
    scheme === "Basic"
      ? Buffer.from(credentials, "base64")
          .toString("utf8")
          .replace(/^[^:]*:/, "")
      : "";
  return [credentials, password].filter(({ length }) => length >= SHORTEST);
}

/** An upstream, or something in front of it, may repeat in an answer what it was sent. */
export function withoutSecrets(body: Buffer, secrets: readonly string[]): Buffer {
  let concealed = body;
  for (const secret of secrets) {
    if (!concealed.includes(secret)) continue;
    concealed = Buffer.from(concealed.toString("latin1").replaceAll(latin1Of(secret), CONCEALED), "latin1");
  }
  return concealed;
}

/** The same of a body that comes in pieces, whose length has been told and stays. */
export class PiecesWithoutSecrets {
  readonly #secrets: readonly string[];
  readonly #longest: number;
  /** What may be the beginning of a secret. */
  #held: Buffer = Buffer.alloc(0);

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets.map(latin1Of);
    this.#longest = Math.max(...this.#secrets.map(({ length }) => length));
  }

  /** What can be passed on, in memory of its own. */
  push(piece: Buffer): Buffer {
    let text = Buffer.concat([this.#held, piece]).toString("latin1");
    for (const secret of this.#secrets) text = text.replaceAll(secret, "*".repeat(secret.length));
    const bytes = Buffer.from(text, "latin1");
    const end = Math.max(0, bytes.length - this.#longest + 1);
    this.#held = bytes.subarray(end);
    return bytes.subarray(0, end);
  }

  /** What is left when all has come. */
  end(): Buffer {
    return this.#held;
  }
}

/** As the bytes of a text look where each is taken for a character. */
const latin1Of = (text: string): string => Buffer.from(text).toString("latin1");
