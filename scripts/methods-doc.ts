// Writes docs/methods.md, docs/methods/, which git ignores, and src/api/openrpc-examples.json. Needs Node 24, as the program itself does.
import { removeOtherFiles, writeDocument } from "./write-document.ts";

// The consensus libraries read the preset when they are loaded.
process.env.LODESTAR_PRESET = "minimal";
const { useNativeHasher } = await import("../src/runtime/native-hasher.ts");
const { generateMethodsDocument } = await import("./methods-doc/generate.ts");
const { INDEX } = await import("./methods-doc/render.ts");

useNativeHasher();
try {
  const { pages, calls, methods } = await generateMethodsDocument();
  removeOtherFiles("docs/methods", pages);
  for (const [path, text] of pages) {
    writeDocument(path, text, path === INDEX ? `table of ${methods} methods` : "methods with examples");
  }
  writeDocument("src/api/openrpc-examples.json", calls, "the same examples for rpc.discover");
} catch (error) {
  process.stderr.write(
    `fanal: the reference of the methods was not written: ${error instanceof Error ? error.message : error}\n`,
  );
  process.exitCode = 1;
}
