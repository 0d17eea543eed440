/**
 * Measures the web page: requests, bytes and first contentful paint of the first view, the delay from a head event to
 * the screen, and the node's CPU time with many open pages. Needs Chromium.
 *
 *     npm run bench -- page [pages] [seconds]
 */
import { benchPage } from "./page/run.ts";

await benchPage({ pages: Number(process.argv[2] ?? 50), seconds: Number(process.argv[3] ?? 60) });
