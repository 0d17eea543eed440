/** A JSON value is invalid. The message is a clause containing the path of the value. */
export class UnexpectedValueError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UnexpectedValueError";
  }
}

/** Truncation limit for displayed values. */
const SHOWN_CHARACTERS = 80;

const QUANTITY = /^0x(?:0|[1-9a-fA-F][0-9a-fA-F]*)$/;

/**
 * A JSON value received from an execution client, with its path. Decodes strictly according to the encoding rules of
 * the Ethereum JSON-RPC API.
 */
export class JsonValue {
  readonly #value: unknown;
  readonly #path: string;

  constructor(value: unknown, path: string) {
    this.#value = value;
    this.#path = path;
  }

  /** True for null and for missing members. */
  get isAbsent(): boolean {
    return this.#value === null || this.#value === undefined;
  }

  member(name: string): JsonValue {
    const value = this.#value;
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw this.#unexpected("an object");
    return new JsonValue((value as Record<string, unknown>)[name], `${this.#path}.${name}`);
  }

  list(): JsonValue[] {
    if (!Array.isArray(this.#value)) throw this.#unexpected("a list");
    return this.#value.map((item, index) => new JsonValue(item, `${this.#path}[${index}]`));
  }

  text(): string {
    if (typeof this.#value !== "string") throw this.#unexpected("a string");
    return this.#value;
  }

  boolean(): boolean {
    if (typeof this.#value !== "boolean") throw this.#unexpected("true or false");
    return this.#value;
  }

  oneOf<const T extends string>(choices: readonly T[]): T {
    const choice = choices.find((choice) => choice === this.#value);
    if (choice === undefined) throw this.#unexpected(`one of ${choices.join(", ")}`);
    return choice;
  }

  /** Decodes DATA of a fixed length. */
  bytes(length: number): Uint8Array {
    const bytes = this.byteList();
    if (bytes.length !== length) throw this.#unexpected(`0x and ${2 * length} hexadecimal digits`);
    return bytes;
  }

  /** Decodes DATA of any length. */
  byteList(maxLength = Number.POSITIVE_INFINITY): Uint8Array {
    const text = this.#value;
    // `Buffer.from` stops at an invalid digit and returns fewer bytes.
    const bytes = typeof text === "string" && text.startsWith("0x") ? Buffer.from(text.slice(2), "hex") : undefined;
    if (bytes === undefined || 2 * bytes.length !== (text as string).length - 2 || bytes.length > maxLength) {
      const limit = Number.isFinite(maxLength) ? `, of at most ${maxLength} bytes` : "";
      throw this.#unexpected(`0x and two hexadecimal digits per byte${limit}`);
    }
    return new Uint8Array(bytes);
  }

  /** Decodes a QUANTITY up to 2^53 - 1. */
  number(): number {
    const quantity = this.bigint(64);
    if (quantity > Number.MAX_SAFE_INTEGER) throw this.#unexpected("a quantity below 2^53");
    return Number(quantity);
  }

  /** Decodes a QUANTITY of at most `bits` bits. */
  bigint(bits: number): bigint {
    const text = this.#value;
    const isQuantity = typeof text === "string" && text.length <= 2 + bits / 4 && QUANTITY.test(text);
    if (!isQuantity) throw this.#unexpected(`a quantity of at most ${bits} bits such as 0x1f`);
    return BigInt(text);
  }

  #unexpected(expected: string): UnexpectedValueError {
    if (this.#value === undefined) return new UnexpectedValueError(`${this.#path} is missing`);
    const shown = (JSON.stringify(this.#value) ?? String(this.#value)).slice(0, SHOWN_CHARACTERS);
    return new UnexpectedValueError(`${this.#path} must be ${expected}, got ${shown}`);
  }
}

/** Encodes DATA. */
export function toData(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex")}`;
}

/** Encodes a QUANTITY. */
export function toQuantity(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}
