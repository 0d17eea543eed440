import { createBeaconConfig } from "@lodestar/config";
import { DOMAIN_VOLUNTARY_EXIT } from "@lodestar/params";
import { computeDomain, computeSigningRoot } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { fromHex, toHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { readSigningMessage } from "./signing-message.ts";

const GENESIS_VALIDATORS_ROOT = "0x04700007fabc8282644aed6d1c7c9e21d38a03a0c4ba193f3afe428824b3a673";
const VERSIONS = { GENESIS_FORK_VERSION: fromHex("0x00000001"), CAPELLA_FORK_VERSION: fromHex("0x03000001") };
const SCHEDULE = { ALTAIR_FORK_EPOCH: 0, BELLATRIX_FORK_EPOCH: 0, CAPELLA_FORK_EPOCH: 0, DENEB_FORK_EPOCH: 2 };
const DENEB_FORK_VERSION = "0x04000001";
const config = createBeaconConfig(
  { ...VERSIONS, ...SCHEDULE, DENEB_FORK_VERSION: fromHex(DENEB_FORK_VERSION) },
  fromHex(GENESIS_VALIDATORS_ROOT),
);

const forkInfo = (current = "0x00000001", previous = "0x00000001", epoch = "1") => ({
  fork: { previous_version: previous, current_version: current, epoch },
  genesis_validators_root: GENESIS_VALIDATORS_ROOT,
});
const ZERO = `0x${"00".repeat(32)}`;
const SIGNATURE =
  "0xa627242e4a5853708f4ebf923960fb8192f93f2233cd347e05239d86dd9fb66b721ceec1baeae6647f498c9126074f1101a87854d674b6eebc220fd8c3d8405bdfd8e286b707975d9e00a56ec6cbbf762f23607d490f0bbb16c3e0e483d51875";
const VOTED = "0x100814c335d0ced5014cfa9d2e375e6d9b4e197381f8ce8af0473200fdc917fd";
const SYNC_ROOT = "0x235bc3400c2839fd856a524871200bd5e362db615fc4565e1870ed9a2a936464";
const PUBKEY = "0x8f82597c919c056571a05dfe83e6a7d32acf9ad8931be04d11384e95468cd68b40129864ae12745f774654bbac09b057";

const attestationData = (slot: string, root: string) => ({
  slot,
  index: "0",
  beacon_block_root: root,
  source: { epoch: "0", root: ZERO },
  target: { epoch: "0", root },
});
const aggregateAndProof = {
  aggregator_index: "1",
  aggregate: { aggregation_bits: "0x00000101", data: attestationData("0", VOTED), signature: SIGNATURE },
  selection_proof:
    "0xa63f73a03f1f42b1fd0a988b614d511eb346d0a91c809694ef76df5ae021f0f144d64e612d735bc8820950cf6f7f84cd0ae194bfe3d4242fe79688f83462e3f69d9d33de71aab0721b7dab9d6960875e5fdfd26b171a75fb51af822043820c47",
};
const registration = {
  fee_recipient: "0x6fdfab408c56b6105a76eff5c0435d09fc6ed7a9",
  gas_limit: "4658411424342975020",
  timestamp: "4663368873993027404",
  pubkey: PUBKEY,
};
const deposit = {
  pubkey: PUBKEY,
  withdrawal_credentials: "0x39722cbbf8b91a4b9045c5e6175f1001eac32f7fcd5eccda5c6e62fc4e638508",
  amount: "32",
  genesis_fork_version: "0x00000001",
};
const contribution = {
  aggregator_index: "11",
  selection_proof:
    "0x8f5c34de9e22ceaa7e8d165fc0553b32f02188539e89e2cc91e2eb9077645986550d872ee3403204ae5d554eae3cac12124e18d2324bccc814775316aaef352abc0450812b3ca9fde96ecafa911b3b8bfddca8db4027f08e29c22a9c370ad933",
  contribution: {
    slot: "0",
    beacon_block_root: SYNC_ROOT,
    subcommittee_index: "1",
    aggregation_bits: "0x24",
    signature:
      "0x9005ed0936f527d416609285b355fe6b9610d730c18b9d2f4942ba7d0eb95ba304ff46b6a2fb86f0c756bf09274db8e11399b7642f9fc5ae50b5bd9c1d87654277a19bfc3df78d36da16f44a48630d9550774a4ca9f3a5b55bbf33345ad2ec71",
  },
};
const header = {
  slot: "0",
  proposer_index: "4666673844721362956",
  parent_root: "0x367cbd40ac7318427aadb97345a91fa2e965daf3158d7f1846f1306305f41bef",
  state_root: "0xfd18cf40cc907a739be483f1ca0ee23ad65cdd3df23205eabc6d660a75d1f54e",
  body_root: "0xa759d8029a69d4fdd8b3996086e9722983977e4efc1f12f4098ea3d93e868a6b",
};

/** Example messages and signing roots from Web3Signer's OpenAPI document. */
const EXAMPLES: [type: string, message: object, signingRoot: string][] = [
  [
    "ATTESTATION",
    { attestation: attestationData("32", "0xb2eedb01adbd02c828d5eec09b4c70cbba12ffffba525ebf48aca33028e8ad89") },
    "0x548c9a015f4c96cb8b1ddbbdfca85846f85bf9f344a434c140f378cdfb5341f0",
  ],
  [
    "AGGREGATION_SLOT",
    { aggregation_slot: { slot: "119" } },
    "0x1fb90dd6e8b2670e6949347bc4eaacd37f9b6cc6e42c559973e362c800e853b9",
  ],
  [
    "AGGREGATE_AND_PROOF",
    { aggregate_and_proof: aggregateAndProof },
    "0x8d777156899cb02e0e66217afd832886239752a59a393218f6c603bcf615b4f8",
  ],
  [
    "AGGREGATE_AND_PROOF_V2",
    { aggregate_and_proof: { version: "DENEB", data: aggregateAndProof } },
    "0x8d777156899cb02e0e66217afd832886239752a59a393218f6c603bcf615b4f8",
  ],
  [
    "BLOCK_V2",
    { beacon_block: { version: "FULU", block_header: header } },
    "0xaa2e0c465c1a45d7b6637fcce4ad6ceb71fc12064b548078d619a411f0de8adc",
  ],
  [
    "RANDAO_REVEAL",
    { randao_reveal: { epoch: "3" } },
    "0x3d047c51a8b03630781dc4c5519c17f7de87174246ff2deed0f195c6c775f91e",
  ],
  [
    "VOLUNTARY_EXIT",
    { voluntary_exit: { epoch: "119", validator_index: "0" } },
    "0x38e9f1cfe7926ce5366b633b7fc7113129025737394002d2637faaeefc56913d",
  ],
  [
    "SYNC_COMMITTEE_MESSAGE",
    { sync_committee_message: { beacon_block_root: SYNC_ROOT, slot: "0" } },
    "0xa6f60df2817ea5b52eed1fefebbad746ef64c6249fc05c90c9e0f520cc75bb95",
  ],
  [
    "SYNC_COMMITTEE_SELECTION_PROOF",
    { sync_aggregator_selection_data: { slot: "0", subcommittee_index: "0" } },
    "0x50d85c783ab27c1eb3f3efa914b91cb93ffd677137b15c27ba5bb548306e6963",
  ],
  [
    "SYNC_COMMITTEE_CONTRIBUTION_AND_PROOF",
    { contribution_and_proof: contribution },
    "0xae94702468b584a3b1c422bc1b39cc523d9175ba3b9ac1cccb699c00507cc1a5",
  ],
  [
    "VALIDATOR_REGISTRATION",
    { validator_registration: registration },
    "0xe4d2b3dd1e23807b90af0b1768cc7de12d4353320adb486f1bdaeed6b67009ea",
  ],
  ["DEPOSIT", { deposit }, "0x3a49cdd70862ee95fed10e7494a8caa16af1be2f53612fc74dad27260bb2d711"],
];

describe("readSigningMessage", () => {
  it.each(EXAMPLES)("computes the signing root of %s like Web3Signer", (type, message, signingRoot) => {
    const { signingRoot: computed } = readSigningMessage({ type, fork_info: forkInfo(), ...message }, config);
    expect(toHex(computed)).toBe(signingRoot);
  });

  it("hashes full blocks of BLOCK and BLOCK_V2 like their headers", () => {
    const message = ssz.altair.BeaconBlock.defaultValue();
    message.slot = 7;
    const block_header = ssz.phase0.BeaconBlockHeader.toJson({
      ...message,
      bodyRoot: ssz.altair.BeaconBlockBody.hashTreeRoot(message.body),
    });
    const full = { version: "ALTAIR", block: ssz.altair.BeaconBlock.toJson(message) };
    const read = (beacon_block: object) =>
      readSigningMessage({ type: "BLOCK_V2", fork_info: forkInfo(), beacon_block }, config);
    expect(read(full)).toEqual(read({ version: "ALTAIR", block_header }));
    expect(read(full).slashable).toEqual({ block: { slot: 7 } });
    const block = ssz.phase0.BeaconBlock.toJson(ssz.phase0.BeaconBlock.defaultValue());
    expect(readSigningMessage({ type: "BLOCK", fork_info: forkInfo(), block }, config)).toEqual(
      read({ version: "PHASE0", block }),
    );
  });

  it("reads electra aggregates by their version", () => {
    const data = ssz.electra.AggregateAndProof.toJson(ssz.electra.AggregateAndProof.defaultValue());
    const read = (version: string) =>
      readSigningMessage(
        { type: "AGGREGATE_AND_PROOF_V2", fork_info: forkInfo(), aggregate_and_proof: { version, data } },
        config,
      );
    expect(read("FULU")).toEqual(read("electra"));
    expect(read("DENEB").signingRoot).not.toEqual(read("FULU").signingRoot);
  });

  it("uses the previous version before the epoch of the fork", () => {
    const read = (epoch: string, fork: object) =>
      toHex(
        readSigningMessage({ type: "RANDAO_REVEAL", fork_info: fork, randao_reveal: { epoch } }, config).signingRoot,
      );
    const upgrade = forkInfo("0x00000002", "0x00000001", "4");
    expect(read("3", upgrade)).toBe(read("3", forkInfo("0x00000001")));
    expect(read("4", upgrade)).toBe(read("4", forkInfo("0x00000002")));
    expect(read("4", upgrade)).not.toBe(read("4", forkInfo("0x00000001")));
  });

  it("signs exits from deneb on with the version of capella (EIP-7044)", () => {
    const exit = { epoch: 0, validatorIndex: 5 };
    const domain = computeDomain(
      DOMAIN_VOLUNTARY_EXIT,
      VERSIONS.CAPELLA_FORK_VERSION,
      fromHex(GENESIS_VALIDATORS_ROOT),
    );
    const { signingRoot } = readSigningMessage(
      {
        type: "VOLUNTARY_EXIT",
        fork_info: forkInfo(DENEB_FORK_VERSION, "0x03000001", "0"),
        voluntary_exit: { epoch: "0", validator_index: "5" },
      },
      config,
    );
    expect(signingRoot).toEqual(computeSigningRoot(ssz.phase0.VoluntaryExit, exit, domain));
  });

  const randao = { type: "RANDAO_REVEAL", fork_info: forkInfo(), randao_reveal: { epoch: "3" } };

  it("accepts the right signing root, under both names", () => {
    const [signingRoot] = EXAMPLES.filter(([type]) => type === "RANDAO_REVEAL").map(([, , root]) => root);
    expect(readSigningMessage({ ...randao, signingRoot }, config)).toBeDefined();
    expect(readSigningMessage({ ...randao, signing_root: signingRoot }, config)).toBeDefined();
  });

  it.each<[refused: string, body: unknown, message: RegExp]>([
    ["no object", [], /^must be a JSON object/],
    ["no type", {}, /^is missing the member type\.$/],
    ["an unknown type", { ...randao, type: "RANDAO_REVEL" }, /unknown type "RANDAO_REVEL"\. Did you mean "RANDAO_/],
    ["an inherited name as type", { ...randao, type: "toString" }, /unknown type "toString"\. Known are /],
    ["no message", { ...randao, randao_reveal: undefined, type: "ATTESTATION" }, /is missing the member attestation/],
    ["a wrong value", { ...randao, randao_reveal: { epoch: "-1" } }, /invalid at randao_reveal\.epoch/],
    ["no fork", { ...randao, fork_info: undefined }, /fork_info/],
    [
      "another chain",
      { ...randao, fork_info: { ...forkInfo(), genesis_validators_root: ZERO } },
      /is for another chain: its genesis_validators_root is 0x00/,
    ],
    ["another signing root", { ...randao, signingRoot: ZERO }, /has the signingRoot "0x00.*, but its message has 0x3d/],
    [
      "an integer that is not exact",
      { type: "ATTESTATION", fork_info: forkInfo(), attestation: attestationData("18446744073709551614", ZERO) },
      /Integers above 2\^53-1 are not accepted: attestation\.slot/,
    ],
    [
      "an unknown version",
      { type: "BLOCK_V2", fork_info: forkInfo(), beacon_block: { version: "PRAGUE", block_header: header } },
      /unknown beacon_block\.version "PRAGUE"\. Known are PHASE0/,
    ],
  ])("refuses %s", (_, body, message) => {
    expect(() => readSigningMessage(body, config)).toThrow(message);
  });
});
