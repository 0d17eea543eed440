import { defineMethod, required } from "../../definition.ts";
import { bytes, ethAddress, typedData } from "../../params/eth.ts";
import { transactionRequest } from "../../params/eth-transaction.ts";
import { object, shape } from "../../schemas.ts";
import { ETH_SIGNATURE, ethOf, FUNDED } from "./eth-of.ts";

const SIGNER = required(ethAddress, "One of the funded accounts.");
const TRANSACTION = required(transactionRequest, "Transaction. Nonce, gas and fees are filled in if they are absent.");
const SIGNATURE = { name: "signature", schema: shape("Bytes") };
const TRANSFER = { from: FUNDED, to: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8", gas: "0x5208", value: "0x1" };

const sign = defineMethod({
  ...ETH_SIGNATURE,
  name: "eth_sign",
  summary: "Signs a message with the prefix of EIP-191.",
  params: { address: SIGNER, message: required(bytes, "Message.") },
  result: SIGNATURE,
  example: { stage: "control", params: [FUNDED, "0x68656c6c6f"] },
  handler: (context, args) => ethOf(context).call("sign", args),
});

const personalSign = defineMethod({
  ...ETH_SIGNATURE,
  name: "personal_sign",
  summary: "Signs a message with the prefix of EIP-191. Takes the message first.",
  params: { message: required(bytes, "Message."), address: SIGNER },
  result: SIGNATURE,
  example: { stage: "control", params: ["0x68656c6c6f", FUNDED] },
  handler: (context, args) => ethOf(context).call("sign", args),
});

const signTypedData = defineMethod({
  ...ETH_SIGNATURE,
  name: "eth_signTypedData_v4",
  aliases: ["eth_signTypedData"],
  summary: "Signs typed data (EIP-712).",
  params: { address: SIGNER, typedData: required(typedData, "Typed data.", { name: "typed_data" }) },
  result: SIGNATURE,
  example: {
    stage: "control",
    params: [
      FUNDED,
      {
        types: { EIP712Domain: [{ name: "name", type: "string" }], Mail: [{ name: "contents", type: "string" }] },
        primaryType: "Mail",
        domain: { name: "Example" },
        message: { contents: "Hello" },
      },
    ],
  },
  handler: (context, args) => ethOf(context).call("signTypedData", args),
});

const signTransaction = defineMethod({
  ...ETH_SIGNATURE,
  name: "eth_signTransaction",
  summary: "Signs a transaction without sending it.",
  params: { transaction: TRANSACTION },
  result: { name: "signed", schema: object({ raw: shape("Bytes"), tx: { type: "object" } }) },
  example: { stage: "control", params: [TRANSFER] },
  handler: (context, args) => ethOf(context).call("signTransaction", args),
});

const sendTransaction = defineMethod({
  ...ETH_SIGNATURE,
  name: "eth_sendTransaction",
  summary: "Signs a transaction, adds it to the pool and returns its hash.",
  params: { transaction: TRANSACTION },
  result: { name: "hash", schema: shape("Root") },
  example: { stage: "control", params: [TRANSFER] },
  handler: (context, args) => ethOf(context).call("sendTransaction", args),
});

export const ethAccountMethods = [sign, personalSign, signTypedData, signTransaction, sendTransaction] as const;
