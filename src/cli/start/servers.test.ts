import { expect, it } from "vitest";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { announceServers } from "./servers.ts";

const SERVERS = { jsonRpcUrl: "http://127.0.0.1:9190", restUrl: undefined, metricsUrl: undefined };

function announced(platform: string, tokenFile?: string): string[] {
  const logger = createRecordingLogger();
  const access = { virtualHosts: [], allowedOrigins: [], classes: [], trustedProxies: [], tokenFile };
  announceServers(SERVERS, { jsonRpc: { host: "127.0.0.1", port: 9190, access } }, logger, platform);
  return logger.records.map(({ message }) => message);
}

it("shows an example call for the shells of the platform", () => {
  const json = `-H 'Content-Type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"getChainHead","params":[]}'`;
  expect(announced("darwin")).toContain(`Try: curl -s http://127.0.0.1:9190 ${json}`);
  expect(announced("linux", "/etc/token")).toContain(
    `Try: curl -s http://127.0.0.1:9190 -H "Authorization: Bearer $(cat '/etc/token')" ${json}`,
  );
  expect(announced("win32")).toContain("Try: fanal call getChainHead --url http://127.0.0.1:9190");
  expect(announced("win32", "C:\\a b\\token")).toContain(
    'Try: fanal call getChainHead --url http://127.0.0.1:9190 --token-file "C:\\a b\\token"',
  );
});
