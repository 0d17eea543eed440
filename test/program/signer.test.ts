import { request } from "node:http";
import { computeSigningRoot, interopSecretKey } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { fromHex, toHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { ProgramHere } from "../support/program/program-here.ts";

const FLAGS = ["--validators", "8", "--no-auto", "--warmup-epochs", "0", "--fork", "capella"];
const ZERO = `0x${"00".repeat(32)}`;

const publicKey = (index: number) => toHex(interopSecretKey(index).toPublicKey().toBytes());

interface Reply {
  status: number;
  body: string;
  type: string | null;
}

/** A dev chain with a signer. */
class Signer {
  readonly program: ProgramHere;
  readonly url: string;
  readonly forkInfo: object;

  static async start(flags: readonly string[], directory = tempDirectory()): Promise<Signer> {
    const program = await ProgramHere.dev([...FLAGS, "--data-dir", directory, "--signer-port", "0", ...flags]);
    const url = (await program.untilLine(/Web3Signer API is served at (http:\S+)/))[1]!;
    const genesis = await program.call<{ genesis_validators_root: string }>("get_v1_beacon_genesis");
    const fork = await program.call<object>("get_v1_beacon_states_fork", ["head"]);
    return new Signer(program, url, { fork, genesis_validators_root: genesis.genesis_validators_root });
  }

  private constructor(program: ProgramHere, url: string, forkInfo: object) {
    this.program = program;
    this.url = url;
    this.forkInfo = forkInfo;
  }

  async send(path: string, init?: RequestInit): Promise<Reply> {
    const response = await fetch(`${this.url}${path}`, init);
    return { status: response.status, type: response.headers.get("content-type"), body: await response.text() };
  }

  async json(path: string): Promise<unknown> {
    return JSON.parse((await this.send(path)).body);
  }

  sign(index: number, type: string, message: object): Promise<Reply> {
    return this.post(publicKey(index), { type, fork_info: this.forkInfo, ...message });
  }

  post(identifier: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    return this.send(`/api/v1/eth2/sign/${identifier}`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  }

  vote(index: number, source: number, target: number, root = ZERO): Promise<Reply> {
    const checkpoint = (epoch: number) => ({ epoch: String(epoch), root });
    const attestation = {
      slot: String(8 * target),
      index: "0",
      beacon_block_root: root,
      source: checkpoint(source),
      target: checkpoint(target),
    };
    return this.sign(index, "ATTESTATION", { attestation });
  }

  propose(index: number, slot: number, root = ZERO): Promise<Reply> {
    const block_header = {
      slot: String(slot),
      proposer_index: String(index),
      parent_root: root,
      state_root: ZERO,
      body_root: ZERO,
    };
    return this.sign(index, "BLOCK_V2", { beacon_block: { version: "CAPELLA", block_header } });
  }
}

const OTHER = `0x${"11".repeat(32)}`;

describe("fanal dev --signer-port", () => {
  it("offers the validators that the node does not run, and signs with their keys", async () => {
    const signer = await Signer.start(["--dev-validators", "0-5"]);
    expect(await signer.json("/api/v1/eth2/publicKeys")).toEqual([publicKey(6), publicKey(7)]);
    await signer.program.call("dev_setValidators", [null, [3]]);
    expect(await signer.json("/api/v1/eth2/publicKeys")).toEqual([publicKey(3)]);

    const { status, type, body } = await signer.sign(6, "RANDAO_REVEAL", { randao_reveal: { epoch: "1" } });
    expect([status, type]).toEqual([200, "application/json"]);
    const spec = await signer.program.call<Record<string, string>>("get_v1_config_spec");
    const { DOMAIN_RANDAO, CAPELLA_FORK_VERSION } = spec;
    const forkData = {
      currentVersion: fromHex(CAPELLA_FORK_VERSION!),
      genesisValidatorsRoot: fromHex((signer.forkInfo as { genesis_validators_root: string }).genesis_validators_root),
    };
    const domain = Buffer.concat([fromHex(DOMAIN_RANDAO!), ssz.phase0.ForkData.hashTreeRoot(forkData).subarray(0, 28)]);
    const expected = interopSecretKey(6).sign(computeSigningRoot(ssz.Epoch, 1, domain));
    expect(JSON.parse(body)).toEqual({ signature: toHex(expected.toBytes()) });

    const randao = { type: "RANDAO_REVEAL", fork_info: signer.forkInfo, randao_reveal: { epoch: "1" } };
    const text = await signer.post(publicKey(6).slice(2).toUpperCase(), randao, { accept: "text/plain" });
    expect(text).toEqual({ status: 200, type: "text/plain; charset=utf-8", body: toHex(expected.toBytes()) });
  });

  it("signs an exit that the node accepts", async () => {
    const signer = await Signer.start(["--dev-validators", "none", "--config", "SHARD_COMMITTEE_PERIOD=0"]);
    const message = { epoch: "0", validator_index: "2" };
    const { body } = await signer.sign(2, "VOLUNTARY_EXIT", { voluntary_exit: message });
    const { signature } = JSON.parse(body) as { signature: string };
    await signer.program.call("post_v1_beacon_pool_voluntary_exits", [{ message, signature }]);
    expect(await signer.program.call("get_v1_beacon_pool_voluntary_exits")).toHaveLength(1);
  });

  it("refuses double votes, surround votes and double blocks with 412, also after a restart", async () => {
    const directory = tempDirectory();
    const signer = await Signer.start(["--dev-validators", "none"], directory);
    const first = await signer.vote(1, 1, 3);
    expect(first.status).toBe(200);
    expect(await signer.vote(1, 1, 3)).toEqual(first);
    const doubled = await signer.vote(1, 1, 3, OTHER);
    expect(doubled.status).toBe(412);
    expect(JSON.parse(doubled.body).message).toBe(
      "Slashing protection: validator 1 has already signed an attestation with source 1 and target 3, " +
        `whose beacon_block_root is ${ZERO}, not ${OTHER}.`,
    );
    expect((await signer.vote(1, 0, 4)).status).toBe(412);
    expect((await signer.vote(1, 2, 2)).status).toBe(412);
    expect((await signer.vote(2, 0, 4)).status).toBe(200);

    const block = await signer.propose(1, 9);
    expect(block.status).toBe(200);
    expect(await signer.propose(1, 9)).toEqual(block);
    const { status, body } = await signer.propose(1, 9, OTHER);
    expect([status, JSON.parse(body).message]).toEqual([
      412,
      expect.stringMatching(/has already signed a block for slot 9, whose signing root is 0x[0-9a-f]{64}, not 0x/),
    ]);
    expect((await signer.propose(1, 8)).status).toBe(412);
    expect((await signer.propose(1, 10)).status).toBe(200);

    await signer.program.stop();
    const restarted = await Signer.start(["--dev-validators", "none"], directory);
    expect(JSON.parse((await restarted.vote(1, 1, 3, OTHER)).body).message).toBe(
      "Slashing protection: validator 1 has already signed an attestation with source 1 and target 3, " +
        "which may be another message than this one.",
    );
    expect((await restarted.propose(1, 10, OTHER)).status).toBe(412);
    expect((await restarted.vote(1, 1, 4)).status).toBe(200);
  });

  it("shares the slashing protection of validators that the node runs", async () => {
    const signer = await Signer.start([]);
    expect(await signer.json("/api/v1/eth2/publicKeys")).toEqual([]);
    await signer.program.call("dev_advance", [null, 1]);
    const { status, body } = await signer.vote(4, 0, 0, OTHER);
    expect(status).toBe(412);
    expect(JSON.parse(body).message).toContain("This node runs the validator. --dev-validators leaves it to a client.");
  });

  it("reports its status, refuses wrong requests with the reason, and has the access rules of the other servers", async () => {
    const signer = await Signer.start(["--dev-validators", "none"]);
    expect(await signer.send("/upcheck")).toMatchObject({ status: 200, body: "OK" });
    expect(await signer.json("/healthcheck")).toMatchObject({ status: "UP" });
    expect(await signer.json("/reload")).toEqual({ status: "idle" });
    expect(await signer.send("/reload", { method: "POST" })).toMatchObject({ status: 202 });
    expect(await signer.json("/reload")).toMatchObject({ status: "completed" });

    const refusal = async (reply: Promise<Reply>) => {
      const { status, body } = await reply;
      return [status, (JSON.parse(body) as { message: string }).message];
    };
    const randao = { type: "RANDAO_REVEAL", fork_info: signer.forkInfo, randao_reveal: { epoch: "1" } };
    expect(await refusal(signer.post("0x12", randao))).toEqual([400, expect.stringContaining("96 hex digits")]);
    expect(await refusal(signer.post(publicKey(8), randao))).toEqual([404, expect.stringContaining("is unknown")]);
    expect(await refusal(signer.post(publicKey(1), "{"))).toEqual([400, expect.stringContaining("not JSON")]);
    expect(await refusal(signer.post(publicKey(1), randao, { "content-type": "text/plain" }))).toEqual([
      415,
      expect.stringContaining("application/json"),
    ]);
    expect(await refusal(signer.post(publicKey(1), { ...randao, randao_reveal: { epoch: "x" } }))).toEqual([
      400,
      expect.stringMatching(/^The signing request is invalid at randao_reveal\.epoch: it must be an integer/),
    ]);
    expect(await refusal(signer.send("/api/v1/eth2/sign"))).toEqual([404, expect.stringContaining("Unknown path")]);
    expect(await refusal(signer.send("/upcheck", { method: "DELETE" }))).toEqual([
      405,
      "/upcheck requires the HTTP method GET.",
    ]);

    const status = (headers: Record<string, string>) =>
      new Promise<number | undefined>((resolve, reject) => {
        request(`${signer.url}/upcheck`, { headers }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on("error", reject)
          .end();
      });
    expect(await status({})).toBe(200);
    expect(await status({ host: "rebound.example" })).toBe(403);
    expect(await status({ origin: "https://page.example" })).toBe(403);
    expect(await status({ origin: "http://localhost:3000" })).toBe(403);
  });
});
