import type { Identifier, Node, PrivateIdentifier, SourceFile } from "typescript/unstable/ast";
import {
  isBindingElement,
  isFunctionDeclaration,
  isGetAccessorDeclaration,
  isIdentifier,
  isMethodDeclaration,
  isMethodSignatureDeclaration,
  isParameterDeclaration,
  isPrivateIdentifier,
  isPropertyDeclaration,
  isPropertySignatureDeclaration,
  isVariableDeclaration,
} from "typescript/unstable/ast/is";
import type { Problem } from "./problem.ts";

/** Names that say what happened to a value, or nothing, instead of what the value is. */
const VAGUE_NAMES = new Set([
  "asked",
  "facts",
  "given",
  "held",
  "inVain",
  "kept",
  "letGo",
  "made",
  "place",
  "said",
  "told",
  "twins",
  "whole",
]);

/** Members of public JSON, whose names cannot change: paths with names. */
const PUBLIC_NAMES = new Set(["src/gateway/doctor/report.ts said"]);

/** Finds vague names of declarations in src. `path` is relative to the repository root, with slashes. */
export function vagueNames(file: SourceFile, path: string): Problem[] {
  if (!path.startsWith("src/")) return [];
  const problems: Problem[] = [];
  const visit = (node: Node): void => {
    const name = declaredName(node);
    const text = name?.text.replace("#", "") ?? "";
    if (name && VAGUE_NAMES.has(text) && !PUBLIC_NAMES.has(`${path} ${text}`)) {
      problems.push({ node: name, message: `"${text}" does not name the value: say what it is, such as "options".` });
    }
    node.forEachChild(visit);
  };
  visit(file);
  return problems;
}

function declaredName(node: Node): Identifier | PrivateIdentifier | undefined {
  const isDeclaration =
    isVariableDeclaration(node) ||
    isParameterDeclaration(node) ||
    isBindingElement(node) ||
    isFunctionDeclaration(node) ||
    isMethodDeclaration(node) ||
    isMethodSignatureDeclaration(node) ||
    isGetAccessorDeclaration(node) ||
    isPropertyDeclaration(node) ||
    isPropertySignatureDeclaration(node);
  const { name } = isDeclaration ? node : {};
  return name && (isIdentifier(name) || isPrivateIdentifier(name)) ? name : undefined;
}
