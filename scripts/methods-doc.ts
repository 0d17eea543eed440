// Writes docs/methods.md and src/api/openrpc-examples.json. Needs Node 24, as the program itself does.
import { writeDocument } from "./write-document.ts";

// The consensus libraries read the preset when they are loaded.
process.env.LODESTAR_PRESET = "minimal";
const { useNativeHasher } = await import("../src/chain/states/native-hasher.ts");
const { generateMethodsDocument } = await import("./methods-doc/generate.ts");

useNativeHasher();
try {
  const { text, calls, methods } = await generateMethodsDocument();
  writeDocument("docs/methods.md", text, `${methods} methods with an example each`);
  writeDocument("src/api/openrpc-examples.json", calls, "the same examples for rpc.discover");
} catch (error) {
  process.stderr.write(`fanal: docs/methods.md was not written: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
