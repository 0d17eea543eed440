import { optionFlags } from "../../src/library/options.ts";
import { commentText } from "../client-types/type-text.ts";

const TYPES = { boolean: "boolean", number: "number", text: "string", list: "string | readonly string[]" } as const;

/** The types of the flags of `fanal dev`, for the library, which describes itself without them. */
export function generateFlagOptions(): { path: string; text: string; options: number } {
  const flags = optionFlags();
  const members = flags.map(
    ([option, { description, kind }]) => `  ${commentText(`${description}.`)}  readonly ${option}?: ${TYPES[kind]};\n`,
  );
  const text = `// Made by "npm run docs" from the flags of \`fanal dev\`. Changes here are lost: make them there.

/** The flags of \`fanal dev\` that are options of a chain, too. */
export interface FlagOptions {
${members.join("")}}
`;
  return { path: "src/library/flag-options.ts", text, options: flags.length };
}
