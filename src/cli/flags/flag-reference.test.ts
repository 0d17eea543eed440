import { describe, expect, it } from "vitest";
import { flagReference } from "./flag-reference.ts";

describe("flag reference", () => {
  const lines = flagReference().split("\n");

  it("has a section for each command", () => {
    expect(lines.filter((line) => line.startsWith("## "))).toEqual([
      "## `fanal dev`",
      "## `fanal dev keys export DIR`",
      "## `fanal node`",
      "## `fanal gateway [check FILE | key]`",
      "## `fanal call METHOD [PARAM...]`",
      "## `fanal console`",
      "## `fanal doctor URL...`",
      "## `fanal db check|repair|rewind SLOT|compact|export FILE|import FILE`",
      "## `fanal methods [WORD...]`",
      "## `fanal completion bash|zsh|fish`",
    ]);
  });

  it("lists name, default, variable and meaning of a flag", () => {
    const port =
      "| `--rpc-port PORT` | 9190 | `FANAL_RPC_PORT` | Port of the JSON-RPC interface; 0 for any free port |";
    expect(lines.filter((line) => line === port)).toHaveLength(3);
    expect(lines).toContain(
      "| `--data-dir DIR`, `--datadir` | .fanal/dev | `FANAL_DATA_DIR` | Data directory of the chain |",
    );
  });

  it("escapes bars in table cells", () => {
    expect(lines.some((line) => line.startsWith("| `--network NAME\\|DIR` | mainnet |"))).toBe(true);
  });
});
