// @ethereumjs/client, the execution client of others that Fanal is tested with.
import { cachedPackage } from "./cached-package.js";

const VERSION = "0.10.5";

/** What tells a program where the client is, which is installed first when it is not there. */
export function ethereumjsClientEnvironment() {
  const client = cachedPackage({
    title: `@ethereumjs/client ${VERSION}`,
    folder: `ethereumjs-client-${VERSION}`,
    size: "about 300 packages",
    manifest: { name: "fanal-interop-execution-client", dependencies: { "@ethereumjs/client": VERSION } },
    entry: ["@ethereumjs", "client", "dist", "esm", "bin", "cli.js"],
  });
  return { INTEROP_ETHEREUMJS_CLIENT: client };
}
