/** Control and format characters. Escaped to keep text from a node from injecting terminal sequences. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/u;
const ALL_UNPRINTABLE = new RegExp(UNPRINTABLE, "gu");
/** Characters to escape in JSON: as above, except tab and line feed, which are harmless between values. */
const UNPRINTABLE_IN_JSON = /[^\P{Cc}\t\n]|[\p{Cf}\u2028\u2029]/gu;

/** Returns the text, or an escaped JSON string if it contains unprintable characters. */
export function printable(text: string): string {
  return text === "" || UNPRINTABLE.test(text)
    ? // JSON.stringify does not escape all unprintable characters.
      JSON.stringify(text).replace(ALL_UNPRINTABLE, escaped)
    : text;
}

/** Escapes unprintable characters in streamed JSON without changing its value. */
export class PrintableJson {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  piece(bytes: Uint8Array): string {
    return printableJson(this.#decoder.decode(bytes, { stream: true }));
  }
}

/** Escapes unprintable characters, including line breaks. */
export function escapeUnprintable(text: string): string {
  return text.replace(ALL_UNPRINTABLE, escaped);
}

export function printableJson(json: string): string {
  return json.replace(UNPRINTABLE_IN_JSON, (character) => (character === "\r" ? " " : escaped(character)));
}

function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
}
