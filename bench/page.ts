/**
 * Measures the web page: requests, bytes and first contentful paint of the first view, the delay from a head event to
 * the screen, and the node's CPU time with many open pages. Needs Chromium.
 *
 *     npm run bench -- page [--pages 50] [--seconds 60] [--beside DIRECTORY]
 *
 * `--beside` is another checkout, whose first view is measured in turns with this one's.
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { benchPage } from "./page/run.ts";

const { values } = parseArgs({
  options: {
    pages: { type: "string", default: "50" },
    seconds: { type: "string", default: "60" },
    beside: { type: "string" },
  },
});
await benchPage({
  pages: Number(values.pages),
  seconds: Number(values.seconds),
  beside: values.beside === undefined ? undefined : resolve(values.beside),
});
