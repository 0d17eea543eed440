import { methods } from "../../src/api/method-groups.ts";
import { type MadeExample, makeExamples } from "./make-examples.ts";
import { recordedCalls } from "./recorded-calls.ts";
import { renderReference } from "./render.ts";

export interface MethodsDocument {
  /** Texts of the pages by path. Always the same for the same sources. */
  pages: ReadonlyMap<string, string>;
  /** JSON of the calls that the OpenRPC document shows. */
  calls: string;
  methods: number;
}

/** Returns the texts of docs/methods.md, docs/methods/ and src/api/openrpc-examples.json. */
export async function generateMethodsDocument(): Promise<MethodsDocument> {
  return methodsDocument(await makeExamples());
}

/** Throws when a method has no example. */
export function methodsDocument(examples: ReadonlyMap<string, MadeExample>): MethodsDocument {
  const missing = methods.map(({ name }) => name).filter((name) => !examples.has(name));
  if (missing.length > 0) throw new Error(`There is no example of ${missing.join(", ")}.`);
  return { pages: renderReference(examples), calls: recordedCalls(examples), methods: methods.length };
}
