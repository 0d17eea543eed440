import { dirname, join } from "node:path/posix";
import { type Node, type SourceFile, SyntaxKind } from "typescript/unstable/ast";
import {
  isCallExpression,
  isExportDeclaration,
  isImportDeclaration,
  isImportTypeNode,
  isLiteralTypeNode,
  isStringLiteral,
} from "typescript/unstable/ast/is";
import { BOUNDARIES, COMMON, RESERVED, STANDALONE } from "./boundaries.ts";
import type { Problem } from "./problem.ts";

const STANDALONE_REASON = "it also runs without Node and imports only itself";

interface Import {
  node: Node;
  specifier: string;
  isTypeOnly: boolean;
}

/**
 * Checks the imports of a file against the table of boundaries. `path` is relative to the repository root, with
 * slashes.
 */
export function forbiddenImports(file: SourceFile, path: string): Problem[] {
  if (!path.startsWith("src/")) return [];
  if (folderOf(path) === undefined)
    return [{ node: file, message: "No files directly in src/: move it into a folder." }];
  if (path.endsWith(".test-support.ts")) return [{ node: file, message: "Test support belongs to test/support/." }];
  if (isTestFile(path)) return [];
  return importsOf(file).flatMap(({ node, specifier, isTypeOnly }) => {
    const message = specifier.startsWith(".")
      ? importProblem(path, join(dirname(path), specifier), isTypeOnly)
      : packageProblem(path, specifier);
    return message === undefined ? [] : [{ node, message }];
  });
}

function packageProblem(from: string, specifier: string): string | undefined {
  const folder = folderOf(from);
  if (folder === undefined || !STANDALONE.includes(folder)) return undefined;
  return `src/${folder} may not import ${specifier}: ${STANDALONE_REASON}.`;
}

/** Returns undefined if the import is allowed. */
function importProblem(from: string, to: string, isTypeOnly: boolean): string | undefined {
  if (!to.startsWith("src/") || isTestFile(to)) return `${to} is not part of the program: only tests may import it.`;
  const folder = folderOf(from)!;
  const target = folderOf(to);
  if (target === folder || target === undefined) return undefined;
  if (STANDALONE.includes(folder)) return `src/${folder} may not import ${to}: ${STANDALONE_REASON}.`;
  const part = partOf(from);
  if (part === undefined) return `src/${folder} has no row in the table of scripts/lint/boundaries.ts.`;
  if (COMMON.includes(target) && !COMMON.includes(folder)) return reservedProblem(folder, to);
  const allowed = BOUNDARIES[part]!.map(parsePermission).filter(({ place }) => isWithin(to, place));
  if (allowed.some(({ typesOnly }) => isTypeOnly || !typesOnly)) return undefined;
  if (allowed.length > 0) return `src/${part} may import only types of ${to}: write "import type".`;
  const list = BOUNDARIES[part]!.length === 0 ? "nothing" : BOUNDARIES[part]!.join(", ");
  return `src/${part} may not import src/${target} (${to}); it may import ${list}.`;
}

/** Checks the import of a file in a common folder. */
function reservedProblem(folder: string, to: string): string | undefined {
  const importers = RESERVED[to.slice("src/".length)];
  if (importers === undefined || importers.includes(folder)) return undefined;
  return `src/${folder} may not import ${to}; only ${importers.join(", ")} may.`;
}

/** Returns the most specific row of the table for a file. */
function partOf(path: string): string | undefined {
  const parts = Object.keys(BOUNDARIES).filter((part) => isWithin(path, part));
  return parts.toSorted((a, b) => b.length - a.length)[0];
}

/** Returns the folder of src/, or undefined for a file directly in src/. */
function folderOf(path: string): string | undefined {
  const [, folder, rest] = path.split("/");
  return rest === undefined ? undefined : folder;
}

function parsePermission(text: string): { place: string; typesOnly: boolean } {
  const place = text.replace(/ \(types\)$/, "");
  return { place, typesOnly: place !== text };
}

const isWithin = (path: string, place: string) => path === `src/${place}` || path.startsWith(`src/${place}/`);

const isTestFile = (path: string) => path.endsWith(".test.ts");

/** Finds static and dynamic imports, re-exports and import types. */
function importsOf(file: SourceFile): Import[] {
  const found: Import[] = [];
  const note = (node: Node | undefined, isTypeOnly: boolean) => {
    if (node && isStringLiteral(node)) found.push({ node, specifier: node.text, isTypeOnly });
  };
  const visit = (node: Node): void => {
    if (isImportDeclaration(node)) {
      note(node.moduleSpecifier, node.importClause?.phaseModifier === SyntaxKind.TypeKeyword);
    } else if (isExportDeclaration(node)) note(node.moduleSpecifier, node.isTypeOnly);
    else if (isImportTypeNode(node) && isLiteralTypeNode(node.argument)) note(node.argument.literal, true);
    else if (isCallExpression(node) && node.expression.kind === SyntaxKind.ImportKeyword)
      note(node.arguments[0], false);
    node.forEachChild(visit);
  };
  visit(file);
  return found;
}
