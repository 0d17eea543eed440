import { errorStack, plainLogValue } from "./log-value.ts";
import type { LogFields, LogLevel } from "./logger.ts";

export interface LogRecord {
  time: Date;
  level: LogLevel;
  topic: string;
  message: string;
  fields: LogFields | undefined;
}

const RESET = "\u001b[0m";
const DIM = "\u001b[2m";
const LEVEL_COLOURS: Record<LogLevel, string> = {
  trace: "\u001b[90m",
  debug: "\u001b[36m",
  info: "\u001b[32m",
  notice: "\u001b[34m",
  warn: "\u001b[33m",
  error: "\u001b[31m",
  fatal: "\u001b[35m",
};

// Values may come from peers or callers. They must not inject lines or terminal escape sequences.
// biome-ignore lint/suspicious/noControlCharactersInRegex: matching control characters is the purpose.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;
const PLAIN_WORD = /^[^\s"=]+$/u;

function escapeControl(text: string): string {
  return text.replace(CONTROL, (character) => {
    if (character === "\n") return "\\n";
    if (character === "\r") return "\\r";
    if (character === "\t") return "\\t";
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

function fieldText(value: unknown): string {
  const plain = plainLogValue(value instanceof Error ? value.message : value);
  if (typeof plain === "string")
    return PLAIN_WORD.test(plain) ? escapeControl(plain) : escapeControl(JSON.stringify(plain));
  if (typeof plain === "object" && plain !== null) return escapeControl(JSON.stringify(plain));
  return String(plain);
}

/** Formats a record as one line, followed by the stack traces of any errors in its fields. */
export function formatText({ time, level, topic, message, fields = {} }: LogRecord, colour: boolean): string {
  const paint = (code: string, text: string) => (colour ? `${code}${text}${RESET}` : text);
  const stamp = time.toISOString().replace("T", " ").replace("Z", "");
  const head = `${paint(DIM, stamp)} ${paint(LEVEL_COLOURS[level], level.toUpperCase().padEnd(5))} ${topic.padEnd(5)}  `;

  const words: string[] = [];
  let stacks = "";
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    words.push(`${paint(DIM, `${escapeControl(key)}=`)}${fieldText(value)}`);
    const stack = value instanceof Error ? errorStack(value) : null;
    if (stack === null) continue;
    const lines = stack.split("\n");
    stacks += lines.map((line) => `    ${escapeControl(line)}\n`).join("");
  }
  const tail = words.length === 0 ? "" : `  ${words.join(" ")}`;
  return `${head}${escapeControl(message)}${tail}\n${stacks}`;
}
