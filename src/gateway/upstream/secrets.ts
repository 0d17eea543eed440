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

/** As the bytes of a text look where each is taken for a character. */
const latin1Of = (text: string): string => Buffer.from(text).toString("latin1");
