import type { Node, SourceFile, TypeNode } from "typescript/unstable/ast";
import { isIdentifier, isTypeReferenceNode } from "typescript/unstable/ast/is";
import type { Checker, Type } from "typescript/unstable/sync";
import type { Problem } from "./problem.ts";

/** Keys that an `Omit` names and its type does not have, such as after a rename. TypeScript checks only `Pick`. */
export function omittedKeys(file: SourceFile, checker: Checker): Problem[] {
  return findOmits(file).flatMap(({ node, from, keys }) => {
    const type = checker.getTypeFromTypeNode(from);
    const missing = stringsIn(checker.getTypeFromTypeNode(keys)).filter((key) => !hasProperty(type, key, checker));
    return missing.map((key) => ({ node, message: `Omit names "${key}", which the type does not have.` }));
  });
}

interface Omit {
  node: Node;
  from: TypeNode;
  keys: TypeNode;
}

function findOmits(file: SourceFile): Omit[] {
  const found: Omit[] = [];
  const visit = (node: Node): void => {
    if (isTypeReferenceNode(node) && isIdentifier(node.typeName) && node.typeName.text === "Omit") {
      const [from, keys] = node.typeArguments ?? [];
      if (from && keys) found.push({ node, from, keys });
    }
    node.forEachChild(visit);
  };
  visit(file);
  return found;
}

function stringsIn(type: Type | undefined): string[] {
  if (type?.isUnionType()) return type.getTypes().flatMap(stringsIn);
  return type?.isStringLiteralType() ? [type.value] : [];
}

/** Of a union, one member has to have the property. A type parameter may have any. */
function hasProperty(type: Type | undefined, name: string, checker: Checker): boolean {
  if (type === undefined || type.isTypeParameter()) return true;
  if (type.isUnionType()) return type.getTypes().some((member) => hasProperty(member, name, checker));
  const apparent = checker.getApparentType(type) ?? type;
  return checker.getPropertyOfType(apparent, name) !== undefined || checker.getIndexInfosOfType(apparent).length > 0;
}
