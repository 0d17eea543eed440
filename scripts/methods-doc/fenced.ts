import { abridge } from "./abridge.ts";

/** Code block of a document. */
export interface Block {
  readonly language: "sh" | "ts" | "json" | "jsonc";
  readonly text: string;
  /** Name of the file whose content the block shows. */
  readonly file?: string;
}

export function fenced({ language, text, file }: Block): string {
  const caption = file === undefined ? "" : `\`${file}\`:\n\n`;
  return `${caption}\`\`\`${language}\n${text}\n\`\`\``;
}

/** Returns a value as a block of JSON, with long parts cut. */
export function jsonBlock(value: unknown): Block {
  const { text, isWhole } = abridge(value);
  return { language: isWhole ? "json" : "jsonc", text };
}

export const fencedJson = (value: unknown) => fenced(jsonBlock(value));
