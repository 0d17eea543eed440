import { ACCESS_CLASSES } from "../../server/access-class.ts";
import { booleanFlag, listFlag, valueFlag } from "./flag.ts";
import { nonEmpty, oneOf, virtualHost, webOrigin } from "./flag-values.ts";

/** The flags by which it is said who may use a server. */
export function accessFlags(server: "rpc" | "rest", noun: string) {
  return {
    vhosts: listFlag({
      name: `${server}-vhosts`,
      placeholder: "NAME",
      description: `Host name that ${noun} may be called by, beside localhost, the name it listens on and any IP address; * for all; repeatable`,
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
      description: `Class of methods that ${noun} serves: ${ACCESS_CLASSES.join(", ")}; repeatable, or several separated by commas`,
      choices: ACCESS_CLASSES,
      fallbackText: "all where only this machine can connect, otherwise read,submit",
      parse: oneOf(ACCESS_CLASSES),
    }),
    tokenFile: valueFlag({
      name: `${server}-token-file`,
      kind: "text",
      placeholder: "FILE",
      description: `File with the token that callers of ${noun} have to send; it is made when there is none`,
      fallback: undefined,
      parse: nonEmpty("a file"),
    }),
    allowAnyone: booleanFlag({
      name: `${server}-allow-anyone`,
      description: `Let ${noun} be called without a token from other machines, too`,
    }),
  } as const;
}
