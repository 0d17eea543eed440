import type { MethodDefinition } from "../../src/api/definition.ts";
import { cliLine, curlLines, type ExampleParam, exampleParam, requestText } from "../../src/cli/methods/call-lines.ts";
import { type Block, jsonBlock } from "./fenced.ts";

/** Longer statements are broken into lines. */
const MAX_LINE = 100;

/** Returns an example as calls to paste: with curl, `fanal call` and the client. Long parameters are files. */
export function callBlocks(method: MethodDefinition, values: readonly unknown[]): Block[] {
  const { name, needsConnection } = method;
  const params = values.map((value, place) => exampleParam(method, place, value));
  if (needsConnection)
    return [{ language: "json", text: requestText(name, params) }, ...subscriptionBlocks(method, values)];
  const files = params.flatMap((param, place) =>
    "file" in param ? [{ ...jsonBlock(values[place]), file: param.file }] : [],
  );
  return [
    { language: "sh", text: curlLines(name, params).join("\n") },
    { language: "sh", text: cliLine(name, params) },
    { language: "ts", text: clientCall(method, params) },
    ...files,
  ];
}

/** Returns a call with the client. */
function clientCall(method: MethodDefinition, params: readonly ExampleParam[]): string {
  const callee = /^\w+$/.test(method.name) ? `client.${method.name}` : `client[${JSON.stringify(method.name)}]`;
  const named = namedParams(method, params);
  if (named.length === 0) return `await ${callee}();`;
  const line = `await ${callee}({ ${named.join(", ")} });`;
  const call = line.length <= MAX_LINE ? line : `await ${callee}({\n${named.map((each) => `  ${each},\n`).join("")}});`;
  return params.some((param) => "file" in param) ? `import { readFileSync } from "node:fs";\n\n${call}` : call;
}

function namedParams({ params: defined }: MethodDefinition, params: readonly ExampleParam[]): string[] {
  return defined.flatMap(({ name, each }, place) => {
    const given = each ? params.slice(place) : params.slice(place, place + 1);
    const values = given.map(expression).filter((value) => value !== "null");
    if (values.length === 0) return [];
    return [`${name}: ${each && !values[0]!.startsWith("[") ? `[${values.join(", ")}]` : values[0]}`];
  });
}

function expression(param: ExampleParam): string {
  if ("file" in param) return `JSON.parse(readFileSync("${param.file}", "utf8"))`;
  return objectLiteral(JSON.parse(param.json));
}

/** Formats a value as TypeScript, with unquoted names. */
function objectLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(objectLiteral).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${/^\w+$/.test(name) ? name : JSON.stringify(name)}: ${objectLiteral(member)}`,
  );
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

/** The client has its own functions for the events of the beacon chain. */
function subscriptionBlocks({ name }: MethodDefinition, [topics]: readonly unknown[]): Block[] {
  if (name !== "subscribe") return [];
  const text = `await client.subscribe(${objectLiteral(topics)}, ({ topic, data }) => console.log(topic, data));`;
  return [{ language: "ts", text }];
}
