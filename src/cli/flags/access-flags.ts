import { ACCESS_CLASSES } from "../../server/access-class.ts";
import { booleanFlag, listFlag, valueFlag } from "./flag.ts";
import { nonEmpty, oneOf, virtualHost, webOrigin } from "./flag-values.ts";

/** Flags for the access control of a server. */
export function accessFlags(server: "rpc" | "rest", noun: string) {
  return {
    vhosts: listFlag({
      name: `${server}-vhosts`,
      placeholder: "NAME",
      description:
        `Host name accepted by ${noun}, besides localhost, the name it listens on and IP addresses; ` +
        "* for all; repeatable",
      parse: virtualHost,
    }),
    allowOrigin: listFlag({
      name: `${server}-allow-origin`,
      placeholder: "ORIGIN",
      description: `Origin whose web pages may use ${noun}, such as http://localhost:3000, or * for all; repeatable`,
      parse: webOrigin,
    }),
    api: listFlag({
      name: `${server}-api`,
      placeholder: "CLASS",
      description:
        `Class of methods that ${noun} serves: ${ACCESS_CLASSES.join(", ")}; ` +
        "repeatable, or several separated by commas",
      choices: ACCESS_CLASSES,
      fallbackText: "all where only this machine can connect, otherwise read,submit",
      parse: oneOf(ACCESS_CLASSES),
    }),
    tokenFile: valueFlag({
      name: `${server}-token-file`,
      kind: "text",
      placeholder: "FILE",
      description: `File with the token that clients of ${noun} must send; created if missing`,
      fallback: undefined,
      parse: nonEmpty("a file"),
    }),
    allowAnyone: booleanFlag({
      name: `${server}-allow-anyone`,
      description: `Allow other machines to use ${noun} without a token`,
    }),
  } as const;
}
