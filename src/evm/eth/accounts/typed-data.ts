import type { Keccak } from "../../state/trie.ts";

/** EIP-712 message for `eth_signTypedData_v4`. */
export interface TypedData {
  types: Readonly<Record<string, readonly TypedField[]>>;
  primaryType: string;
  domain: Readonly<Record<string, unknown>>;
  message: Readonly<Record<string, unknown>>;
}

export interface TypedField {
  name: string;
  type: string;
}

const DOMAIN = "EIP712Domain";
const WORD = 32;
const ARRAY = /^(.*)\[(\d*)\]$/;
const INTEGER = /^(u?)int(\d*)$/;
const FIXED_BYTES = /^bytes(\d+)$/;

/** Returns the hash to sign (EIP-712). Throws a `TypeError` if a value does not match its type. */
export function typedDataHash(typed: TypedData, keccak: Keccak): Uint8Array {
  const encoder = new TypedDataEncoder(typed.types, keccak);
  const parts = [Uint8Array.of(0x19, 0x01), encoder.hashStruct(DOMAIN, typed.domain)];
  if (typed.primaryType !== DOMAIN) parts.push(encoder.hashStruct(typed.primaryType, typed.message));
  return keccak(Buffer.concat(parts));
}

class TypedDataEncoder {
  readonly #types: TypedData["types"];
  readonly #keccak: Keccak;

  constructor(types: TypedData["types"], keccak: Keccak) {
    this.#types = types;
    this.#keccak = keccak;
  }

  hashStruct(type: string, value: unknown): Uint8Array {
    if (typeof value !== "object" || value === null) throw new TypeError(`"${type}" has to be an object`);
    const fields = this.#fieldsOf(type).map((field) =>
      this.#encode(field.type, (value as Record<string, unknown>)[field.name], field.name),
    );
    return this.#keccak(Buffer.concat([this.#keccak(Buffer.from(this.#encodeType(type))), ...fields]));
  }

  /** Encodes a type and all types it references, sorted by name. */
  #encodeType(type: string): string {
    const found = new Set<string>();
    const visit = (name: string) => {
      const [base] = name.split("[");
      if (found.has(base!) || this.#types[base!] === undefined) return;
      found.add(base!);
      for (const field of this.#fieldsOf(base!)) visit(field.type);
    };
    visit(type);
    found.delete(type);
    return [type, ...[...found].sort()]
      .map((name) => `${name}(${this.#fieldsOf(name).map((field) => `${field.type} ${field.name}`)})`)
      .join("");
  }

  #encode(type: string, value: unknown, name: string): Uint8Array {
    const array = ARRAY.exec(type);
    if (array) return this.#encodeArray(array[1]!, array[2]!, value, name);
    // A missing struct is encoded as zero.
    if (this.#types[type] !== undefined) return value == null ? new Uint8Array(WORD) : this.hashStruct(type, value);
    if (type === "string") return this.#keccak(Buffer.from(required(value, "string", name)));
    if (type === "bytes") return this.#keccak(bytesFrom(value, name));
    return encodeAtom(type, value, name);
  }

  #encodeArray(element: string, length: string, value: unknown, name: string): Uint8Array {
    if (!Array.isArray(value) || (length !== "" && value.length !== Number(length))) {
      throw new TypeError(`"${name}" has to be an array${length && ` of ${length} elements`}`);
    }
    return this.#keccak(Buffer.concat(value.map((item) => this.#encode(element, item, name))));
  }

  #fieldsOf(type: string): readonly TypedField[] {
    const fields = this.#types[type];
    if (fields === undefined) throw new TypeError(`type "${type}" is not defined`);
    return fields;
  }
}

function encodeAtom(type: string, value: unknown, name: string): Uint8Array {
  if (type === "bool") return wordOf(required(value, "boolean", name) ? 1n : 0n);
  if (type === "address") return leftPadded(sized(bytesFrom(value, name), 20, name));
  const size = FIXED_BYTES.exec(type)?.[1];
  if (size !== undefined && Number(size) >= 1 && Number(size) <= WORD) {
    const bytes = sized(bytesFrom(value, name), Number(size), name);
    return Buffer.concat([bytes, new Uint8Array(WORD - bytes.length)]);
  }
  const integer = INTEGER.exec(type);
  if (integer === null) throw new TypeError(`type "${type}" is not defined`);
  return encodeInteger(value, { isSigned: integer[1] === "", bits: BigInt(integer[2] || 256), name });
}

function encodeInteger(value: unknown, { isSigned, bits, name }: { isSigned: boolean; bits: bigint; name: string }) {
  const isNumeric = typeof value === "number" || (typeof value === "string" && /^-?(0x[0-9a-f]+|\d+)$/i.test(value));
  if (!isNumeric || (typeof value === "number" && !Number.isSafeInteger(value))) {
    throw new TypeError(`"${name}" has to be an integer`);
  }
  const text = String(value);
  const integer = text.startsWith("-") ? -BigInt(text.slice(1)) : BigInt(text);
  const [min, max] = isSigned ? [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n] : [0n, 2n ** bits - 1n];
  if (integer < min || integer > max) throw new TypeError(`"${name}" does not fit into ${bits} bits`);
  return wordOf(BigInt.asUintN(256, integer));
}

function required<T extends "string" | "boolean">(value: unknown, type: T, name: string) {
  if (typeof value !== type) throw new TypeError(`"${name}" has to be a ${type}`);
  return value as T extends "string" ? string : boolean;
}

function bytesFrom(value: unknown, name: string): Uint8Array {
  if (typeof value !== "string" || !/^0x([0-9a-f]{2})*$/i.test(value)) throw new TypeError(`"${name}" has to be hex`);
  return Buffer.from(value.slice(2), "hex");
}

function sized(bytes: Uint8Array, size: number, name: string): Uint8Array {
  if (bytes.length !== size) throw new TypeError(`"${name}" has to have ${size} bytes`);
  return bytes;
}

const leftPadded = (bytes: Uint8Array): Uint8Array => Buffer.concat([new Uint8Array(WORD - bytes.length), bytes]);

const wordOf = (integer: bigint): Uint8Array => Buffer.from(integer.toString(16).padStart(2 * WORD, "0"), "hex");
