import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { MethodDefinition, Param } from "../../src/api/definition.ts";
import { TOPICS } from "../../src/api/event-stream.ts";
import { methods as allMethods } from "../../src/api/method-groups.ts";
import { paramJsonSchema } from "../../src/api/openrpc.ts";
import { NAMED_SCHEMAS } from "../../src/api/schemas.ts";
import { commentText, member, typeText } from "./type-text.ts";

const PATH = "src/client/methods.ts";
const ROOT = join(import.meta.dirname, "..", "..");

/** What a client has besides, so that no method may have the name. */
const TAKEN = new Set(["call", "batch", "subscribe", "close"]);

/** The types of all methods, as the definitions describe them, for the client. Events have a call of their own there. */
export function generateClientTypes(): { path: string; text: string; methods: number } {
  const methods = allMethods.filter(({ needsConnection }) => !needsConnection);
  const names = methods.flatMap(({ name, aliases }) => [name, ...aliases]);
  const taken = names.find((name) => TAKEN.has(name));
  if (taken !== undefined) throw new Error(`A method cannot be called ${taken}: the client has that name already.`);
  const text = [
    '// Made by "npm run docs" from the definitions of the methods. Changes here are lost: make them there.',
    'import type { CallOptions } from "./call-options.ts";',
    "",
    ...Object.entries(NAMED_SCHEMAS).map(
      ([name, schema]) => `${described(schema)}export type ${name} = ${typeText(schema)};\n`,
    ),
    `/** What can be subscribed to. */\nexport type Topic = ${TOPICS.map((topic) => JSON.stringify(topic)).join(" | ")};`,
    "",
    "/** Every method of a node, by its name; parameters go by theirs. */",
    `export interface Methods { ${methods.map(signatures).join("\n")} }`,
    "",
    `export const METHOD_NAMES = ${JSON.stringify(names)} as const satisfies readonly (keyof Methods)[];`,
  ].join("\n");
  return { path: PATH, text: formatted(text), methods: methods.length };
}

function described({ description }: { description?: unknown }): string {
  return typeof description === "string" ? commentText(description) : "";
}

function signatures({ name, aliases, summary, params, result }: MethodDefinition): string {
  const own = `${commentText(summary)}${JSON.stringify(name)}(${paramsText(params)}, options?: CallOptions): Promise<${typeText(result.schema)}>;`;
  const others = aliases.map(
    (alias) => `${commentText(`Another name of ${name}.`)}${JSON.stringify(alias)}: Methods[${JSON.stringify(name)}];`,
  );
  return [own, ...others].join("\n");
}

function paramsText(params: readonly Param[]): string {
  if (params.length === 0) return "params?: Record<string, never>";
  const members = params.map((param) => member({ ...param, schema: paramJsonSchema(param) }));
  return `params${params.some(({ required }) => required) ? "" : "?"}: {\n${members.join("")}}`;
}

/** As the rest of the sources are. */
function formatted(text: string): string {
  const biome = fileURLToPath(import.meta.resolve("@biomejs/biome/bin/biome"));
  const args = [biome, "check", "--write", `--stdin-file-path=${PATH}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, input: text, encoding: "utf8" });
  if (status !== 0) throw new Error(`${PATH} cannot be formatted: ${stderr}`);
  return stdout;
}
