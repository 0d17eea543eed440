import { toHex } from "@lodestar/utils";
import type { DevChain } from "../../dev/dev-chain.ts";
import { fundedAccounts } from "../../evm/accounts.ts";
import type { Servers } from "../../node/servers/servers.ts";
import { VERSION } from "../../runtime/version.ts";
import type { DevCommandSettings } from "../flags/dev/dev-settings.ts";
import { forkTexts, SHOWN_KEYS } from "./banner.ts";
import { exampleCall } from "./servers.ts";

type BannerSettings = Pick<
  DevCommandSettings,
  "preset" | "forks" | "validators" | "slotSeconds" | "speed" | "evm" | "keys" | "servers"
>;

interface BannerNode {
  devChain: Pick<DevChain, "keys">;
  servers: Pick<Servers, "jsonRpcUrl" | "ethRpcUrl" | "restUrl" | "signerUrl" | "metricsUrl">;
}

/** Returns what `fanal dev` prints to a terminal once ready: chain, accounts, validators, endpoints and first calls. */
export function devBanner(settings: BannerSettings, { devChain, servers }: BannerNode): string {
  const sections = [
    [chainLine(settings)],
    accountLines(settings),
    validatorLines(settings, devChain),
    endpointLines(servers, settings.servers.jsonRpc?.page === true),
    suggestionLines(servers, settings.servers.jsonRpc?.access.tokenFile),
  ];
  const nonEmptySections = sections.filter(({ length }) => length > 0);
  return `\n${nonEmptySections.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function chainLine({ preset, forks, validators, slotSeconds, speed }: BannerSettings): string {
  const pace =
    speed === 0
      ? "time stands still until dev_advance"
      : `a slot every ${slotSeconds} s${speed === 1 ? "" : ` of chain time, at ${speed} times real time`}`;
  return `Fanal ${VERSION}: ${forkTexts(forks).join(", ")}, ${preset} preset, ${validators} validators, ${pace}`;
}

function accountLines({ evm }: BannerSettings): string[] {
  if (evm === undefined) return [];
  return [
    `Accounts (10,000 ETH each, chain id ${evm.chainId}; the private keys are public, never use them elsewhere)`,
    ...fundedAccounts().map(({ address, privateKey }, index) => `  (${index}) ${address}  ${privateKey}`),
  ];
}

function validatorLines({ keys: source, validators }: BannerSettings, { keys }: BannerNode["devChain"]): string[] {
  const arePublic = source?.kind !== "mnemonic";
  const indices = keys.indices.slice(0, SHOWN_KEYS);
  const note = arePublic ? "public keys and interop secret keys" : "public keys; dev_keys returns the secret keys";
  return [
    `Validators (${indices.length} of ${validators}, ${note})`,
    ...indices.flatMap((index) => {
      const line = `  (${index}) ${toHex(keys.publicKey(index)!)}`;
      return arePublic ? [line, `      ${keys.secretKey(index)!.toHex()}`] : [line];
    }),
  ];
}

function endpointLines(
  { jsonRpcUrl, ethRpcUrl, restUrl, signerUrl, metricsUrl }: BannerNode["servers"],
  hasPage: boolean,
): string[] {
  const endpoints = [
    ["JSON-RPC", jsonRpcUrl, hasPage ? "page in a browser" : "", "--rpc"],
    ["Ethereum", ethRpcUrl, "for viem, ethers, cast", undefined],
    ["REST", restUrl, "standard beacon API", "--rest"],
    ["Signer", signerUrl, "Web3Signer API", undefined],
    ["Metrics", metricsUrl && `${metricsUrl}/metrics`, "", undefined],
  ] as const;
  const lines = endpoints.flatMap(([name, url, note, flag]) => {
    if (url === undefined) return flag === undefined ? [] : [`  ${name.padEnd(9)} off; ${flag} starts it`];
    return [`  ${name.padEnd(9)} ${note === "" ? url : `${url.padEnd(28)} ${note}`}`];
  });
  return ["Endpoints", ...lines];
}

function suggestionLines({ jsonRpcUrl, ethRpcUrl }: BannerNode["servers"], tokenFile: string | undefined): string[] {
  if (jsonRpcUrl === undefined) return [];
  const target = { url: jsonRpcUrl, tokenFile };
  const calls = [exampleCall("getChainHead", [], target), exampleCall("dev_advance", ["8"], target)];
  const third = ethRpcUrl === undefined ? `open ${jsonRpcUrl}` : exampleCall("eth_blockNumber", [], target);
  return ["Try", ...[...calls, third].map((call) => `  ${call}`)];
}
