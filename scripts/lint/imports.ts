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
import { BOUNDARIES, RESERVED, STANDALONE } from "./boundaries.ts";
import type { Problem } from "./problem.ts";

const STANDALONE_REASON = "it has to run by itself, also where there is no Node";

interface Import {
  node: Node;
  specifier: string;
  isTypeOnly: boolean;
}

/** The path is that of the file from the root of the repository, with slashes. */
export function forbiddenImports(file: SourceFile, path: string): Problem[] {
  if (!path.startsWith("src/") || isOfTests(path)) return [];
  return importsOf(file).flatMap(({ node, specifier, isTypeOnly }) => {
    const message = specifier.startsWith(".")
      ? complaint(path, join(dirname(path), specifier), isTypeOnly)
      : packageComplaint(path, specifier);
    return message === undefined ? [] : [{ node, message }];
  });
}

function packageComplaint(from: string, specifier: string): string | undefined {
  const folder = folderOf(from);
  if (folder === undefined || !STANDALONE.includes(folder)) return undefined;
  return `src/${folder} may not import ${specifier}: ${STANDALONE_REASON}.`;
}

/** Undefined when the import is allowed. */
function complaint(from: string, to: string, isTypeOnly: boolean): string | undefined {
  if (!to.startsWith("src/") || isOfTests(to)) return `${to} is not part of the program, which may not import it.`;
  const folder = folderOf(from);
  const target = folderOf(to);
  if (target === folder && target !== undefined) return undefined;
  if (folder !== undefined && STANDALONE.includes(folder))
    return `src/${folder} may not import ${to}: ${STANDALONE_REASON}.`;
  if (target === undefined) return reservedComplaint(folder, to);
  if (folder === undefined) return `A file directly in src may not import src/${target}, since all folders import it.`;
  const part = partOf(from);
  if (part === undefined) return `src/${folder} has no line in the table of scripts/lint/boundaries.ts.`;
  const allowed = BOUNDARIES[part]!.map(parsePermission).filter(({ place }) => isWithin(to, place));
  if (allowed.some(({ typesOnly }) => isTypeOnly || !typesOnly)) return undefined;
  if (allowed.length > 0) return `src/${part} may import only types of ${to}: write "import type".`;
  const list = BOUNDARIES[part]!.length === 0 ? "nothing" : BOUNDARIES[part]!.join(", ");
  return `src/${part} may not import src/${target} (${to}); it may import ${list}.`;
}

/** Of a file directly in src/. */
function reservedComplaint(folder: string | undefined, to: string): string | undefined {
  const importers = RESERVED[to.slice("src/".length)];
  if (importers === undefined || folder === undefined || importers.includes(folder)) return undefined;
  return `src/${folder} may not import ${to}; only ${importers.join(", ")} may.`;
}

/** The line of the table that holds for a file: the most special one. */
function partOf(path: string): string | undefined {
  const parts = Object.keys(BOUNDARIES).filter((part) => isWithin(path, part));
  return parts.toSorted((a, b) => b.length - a.length)[0];
}

/** Undefined for a file directly in src/. */
function folderOf(path: string): string | undefined {
  const [, folder, rest] = path.split("/");
  return rest === undefined ? undefined : folder;
}

function parsePermission(text: string): { place: string; typesOnly: boolean } {
  const place = text.replace(/ \(types\)$/, "");
  return { place, typesOnly: place !== text };
}

const isWithin = (path: string, place: string) => path === `src/${place}` || path.startsWith(`src/${place}/`);

const isOfTests = (path: string) => /\.(test|test-support)\.ts$/.test(path);

/** What a file imports, in any way. */
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
