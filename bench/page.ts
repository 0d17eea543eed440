/**
 * What the page for browsers costs: how much it weighs, how soon it shows the chain, how soon a new head is on screen,
 * and what many open pages take of the node's processor time. Needs Chromium.
 *
 *     npm run bench -- page [pages] [seconds]
 */
import { benchPage } from "./page/run.ts";

await benchPage({ pages: Number(process.argv[2] ?? 50), seconds: Number(process.argv[3] ?? 60) });
