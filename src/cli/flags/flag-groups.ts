import { CHAIN_FLAGS } from "./chain/chain-flags.ts";
import type { CommandDefinition } from "./commands.ts";
import { DEV_GENESIS_FLAGS, KEY_FLAGS } from "./dev/dev-genesis-flags.ts";
import { BUILDER_FLAGS } from "./execution/builder-flags.ts";
import { EXECUTION_FLAGS } from "./execution/execution-flags.ts";
import type { Flag, FlagTable } from "./flag.ts";
import { LOG_FLAGS } from "./log-flags.ts";
import { networkFlags } from "./network/network-flags.ts";
import { ETH_RPC_FLAGS } from "./server/eth-rpc-flags.ts";
import { LIMIT_FLAGS } from "./server/limit-flags.ts";
import { serverFlags } from "./server/server-flags.ts";
import { SIGNER_FLAGS } from "./server/signer-flags.ts";

/** Flags listed under one heading in the help. */
export interface FlagGroup {
  title: string;
  flags: Flag<unknown>[];
}

const COMMON = "Common";
/** Flags that belong to no other group. */
const GENERAL = "General";

const TABLES: readonly [title: string, table: FlagTable][] = [
  ["New chain", DEV_GENESIS_FLAGS],
  // These flags also appear in the table above. The later group wins.
  ["Validator keys", KEY_FLAGS],
  ["Execution layer", { ...EXECUTION_FLAGS, ...BUILDER_FLAGS }],
  ["Peer-to-peer", networkFlags({ isOn: false, address: "", isSupernode: false })],
  ["Servers", { ...serverFlags({ areOn: false }), ...ETH_RPC_FLAGS, ...SIGNER_FLAGS }],
  ["Chain", CHAIN_FLAGS],
  ["Limits", LIMIT_FLAGS],
  ["Log", LOG_FLAGS],
];

const TITLES: ReadonlyMap<string, string> = new Map(
  TABLES.flatMap(([title, table]) => Object.values(table).map(({ name }) => [name, title])),
);

/**
 * Groups the flags of a command: common flags first, then by subject, then all others. A command with few flags has
 * only one group.
 */
export function flagGroups({ flags, common = [] }: CommandDefinition): [FlagGroup, ...FlagGroup[]] {
  const all = Object.values(flags);
  if (common.length === 0) return [{ title: "Flags", flags: all }];
  const titleOf = ({ name }: Flag<unknown>) => (common.includes(name) ? COMMON : (TITLES.get(name) ?? GENERAL));
  const bySubject = TABLES.map(([title]) => ({ title, flags: all.filter((flag) => titleOf(flag) === title) }));
  return [
    { title: COMMON, flags: common.flatMap((name) => all.filter((flag) => flag.name === name)) },
    ...bySubject.filter(({ flags }) => flags.length > 0),
    { title: GENERAL, flags: all.filter((flag) => titleOf(flag) === GENERAL) },
  ];
}
