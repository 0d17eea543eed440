import type { Type } from "@chainsafe/ssz";
import snappy from "snappy";
import { loadYaml, parseYaml } from "../../../src/runtime/load-yaml.ts";

/** Fork, runner, handler, suite and name of a case: the folders of the official layout. */
export interface CasePath {
  fork: string;
  runner: string;
  handler: string;
  suite: string;
  name: string;
}

/** Case of the reference vectors of ethereum/consensus-specs: a folder of raw snappy SSZ and YAML files. */
export class VectorCase {
  readonly path: CasePath;
  readonly #files: ReadonlyMap<string, () => Uint8Array>;

  /** Files by name, with extension. */
  constructor(path: CasePath, files: ReadonlyMap<string, () => Uint8Array>) {
    this.path = path;
    this.#files = files;
  }

  /** Unique within fork and runner. */
  get id(): string {
    const { handler, suite, name } = this.path;
    return suite === "pyspec_tests" ? `${handler}/${name}` : `${handler}/${suite}/${name}`;
  }

  /** True if the case has an SSZ file of this name, without extension. */
  has(name: string): boolean {
    return this.#files.has(`${name}.ssz_snappy`);
  }

  /** Returns the names of the SSZ files that start with this, without extension. */
  names(prefix: string): string[] {
    const files = [...this.#files.keys()].filter((file) => file.startsWith(prefix) && file.endsWith(".ssz_snappy"));
    return files.map((file) => file.slice(0, -".ssz_snappy".length));
  }

  /** Returns an SSZ file, decompressed. */
  bytes(name: string): Uint8Array {
    const buffer = snappy.uncompressSync(this.#read(`${name}.ssz_snappy`)) as Buffer;
    return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
  }

  ssz<T>(name: string, type: Pick<Type<T>, "deserialize">): T {
    return type.deserialize(this.bytes(name));
  }

  /** Returns a YAML file. Integers beyond 2^53 lose precision. */
  yaml<T>(name: string): T {
    return loadYaml().parse(Buffer.from(this.#read(`${name}.yaml`)).toString()) as T;
  }

  /** Returns a YAML file, or a default if the case has none. */
  yamlOr<T>(name: string, fallback: T): T {
    return this.#files.has(`${name}.yaml`) ? this.yaml<T>(name) : fallback;
  }

  /** Returns the scalars of a YAML file as text; an empty object if the case has none. */
  yamlTexts(name: string): Record<string, unknown> {
    const file = `${name}.yaml`;
    if (!this.#files.has(file)) return {};
    return parseYaml(Buffer.from(this.#read(file)).toString()) as Record<string, unknown>;
  }

  #read(file: string): Uint8Array {
    const read = this.#files.get(file);
    if (!read) throw new Error(`The case ${this.id} has no file ${file}.`);
    return read();
  }
}
