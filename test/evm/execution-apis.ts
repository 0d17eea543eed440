import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2019, type ValidateFunction } from "ajv/dist/2019.js";
import { parse } from "yaml";

// Reads a checkout of ethereum/execution-apis: method definitions and schemas below src/, requests below tests/.

const METHOD_FOLDERS = ["eth", "debug", "txpool"];
const COMPONENT = "#/components/schemas/";
const SCHEMA_ID = "https://execution-apis/";

interface MethodSpec {
  name: string;
  result: { schema: object };
}

export interface RecordedExchange {
  file: string;
  method: string;
  params: unknown[];
  isError: boolean;
}

export class ExecutionApis {
  readonly #directory: string;
  readonly #results: ReadonlyMap<string, object>;
  readonly #ajv = new Ajv2019({ strict: false, allErrors: true });

  constructor(directory: string) {
    this.#directory = directory;
    const specs = METHOD_FOLDERS.flatMap((folder) => this.#yaml<MethodSpec[]>(folder)).flat();
    this.#results = new Map(specs.map(({ name, result }) => [name, withIds(result.schema)]));
    const components = Object.assign({}, ...this.#yaml<Record<string, object>>("schemas")) as Record<string, object>;
    for (const [name, schema] of Object.entries(components)) {
      this.#ajv.addSchema({ ...withIds(schema), $id: SCHEMA_ID + name });
    }
  }

  get methods(): string[] {
    return [...this.#results.keys()];
  }

  /** Validator of a method's result. */
  result(method: string): ValidateFunction {
    return this.#ajv.compile(this.#results.get(method)!);
  }

  /** Validator of a schema in `components`. */
  component(name: string): ValidateFunction {
    return this.#ajv.getSchema(SCHEMA_ID + name)!;
  }

  /** Requests of the `.io` files with the kind of their response. */
  exchanges(): RecordedExchange[] {
    const tests = join(this.#directory, "tests");
    const files = readdirSync(tests, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".io"));
    return files.flatMap((file) => {
      const lines = readFileSync(join(tests, file), "utf8").split("\n");
      const sent = lines.filter((line) => line.startsWith(">> ")).map((line) => JSON.parse(line.slice(3)));
      const received = lines.filter((line) => line.startsWith("<< ")).map((line) => JSON.parse(line.slice(3)));
      return sent.map(({ method, params = [] }, index) => ({
        file,
        method,
        params,
        isError: received[index]?.error !== undefined,
      }));
    });
  }

  #yaml<T>(folder: string): T[] {
    const path = join(this.#directory, "src", folder);
    return readdirSync(path)
      .filter((name) => name.endsWith(".yaml"))
      .map((name) => parse(readFileSync(join(path, name), "utf8")) as T);
  }
}

/** Turns references to components into the ids under which they are registered. */
function withIds<T extends object>(schema: T): T {
  return JSON.parse(JSON.stringify(schema).replaceAll(`"${COMPONENT}`, `"${SCHEMA_ID}`)) as T;
}
