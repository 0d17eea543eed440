import { createRequire } from "node:module";
import type { Document, LineCounter } from "yaml";

const require = createRequire(import.meta.url);

/** Loads the YAML library on first use, because loading takes 40 ms and most starts do not need the library. */
export function loadYaml(): typeof import("yaml") {
  return require("yaml");
}

const NEEDS_QUOTES = /alias|tag|scalar start/;

/** Wording for common errors. Other errors are described by their code. */
const PROBLEMS: Readonly<Record<string, string>> = {
  BAD_INDENT: "wrong indentation, or a bracket that is not closed,",
  BLOCK_AS_IMPLICIT_KEY: "wrong indentation, or a colon that needs quotes around its text,",
  MULTILINE_IMPLICIT_KEY: "a key without a colon, or wrong indentation,",
  TAB_AS_INDENT: "a tab as indentation",
  MISSING_CHAR: "a missing bracket, quote, comma or colon",
  UNEXPECTED_TOKEN: "an unexpected character",
};

/**
 * Parses YAML with strings as the only scalars. Warnings count as errors. Messages show the kind and the position of
 * the error, but not the text, which may contain secrets.
 */
export function parseYaml(text: string): unknown {
  const yaml = loadYaml();
  const lineCounter = new yaml.LineCounter();
  try {
    const options = { schema: "failsafe", logLevel: "error", prettyErrors: false, lineCounter } as const;
    const document = yaml.parseDocument(text, options);
    const [problem] = [...document.errors, ...document.warnings];
    if (problem !== undefined) throw syntaxError(problem.code, problem.pos[0], lineCounter);
    requireScalarKeysAndAnchors(document, lineCounter);
    return document.toJS();
  } catch (error) {
    if (error instanceof SyntaxError) throw error;
    throw new SyntaxError(error instanceof RangeError ? "it is nested too deeply" : "it has too many aliases");
  }
}

/**
 * Rejects other keys, which the library would convert to text with a warning, and aliases without an anchor, whose
 * names it would show.
 */
function requireScalarKeysAndAnchors(document: Document, lineCounter: LineCounter): void {
  const { visit, isScalar, isNode } = loadYaml();
  const anchors = new Set<string>();
  visit(document, {
    Value: (_key, { anchor }) => void (anchor !== undefined && anchors.add(anchor)),
    Alias(_key, { source, range }) {
      if (!anchors.has(source)) throw syntaxError("ALIAS_WITHOUT_ANCHOR", range?.[0], lineCounter);
    },
    Pair(_key, { key }) {
      if (!isScalar(key)) throw syntaxError("NON_STRING_KEY", isNode(key) ? key.range?.[0] : 0, lineCounter);
    },
  });
}

function syntaxError(code: string, offset = 0, lineCounter: LineCounter): SyntaxError {
  if (code === "RESOURCE_EXHAUSTION") return new SyntaxError("it is nested too deeply");
  const kind = PROBLEMS[code] ?? code.toLowerCase().replaceAll("_", " ");
  const { line, col } = lineCounter.linePos(offset);
  const hint = NEEDS_QUOTES.test(kind) ? "; quote texts that begin with *, &, ! or another special character" : "";
  return new SyntaxError(`${kind} at line ${line}, column ${col}${hint}`);
}
