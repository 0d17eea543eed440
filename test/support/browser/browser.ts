import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Path of the Debian package. */
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Returns why no browser is available; undefined if one is. */
export function missingBrowser(): string | undefined {
  return existsSync(CHROMIUM) ? undefined : `${CHROMIUM} does not exist (Debian package chromium, or set CHROMIUM)`;
}

/** Opens a browser without background requests. */
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
