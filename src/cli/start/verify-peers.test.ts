import { generateKeyPair } from "@libp2p/crypto/keys";
import { peerIdFromPrivateKey } from "@libp2p/peer-id";
import { expect, it } from "vitest";
import { EXIT_CODES } from "../exit.ts";
import { verifyPeers } from "./verify-peers.ts";

/** The example record from EIP-778. */
const RECORD =
  "enr:-IS4QHCYrYZbAKWCBRlAy5zzaDZXJBGkcnh4MHcBFZntXNFrdvJjX04jRzjzCBOonrkTfj499SZuOh8R33Ls8RRcy5wBgmlkgnY0gmlwhH8AAAGJc2VjcDI1NmsxoQPKY0yuDUmstAHYpMa2_oxVtw0RW_QAdpzBQA8yWM0xOIN1ZHCCdl8";

const options = {
  address: "127.0.0.1",
  port: 0,
  discovery: true,
  targetPeers: 1,
  supernode: false,
  bootnodes: [] as string[],
  directPeers: [] as string[],
};

it("accepts records with a valid signature and addresses with a peer id", async () => {
  const id = peerIdFromPrivateKey(await generateKeyPair("secp256k1"));
  const ids = [id.toString(), id.toCID().toString()];
  const directPeers = ids.map((text) => `/ip4/192.0.2.1/tcp/9000/p2p/${text}`);
  await expect(verifyPeers({ ...options, bootnodes: [RECORD], directPeers })).resolves.toBeUndefined();
});

it("rejects forged records and invalid peer ids with the reason", async () => {
  const forged = RECORD.replace("IS4QHC", "IS4QHD");
  const address = `/ip4/192.0.2.1/tcp/9000/p2p/${"0".repeat(46)}`;
  await expect(verifyPeers({ ...options, bootnodes: [RECORD, forged] })).rejects.toMatchObject({
    exitCode: EXIT_CODES.usage,
    message: expect.stringMatching(/^The bootnode enr:-IS4QHD\S+ is not accepted: .*\.$/),
  });
  await expect(verifyPeers({ ...options, directPeers: [address] })).rejects.toMatchObject({
    exitCode: EXIT_CODES.usage,
    message: expect.stringMatching(/^The value "\/ip4\S+" of --peer is not accepted: .*\.$/),
  });
});
