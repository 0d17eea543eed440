import { createRequire } from "node:module";

// Not an import, which reads all that the module has, and so loads Node's fetch behind some of it: 60 ms of every start and every thread.
const http: typeof import("node:http") = createRequire(import.meta.url)("node:http");

export const { createServer, request, ServerResponse } = http;
