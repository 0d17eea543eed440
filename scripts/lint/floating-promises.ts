import { type Expression, type Node, type SourceFile, SyntaxKind } from "typescript/unstable/ast";
import {
  isAssignmentOperator,
  isBinaryExpression,
  isCallExpression,
  isExpressionStatement,
  isPropertyAccessExpression,
} from "typescript/unstable/ast/is";
import type { Checker, Type } from "typescript/unstable/sync";
import type { Problem } from "./problem.ts";

/** How many arguments make a call of the method handle a failure. */
const HANDLING_ARGUMENTS = new Map([
  ["catch", 1],
  ["then", 2],
]);

const MESSAGE = 'Nobody waits for this promise or handles its failure: "await" it, or write "void" and why.';

/**
 * Promises that a statement makes and drops. Biome has such a rule, which does not see those of libraries: of the
 * awaits in this repository, it would miss every fourth. TypeScript's own types miss none.
 */
export function floatingPromises(file: SourceFile, checker: Checker): Problem[] {
  const dropped = droppedValues(file);
  const types = checker.getTypeAtLocation(dropped);
  return dropped.flatMap((node, at) => (isPromise(types[at], checker) ? [{ node, message: MESSAGE }] : []));
}

function droppedValues(file: SourceFile): Expression[] {
  const found: Expression[] = [];
  const visit = (node: Node): void => {
    if (isExpressionStatement(node) && !isHandled(node.expression)) found.push(node.expression);
    node.forEachChild(visit);
  };
  visit(file);
  return found;
}

/** By its form: whether it is kept, awaited or told what to do with a failure. */
function isHandled(expression: Expression): boolean {
  if (expression.kind === SyntaxKind.AwaitExpression || expression.kind === SyntaxKind.VoidExpression) return true;
  if (isBinaryExpression(expression)) {
    return isAssignmentOperator(expression.operatorToken.kind) || isHandled(expression.right);
  }
  if (!isCallExpression(expression) || !isPropertyAccessExpression(expression.expression)) return false;
  const { name, expression: receiver } = expression.expression;
  if (name.text === "finally") return isHandled(receiver);
  return expression.arguments.length >= (HANDLING_ARGUMENTS.get(name.text) ?? Number.POSITIVE_INFINITY);
}

function isPromise(type: Type | undefined, checker: Checker): boolean {
  if (type === undefined) return false;
  if (type.isUnionType()) return type.getTypes().some((member) => isPromise(member, checker));
  // Other things have one of the two.
  return ["then", "catch"].every((name) => checker.getPropertyOfType(type, name) !== undefined);
}
