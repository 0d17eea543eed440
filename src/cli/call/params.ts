import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { usageError } from "../exit.ts";

interface ParamSources {
  workingDirectory: string;
  readInput(): Promise<Buffer>;
}

/** Matches NAME=VALUE. A literal string in this form must be quoted. */
const NAMED = /^([a-z_]\w*)=(.*)$/is;

/** Returns all parameters as JSON: an object if they are passed by name, otherwise an array. */
export async function paramsText(params: readonly string[], sources: ParamSources): Promise<string> {
  const namedParams = params.map((param) => NAMED.exec(param)).filter((match) => match !== null);
  if (namedParams.length === 0) return `[${(await paramTexts(params, sources)).join(",")}]`;
  const names = namedParams.map((match) => match[1]!);
  if (namedParams.length < params.length) {
    const [param] = namedParams[0]!;
    throw usageError(
      `Parameters must be given all by name or all by position, but only ${names[0]} has a name. ` +
        `For the string ${param}, write '"${param}"'.`,
    );
  }
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw usageError(`The parameter ${repeated} is given twice.`);
  const values = namedParams.map((match) => match[2]!);
  const texts = await paramTexts(values, sources);
  return `{${names.map((name, index) => `"${name}":${texts[index]}`).join(",")}}`;
}

/**
 * Returns each parameter from the command line as JSON. JSON is passed through verbatim, so the node receives numbers
 * that JavaScript would round.
 */
export async function paramTexts(params: readonly string[], sources: ParamSources): Promise<string[]> {
  if (params.filter((param) => param === "-").length > 1) {
    throw usageError('Only one parameter can be "-": standard input can be read once.');
  }
  const texts: string[] = [];
  for (const param of params) texts.push(await paramText(param, sources));
  return texts;
}

async function paramText(param: string, { workingDirectory, readInput }: ParamSources): Promise<string> {
  if (param === "-") return requireJson(await readInput(), "standard input");
  if (param.startsWith("@")) return requireJson(readPayload(resolve(workingDirectory, param.slice(1)), param), param);
  return problemOf(param) === undefined ? param : JSON.stringify(param);
}

function readPayload(path: string, param: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const reason = (error as Error).message;
    throw usageError(
      `The file of the parameter ${param} cannot be read: ${reason}. For a string that starts with @, write '"${param}"'.`,
      error,
    );
  }
}

function requireJson(bytes: Buffer, source: string): string {
  const text = bytes.toString("utf8").replace(/^\uFEFF/, "");
  const problem = problemOf(text);
  if (problem === undefined) return text;
  throw usageError(
    text.trim() === "" ? `Invalid JSON in ${source}: it is empty.` : `Invalid JSON in ${source}: ${problem}.`,
  );
}

/** Returns the reason why a text is not JSON, or undefined if it is. */
function problemOf(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message.replaceAll("\n", " ");
  }
}
