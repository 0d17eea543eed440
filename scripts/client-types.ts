// Writes the types of the client. Needs Node 24, as the program itself does.
import { writeDocument } from "./write-document.ts";

// The consensus libraries read the preset when they are loaded.
process.env.LODESTAR_PRESET = "minimal";
const { generateClientTypes } = await import("./client-types/generate.ts");

for (const { path, text, content } of generateClientTypes()) writeDocument(path, text, content);
