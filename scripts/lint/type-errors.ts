import { relative, sep } from "node:path";
import { type Diagnostic, DiagnosticCategory, type Program } from "typescript/unstable/sync";

/**
 * What the compiler would say of the program, or of some of its files, a text for each complaint; what it only suggests
 * is left out. What it has to say of no file in particular it knows only when it has checked all of them.
 */
export function typeErrors(program: Program, files?: readonly string[]): string[] {
  return [
    ...program.getConfigFileParsingDiagnostics(),
    ...program.getProgramDiagnostics(),
    ...(files === undefined ? program.getGlobalDiagnostics() : []),
    ...(files ?? [undefined]).flatMap((file) => [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ]),
  ]
    .filter(({ category }) => category === DiagnosticCategory.Error)
    .map((diagnostic) => `${placeOf(diagnostic, program)}TS${diagnostic.code}: ${messageOf(diagnostic)}`);
}

function placeOf({ fileName, pos }: Diagnostic, program: Program): string {
  if (fileName === undefined) return "";
  const path = relative(process.cwd(), fileName).replaceAll(sep, "/");
  const file = program.getSourceFile(fileName);
  return file === undefined ? `${path}: ` : `${path}:${file.getLineAndCharacterOfPosition(pos).line + 1}: `;
}

/** With its reasons, one a line. */
function messageOf({ text, messageChain = [] }: Diagnostic, depth = 1): string {
  return [text, ...messageChain.map((reason) => "  ".repeat(depth) + messageOf(reason, depth + 1))].join("\n");
}
