// Lodestar, the beacon node and validator client of others that Fanal is tested with.
import { spawnSync } from "node:child_process";
import { ownNode } from "../bin/own-node.js";
import { cachedPackage, fail, machineNode, root } from "./cached-package.js";

const VERSION = "1.5.1";
const programNode = ownNode() ?? process.execPath;

/**
 * The client asks for ranges of its own packages that later releases satisfy but do not fit, so each is held at its
 * time.
 */
const manifest = {
  name: "fanal-interop-client",
  dependencies: { "@chainsafe/lodestar": VERSION },
  overrides: {
    ...Object.fromEntries(
      [
        "api",
        "beacon-node",
        "config",
        "db",
        "fork-choice",
        "light-client",
        "params",
        "reqresp",
        "state-transition",
        "types",
        "utils",
        "validator",
      ].map((name) => [`@lodestar/${name}`, VERSION]),
    ),
    "@multiformats/multiaddr": "11.0.7",
    "@multiformats/mafmt": "11.0.3",
    mortice: "3.0.0",
  },
};

/** Runs a program on the Node of the dependencies, told where Lodestar and, by `environment`, other programs are. */
export function runWithLodestar(args, environment = {}) {
  const lodestar = cachedPackage({
    title: `Lodestar ${VERSION}`,
    folder: `lodestar-${VERSION}`,
    size: "about 1,000 packages",
    manifest,
    entry: ["@chainsafe", "lodestar", "lib", "index.js"],
  });
  const result = spawnSync(programNode, args, {
    cwd: root,
    env: { ...process.env, INTEROP_NODE: machineNode, INTEROP_LODESTAR: lodestar, ...environment },
    stdio: "inherit",
  });
  if (result.error) fail(`${programNode} cannot be started: ${result.error.message}.`);
  process.exitCode = result.status ?? 1;
}
