import { readFileSync } from "node:fs";
import { SYNC_COMMITTEE_SIZE } from "@lodestar/params";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { RestPath } from "../../src/api/definition.ts";

const MAINNET_SYNC_COMMITTEE_SIZE = 512;

export type DocumentVersion = "v2.5.0" | "v4.0.0" | "v5.0.0-alpha";

interface JsonSchema {
  required?: string[];
  properties?: Record<string, JsonSchema>;
  anyOf?: JsonSchema[];
}

interface Document {
  paths: Record<string, Record<string, { requestBody?: Body; responses: Record<string, Body> }>>;
}

interface Body {
  content?: Record<string, { schema: object }>;
}

/** Validates the successful response of a standard operation. */
export interface TwinValidator {
  /** The `data` member, or the whole body when it has none. */
  data: ValidateFunction;
  /** The members besides `data`; undefined if there are none. */
  meta: ValidateFunction | undefined;
}

export interface ValidatorOptions {
  variant?: number;
  younger?: readonly string[];
}

/** One of the standard's documents, with its schemas compiled to validators. */
export class OpenApi {
  readonly version: DocumentVersion;
  readonly #document: Document;
  readonly #ajv: Ajv2020;

  constructor(version: DocumentVersion) {
    this.version = version;
    const text = readFileSync(new URL(`../fixtures/openapi/${version}.json`, import.meta.url), "utf8");
    this.#document = JSON.parse(text, corrected) as Document;
    // OpenAPI adds keywords to JSON Schema (example, discriminator) that a strict Ajv would reject.
    this.#ajv = new Ajv2020({
      strict: false,
      allErrors: true,
      code: { optimize: false },
      formats: { hex: /^0x(?:[0-9a-fA-F]{2})*$/ },
    });
    this.#ajv.addSchema(this.#document, version);
  }

  has({ verb, path }: RestPath): boolean {
    return this.#operation({ verb, path }) !== undefined;
  }

  /** Parts of the operation that may be SSZ. */
  sszOf(path: RestPath): RestPath["ssz"] {
    const { requestBody, responses } = this.#operation(path) ?? {};
    const isSsz = (body: Body | undefined) => body?.content?.["application/octet-stream"] !== undefined;
    if (isSsz(requestBody)) return "body";
    return isSsz(responses?.["200"]) ? "response" : undefined;
  }

  /**
   * Returns undefined if the operation responds with a status only. `variant` selects one of the schemas of a result,
   * which documents list by fork: otherwise an object without its fork's new members would match an older fork. Members
   * besides `data` in `younger` are not required.
   */
  validator(twin: RestPath, { variant = 0, younger = [] }: ValidatorOptions = {}): TwinValidator | undefined {
    const operation = this.#operation(twin);
    if (operation === undefined) throw new Error(`${this.version} has no operation ${twin.verb} ${twin.path}.`);
    const body = operation.responses["200"]?.content?.["application/json"]?.schema as JsonSchema | undefined;
    if (body === undefined) return undefined;
    const place = ["paths", twin.path, verbOf(twin), "responses", "200", "content", "application/json", "schema"];
    const { data, ...beside } = body.properties ?? {};
    if (data === undefined) return { data: this.#compile({ $ref: this.#reference(place) }), meta: undefined };
    const dataPlace = [...place, "properties", "data"];
    const form = data.anyOf ? [...dataPlace, "anyOf", String(variant)] : dataPlace;
    return {
      data: this.#compile({ $ref: this.#reference(form) }),
      meta: this.#besideValidator(body, beside, place, younger),
    };
  }

  #besideValidator(
    { required = [] }: JsonSchema,
    beside: Record<string, JsonSchema>,
    place: string[],
    younger: readonly string[],
  ): ValidateFunction | undefined {
    const names = Object.keys(beside).filter((name) => !younger.includes(name));
    if (names.length === 0) return undefined;
    const propertiesPlace = [...place, "properties"];
    // A member that is itself called "meta" is the metadata.
    if (names.includes("meta")) return this.#compile({ $ref: this.#reference([...propertiesPlace, "meta"]) });
    const properties = names.map((name) => [name, { $ref: this.#reference([...propertiesPlace, name]) }]);
    return this.#compile({
      type: "object",
      required: names.filter((name) => required.includes(name)),
      properties: Object.fromEntries(properties),
    });
  }

  #operation(twin: RestPath) {
    return this.#document.paths[twin.path]?.[verbOf(twin)];
  }

  #compile(schema: object): ValidateFunction {
    return this.#ajv.compile(schema);
  }

  /** A JSON pointer into the document, as a URI fragment (RFC 6901, section 6). */
  #reference(place: readonly string[]): string {
    const pointer = place.map((name) => encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1")));
    return `${this.version}#/${pointer.join("/")}`;
  }
}

/** Forks of an operation whose format the last of them did not change. The document of gloas leaves gloas out. */
const UNCHANGED_SINCE = "fulu";

/** The documents give the size that the sync committee has in the mainnet preset, and incomplete lists of forks. */
function corrected(key: string, value: unknown): unknown {
  if (key === "enum" && (value as string[]).at(-1) === UNCHANGED_SINCE) return [...(value as string[]), "gloas"];
  const { minItems, maxItems } = (value ?? {}) as { minItems?: number; maxItems?: number };
  if (minItems !== MAINNET_SYNC_COMMITTEE_SIZE || maxItems !== MAINNET_SYNC_COMMITTEE_SIZE) return value;
  return { ...(value as object), minItems: SYNC_COMMITTEE_SIZE, maxItems: SYNC_COMMITTEE_SIZE };
}

const verbOf = ({ verb }: RestPath) => verb.toLowerCase();
