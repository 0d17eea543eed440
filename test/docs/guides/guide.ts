import { globSync, readFileSync } from "node:fs";
import { join as joinPath } from "node:path";

export const ROOT = joinPath(import.meta.dirname, "../../..");

/** Names of all guides, without their index. */
export const GUIDES = globSync("*.md", { cwd: joinPath(ROOT, "docs/guides") })
  .map((path) => path.replace(/\.md$/, ""))
  .filter((name) => name !== "README")
  .toSorted();

/** Code block of a guide. */
export interface Step {
  readonly language: string;
  readonly line: number;
  readonly code: string;
  /** Name of the file to save the block as, from the comment in its first line. */
  readonly file: string | undefined;
  /** Expected output: the block of text that follows. */
  readonly output: string | undefined;
}

export interface Guide {
  readonly text: string;
  /** Blocks of TypeScript without a file name are one program, at the place of the last one. */
  readonly steps: readonly Step[];
}

export function readGuide(name: string): Guide {
  const text = readFileSync(joinPath(ROOT, "docs/guides", `${name}.md`), "utf8");
  const blocks = Array.from(text.matchAll(/^```(\S*)\n(.*?)^```$/gms), ({ 1: language, 2: code, index }) => ({
    language: language!,
    code: code!,
    line: text.slice(0, index).split("\n").length,
  }));
  const steps = blocks.flatMap(({ language, code, line }, index) => {
    if (language === "text") return [];
    const [, file] = /^(?:\/\/|#) ([\w./-]+\.\w+)\n/.exec(code) ?? [];
    const next = blocks[index + 1];
    return [{ language, code, line, file, output: next?.language === "text" ? next.code : undefined }];
  });
  const isPart = ({ language, file }: Step) => language === "ts" && file === undefined;
  const parts = steps.filter(isPart);
  const last = parts.at(-1);
  const join = (texts: readonly (string | undefined)[]) => texts.filter((each) => each !== undefined).join("");
  const program = { code: join(parts.map(({ code }) => code)), output: join(parts.map(({ output }) => output)) };
  return {
    text,
    steps: steps.flatMap((step) => (step === last ? [{ ...step, ...program }] : isPart(step) ? [] : [step])),
  };
}

/** Matches output in which … stands for anything, and a line of … for any lines. */
export function outputPattern(expected: string): RegExp {
  const lines = expected.trimEnd().split("\n");
  const pattern = lines.map((line) => (line.trim() === "…" ? "(.*\\n)*?" : `${linePattern(line)}[ \\t]*\\n`));
  return new RegExp(`^${pattern.join("")}$`);
}

const linePattern = (line: string) => line.replaceAll(/[^\w\s…]/g, "\\$&").replaceAll("…", ".*");
