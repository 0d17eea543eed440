import { usageError } from "../exit.ts";

const CLOSING: Readonly<Record<string, string>> = { "[": "]", "{": "}" };

/**
 * Splits a line into words as a shell does: at blanks, respecting quotes and backslash escapes. A word that starts with
 * a bracket is JSON up to the matching bracket and needs no quotes.
 */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  for (let at = 0; ; ) {
    while (/\s/.test(line[at] ?? "")) at++;
    if (at >= line.length) return words;
    const { word, end } = CLOSING[line[at]!] === undefined ? readWord(line, at) : readJson(line, at);
    words.push(word);
    at = end;
  }
}

interface Read {
  word: string;
  end: number;
}

function readWord(line: string, start: number): Read {
  let word = "";
  let at = start;
  while (at < line.length && !/\s/.test(line[at]!)) {
    const character = line[at]!;
    if (character === "'" || character === '"') {
      const quoted = readQuoted(line, at);
      word += quoted.word;
      at = quoted.end;
    } else if (character === "\\") {
      word += line[at + 1] ?? "\\";
      at += 2;
    } else {
      word += character;
      at++;
    }
  }
  return { word, end: at };
}

/** In double quotes, a backslash escapes quotes and backslashes; in single quotes, it is literal. */
function readQuoted(line: string, start: number): Read {
  const quote = line[start]!;
  let word = "";
  for (let at = start + 1; at < line.length; at++) {
    const character = line[at]!;
    const next = line[at + 1];
    if (character === quote) return { word, end: at + 1 };
    if (quote === '"' && character === "\\" && (next === '"' || next === "\\")) {
      word += next;
      at++;
    } else word += character;
  }
  throw usageError(`The quote ${quote} is not closed.`);
}

function readJson(line: string, start: number): Read {
  const open: string[] = [];
  let isText = false;
  for (let at = start; at < line.length; at++) {
    const character = line[at]!;
    if (isText) {
      if (character === "\\") at++;
      else if (character === '"') isText = false;
    } else if (character === '"') isText = true;
    else if (CLOSING[character] !== undefined) open.push(CLOSING[character]);
    else if (character === open.at(-1)) {
      open.pop();
      if (open.length === 0) return { word: line.slice(start, at + 1), end: at + 1 };
    }
  }
  throw usageError(`The JSON that starts with ${line[start]} is not closed: ${open.toReversed().join("")} is missing.`);
}
