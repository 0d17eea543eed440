import solc from "solc";

const SOURCE = `
pragma solidity ^0.8.20;

contract Token {
  mapping(address => uint256) public balanceOf;
  uint256 public totalSupply;

  event Transfer(address indexed from, address indexed to, uint256 value);

  function mint(address to, uint256 value) external {
    totalSupply += value;
    balanceOf[to] += value;
    emit Transfer(address(0), to, value);
  }
}`;

/** Compiles an ERC-20 with unrestricted minting. Returns its init code. */
export function tokenInitCode(): Uint8Array {
  const input = {
    language: "Solidity",
    sources: { "token.sol": { content: SOURCE } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { "*": { "*": ["evm.bytecode.object"] } },
    },
  };
  const { contracts } = JSON.parse(solc.compile(JSON.stringify(input)));
  return new Uint8Array(Buffer.from(contracts["token.sol"].Token.evm.bytecode.object, "hex"));
}
