import { makeExamples } from "./make-examples.ts";
import { renderDocument } from "./render.ts";

/** The text of docs/methods.md. Always the same for the same sources. */
export async function generateMethodsDocument(): Promise<string> {
  return renderDocument(await makeExamples());
}
