/** Builds a state and its network directory. */
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { configYaml } from "../../src/dev/config-yaml.ts";
import { useNativeHasher } from "../../src/runtime/native-hasher.ts";
import { parentGone, report } from "../support/child.ts";
import type { KeptState } from "./kept-state.ts";
import { makeState, scaleConfig } from "./state.ts";
import { publicKeys } from "./validator-keys.ts";

useNativeHasher();
process.on("message", ({ validators, stateFile, keysFile, network }: KeptState) => {
  const began = performance.now();
  writeFileSync(join(network, "config.yaml"), configYaml(scaleConfig()));
  const state = makeState(publicKeys(keysFile, validators));
  // Renaming makes the write atomic.
  writeFileSync(`${stateFile}.tmp`, state);
  renameSync(`${stateFile}.tmp`, stateFile);
  report({ seconds: (performance.now() - began) / 1000 });
});
report({ ready: true });
await parentGone();
