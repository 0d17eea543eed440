import { BEACON_CALLS } from "./beacon.ts";
import { DEV_CALLS } from "./dev.ts";
import { POOL_CALLS } from "./pools.ts";
import {
  answers,
  fails,
  INVALID,
  LAST_UINT64,
  NOT_FOUND,
  ROOT,
  type SpecialCall,
  UNSUPPORTED,
} from "./special-call.ts";
import { VALIDATOR_CALLS } from "./validator.ts";

/** Well-formed, but unused. */
const PEER_ID = "QmcZf59bWwK5XFi76CZX8cbJ4BhTzzA3gU1ZjYZcYW3dwt";

/** Special calls of every method with parameters. */
export const SPECIAL_CALLS: Readonly<Record<string, readonly SpecialCall[]>> = {
  ...BEACON_CALLS,
  ...POOL_CALLS,
  ...VALIDATOR_CALLS,
  ...DEV_CALLS,
  get_v1_node_peers: [
    fails("an unknown state", INVALID, () => [["asleep"]]),
    fails("an unknown direction", INVALID, () => [null, ["sideways"]]),
    answers("a state that no peer is in", [], () => [["connecting"]]),
  ],
  get_v1_node_peers_peerId: [
    fails("an unknown peer", NOT_FOUND, () => [PEER_ID]),
    fails("text that is no peer id", INVALID, () => ["somebody"]),
    fails("no text", INVALID, () => [""]),
  ],
  getParticipation: [
    fails("an unknown state", NOT_FOUND, () => [ROOT]),
    fails("no state id", INVALID, () => ["middle"]),
  ],
  getValidatorPage: [
    fails("an unknown state", NOT_FOUND, () => [ROOT]),
    fails("a page above the limit", INVALID, () => ["head", 0, 1001]),
    fails("an unknown sort key", INVALID, () => ["head", 0, 1, "age"]),
    fails("an unknown status", INVALID, () => ["head", 0, 1, "index", false, ["asleep"]]),
    fails("a public key with too many digits", INVALID, () => [
      "head",
      0,
      1,
      "index",
      false,
      [],
      `0x${"aa".repeat(49)}`,
    ]),
    answers("a page after the last validator", { total: "16", validators: [] }, () => ["head", LAST_UINT64]),
  ],
  get_v1_node_health: [
    fails("a status below 100", INVALID, () => [99]),
    fails("a status above 599", INVALID, () => [600]),
  ],
  getBeaconBlock: [
    answers("a slot without a block", null, (chain) => [chain.slot]),
    answers("an unknown root", null, () => [null, ROOT]),
    answers("an unknown root in the first place", null, () => [ROOT]),
    answers("the last of all slots", null, () => [LAST_UINT64]),
    fails("neither slot nor root", INVALID, () => [null, null]),
    fails("slot and root", INVALID, () => [1, ROOT]),
  ],
  getBeaconState: [
    answers("a slot that has not come", null, (chain) => [chain.slot + 1]),
    answers("an unknown root", null, () => [null, ROOT]),
    answers("the last of all slots", null, () => [LAST_UINT64]),
    fails("neither slot nor root", INVALID, () => []),
    fails("slot and root", INVALID, () => [1, ROOT]),
  ],
  setLogLevel: [
    fails("an unknown level", INVALID, () => ["LOUD"]),
    fails("a part without topics", INVALID, () => ["INFO; TRACE"]),
    fails("an unknown key", INVALID, () => ["INFO; SOMETIMES:chain"]),
    answers("an unknown topic", true, () => ["INFO; TRACE:weather"]),
    fails("more than anybody writes", INVALID, () => [`INFO; TRACE:${"chain,".repeat(200)}rpc`]),
  ],
  setGraffiti: [
    fails("more than 32 bytes", INVALID, () => ["é".repeat(17)]),
    fails("half a byte", INVALID, () => ["0xabc"]),
    fails("what is no hex after 0x", INVALID, () => ["0xzz"]),
  ],
  subscribe: [
    fails("no topics", INVALID, () => [[]]),
    fails("an unknown topic", INVALID, () => [["head", "weather"]]),
    fails("the same topic twice", INVALID, () => [["head", "head"]]),
  ],
  unsubscribe: [fails("an id where nobody can have one", UNSUPPORTED, () => ["0x1234"])],
};
