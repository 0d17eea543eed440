import { expect, it } from "vitest";
import { interopKeys } from "../json-rpc-validator/keys.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { ProgramHere } from "../support/program/program-here.ts";
import { connect } from "./client-connection.ts";
import { GRAFFITI } from "./client-proposing.ts";
import { doDutiesUpTo } from "./client-validator.ts";

const VALIDATORS = 16;
const SLOTS_PER_EPOCH = 8;
const FINAL_EPOCH = 2;
/** The first epoch is finalized two epochs later. */
const LAST_SLOT = (FINAL_EPOCH + 2) * SLOTS_PER_EPOCH;

const IN_BOTH_FORMATS = [
  "GET /eth/v1/validator/attestation_data",
  "GET /eth/v2/validator/aggregate_attestation",
  "GET /eth/v3/validator/blocks/{n}",
  "POST /eth/v2/beacon/blocks",
  "POST /eth/v2/beacon/pool/attestations",
  "POST /eth/v2/validator/aggregate_and_proofs",
];

/** Operations that are SSZ in the client but not in the standard. */
const IN_JSON_ALONE = [
  "GET /eth/v1/validator/sync_committee_contribution",
  "POST /eth/v1/beacon/pool/sync_committees",
  "POST /eth/v1/validator/contribution_and_proofs",
];

it("validators using only the client of @lodestar/api finalize a fulu chain", async () => {
  const program = await ProgramHere.dev([
    ...["--data-dir", tempDirectory(), "--fork", "fulu", "--validators", String(VALIDATORS)],
    ...["--dev-validators", "none", "--warmup-epochs", "0", "--no-auto", "--rest", "--rest-port", "0"],
  ]);
  const [, url] = await program.untilLine(/REST is served at (http:\S+)/);
  const connection = await connect(url!);
  const beginSlot = () => program.call("dev_skip");
  await doDutiesUpTo(LAST_SLOT, { connection, keys: interopKeys(VALIDATORS), beginSlot });

  expect([...connection.answered]).toEqual(
    expect.arrayContaining(IN_BOTH_FORMATS.flatMap((request) => [`${request} json`, `${request} ssz`])),
  );
  for (const request of IN_JSON_ALONE) {
    expect([...connection.answered].filter((each) => each.startsWith(`${request} `))).toEqual([`${request} json`]);
  }
  // JSON-RPC serves the same chain.
  const head = await program.call("getChainHead");
  expect(Number(head.head_slot)).toBe(LAST_SLOT);
  expect(Number(head.finalized_slot)).toBe(FINAL_EPOCH * SLOTS_PER_EPOCH);

  const { beacon } = connection.clientAt(LAST_SLOT);
  let synced = 0;
  let attested = 0;
  for (let slot = 1; slot <= LAST_SLOT; slot++) {
    const { body } = (await beacon.getBlockV2({ blockId: slot })).value().message;
    expect(Buffer.from(body.graffiti).toString().replace(/\0+$/, "")).toBe(GRAFFITI);
    if (body.attestations.length > 0) attested++;
    if ("syncAggregate" in body && body.syncAggregate.syncCommitteeBits.getTrueBitIndexes().length > 0) synced++;
  }
  // Every slot but the last has attestations, which the next block includes.
  expect(attested).toBe(LAST_SLOT - 1);
  expect(synced).toBe(LAST_SLOT - 1);
  expect(program.errors).toEqual([]);
});
