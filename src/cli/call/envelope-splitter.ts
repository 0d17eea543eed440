const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

type Expecting = "object" | "key" | "key text" | "colon" | "value" | "rest of value" | "comma" | "nothing";

/** Part of a member's value. */
interface MemberPiece {
  name: string;
  bytes: Buffer;
}

/**
 * Splits a JSON object into its members as bytes arrive, without parsing the values, so that results of any size can be
 * streamed. Tracks only strings and brackets; invalid JSON within a value is left to the parser for that value.
 */
export class EnvelopeSplitter {
  #expecting: Expecting = "object";
  #name = "";
  #nameBytes: Buffer[] = [];
  #depth = 0;
  #inString = false;
  #escaped = false;

  /** True once the complete object has been read. */
  get isComplete(): boolean {
    return this.#expecting === "nothing";
  }

  /** Yields the parts of values in a chunk. Throws a `SyntaxError` if the input is not an object. */
  *split(chunk: Buffer): Generator<MemberPiece> {
    for (let at = 0; at < chunk.length; ) {
      if (this.#expecting === "value" && !isBlank(chunk[at]!)) this.#expecting = "rest of value";
      if (this.#expecting === "rest of value") {
        const end = this.#endOfValue(chunk, at);
        if (end > at) yield { name: this.#name, bytes: chunk.subarray(at, end) };
        at = end;
      } else if (this.#expecting === "key text") {
        at = this.#readKey(chunk, at);
      } else {
        this.#readPunctuation(chunk[at]!);
        at++;
      }
    }
  }

  #readPunctuation(byte: number): void {
    if (isBlank(byte)) return;
    if (this.#expecting === "object" && byte === OPENING_BRACE) this.#expecting = "key";
    else if (this.#expecting === "key" && byte === QUOTE) this.#expecting = "key text";
    else if (this.#expecting === "colon" && byte === COLON) this.#expecting = "value";
    else if (this.#expecting === "comma" && byte === COMMA) this.#expecting = "key";
    else if ((this.#expecting === "comma" || this.#expecting === "key") && byte === CLOSING_BRACE) {
      this.#expecting = "nothing";
    } else throw new SyntaxError("It is not one JSON object.");
  }

  #readKey(chunk: Buffer, start: number): number {
    const end = chunk.indexOf(QUOTE, start);
    this.#nameBytes.push(chunk.subarray(start, end === -1 ? chunk.length : end));
    if (end === -1) return chunk.length;
    this.#name = Buffer.concat(this.#nameBytes).toString("utf8");
    this.#nameBytes = [];
    this.#expecting = "colon";
    return end + 1;
  }

  /** Returns the end of the value in this chunk, or the chunk length if the value continues in the next chunk. */
  #endOfValue(chunk: Buffer, start: number): number {
    for (let at = start; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inString = false;
      } else if (byte === QUOTE) {
        this.#inString = true;
      } else if (byte === OPENING_BRACKET || byte === OPENING_BRACE) {
        this.#depth++;
      } else if (this.#depth > 0 && (byte === CLOSING_BRACKET || byte === CLOSING_BRACE)) {
        this.#depth--;
      } else if (this.#depth === 0 && (byte === COMMA || byte === CLOSING_BRACE)) {
        this.#expecting = "comma";
        return at;
      }
    }
    return chunk.length;
  }
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}
