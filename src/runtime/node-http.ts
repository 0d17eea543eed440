import { createRequire } from "node:module";

// `import` reads every export of the module, which loads Node's fetch: 60 ms per start and per thread.
const http: typeof import("node:http") = createRequire(import.meta.url)("node:http");

export const { createServer, request, ServerResponse } = http;
