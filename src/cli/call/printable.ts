/** Characters that would move the cursor or hide something: a node's text must not steer a terminal. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/u;
const ALL_UNPRINTABLE = new RegExp(UNPRINTABLE, "gu");
/** Valid JSON has them only between its values, where tab and line feed are harmless and escapes would not be JSON. */
const UNPRINTABLE_IN_JSON = /[^\P{Cc}\t\n]|[\p{Cf}\u2028\u2029]/gu;

/** A text as it is, or as a JSON string when something in it cannot be printed. */
export function printable(text: string): string {
  return text === "" || UNPRINTABLE.test(text)
    ? // JSON.stringify leaves some of the unprintable characters as they are.
      JSON.stringify(text).replace(ALL_UNPRINTABLE, escaped)
    : text;
}

/** Makes JSON that arrives in pieces printable, and leaves it the JSON of the same value. */
export class PrintableJson {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  piece(bytes: Uint8Array): string {
    return printableJson(this.#decoder.decode(bytes, { stream: true }));
  }
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
