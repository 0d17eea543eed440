import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Debian's package of that name. */
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

export const hasBrowser = existsSync(CHROMIUM);
export const WITHOUT_BROWSER = `there is no ${CHROMIUM}; install Debian's package chromium, or name another in CHROMIUM`;

/** A browser that asks nobody for anything but the pages that it is shown. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
