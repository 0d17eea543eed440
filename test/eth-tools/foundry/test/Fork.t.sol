// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {Vault} from "../contracts/Vault.sol";

interface Vm {
    function envAddress(string calldata name) external view returns (address);
    function expectPartialRevert(bytes4 selector) external;
    function prank(address sender) external;
}

/// Runs on a fork of the chain, in which VAULT is deployed.
contract ForkTest {
    Vm private constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    function test_depositsAreThere() external view {
        Vault vault = Vault(vm.envAddress("VAULT"));
        require(block.chainid == 31337, "chain id");
        require(vault.minimum() == 1000, "minimum");
        require(vault.balanceOf(vault.owner()) == address(vault).balance, "balance");
    }

    function test_onlyTheOwnerLocks() external {
        Vault vault = Vault(vm.envAddress("VAULT"));
        vm.expectPartialRevert(Vault.NotOwner.selector);
        vault.lock(1);
        vm.prank(vault.owner());
        vault.lock(1);
    }
}
