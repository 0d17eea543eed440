import type { MethodDefinition } from "../../api/definition.ts";

/** Longer parameters are represented by a file. */
const MAX_INLINE_LENGTH = 200;

/** Example parameter, either as JSON or as a file name. */
export type ExampleParam = { json: string } | { file: string };

/** Returns a parameter as JSON, or as a file named after the parameter if it is long or `isFile` is set. */
export function exampleParam(
  { params }: MethodDefinition,
  position: number,
  value: unknown,
  isFile = false,
): ExampleParam {
  const json = JSON.stringify(value);
  if (!isFile && json.length <= MAX_INLINE_LENGTH) return { json };
  return { file: `${params[Math.min(position, params.length - 1)]!.name}.json` };
}

/** Returns the request for use in a single-quoted shell string. Files are inserted by command substitution. */
export function requestText(name: string, params: readonly ExampleParam[]): string {
  return `{"jsonrpc":"2.0","id":1,"method":"${name}","params":[${params.map(inRequest).join(",")}]}`;
}

/** Returns the lines of a curl call. */
export function curlLines(name: string, params: readonly ExampleParam[]): string[] {
  return [
    "curl -s http://127.0.0.1:9190 -H 'Content-Type: application/json' \\",
    `  -d '${requestText(name, params)}'`,
  ];
}

/** Returns a `fanal call` command line. */
export function cliLine(name: string, params: readonly ExampleParam[]): string {
  return ["fanal call", name, ...params.map(onCommandLine)].join(" ");
}

/** Formats a parameter for use in a single-quoted shell string. A file is inserted by command substitution. */
function inRequest(param: ExampleParam): string {
  return "json" in param ? param.json.replaceAll("'", "'\\''") : `'"$(cat ${param.file})"'`;
}

function onCommandLine(param: ExampleParam): string {
  if ("file" in param) return `@${param.file}`;
  const value: unknown = JSON.parse(param.json);
  // Strings need quotes only if they would otherwise parse as JSON. Integers are accepted in both forms.
  const text = typeof value === "string" && (/^\d+$/.test(value) || !isJson(value)) ? value : param.json;
  return /^[\w.,:=/+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
