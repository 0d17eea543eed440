// Writes docs/methods.md. Needs Node 24, as the program itself does.
import { writeFileSync } from "node:fs";

// The consensus libraries read the preset when they are loaded.
process.env.LODESTAR_PRESET = "minimal";
const { useNativeHasher } = await import("../src/chain/native-hasher.ts");
const { generateMethodsDocument } = await import("./methods-doc/generate.ts");

useNativeHasher();
writeFileSync(new URL("../docs/methods.md", import.meta.url), await generateMethodsDocument());
