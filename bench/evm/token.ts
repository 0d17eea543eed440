import { type Compiled, compile } from "./compile.ts";

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

/** Compiles an ERC-20 with unrestricted minting. */
export function compileToken(): Compiled {
  return compile(SOURCE);
}
