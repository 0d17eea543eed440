// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {Vault} from "../contracts/Vault.sol";

interface Vm {
    function startBroadcast() external;
    function stopBroadcast() external;
}

contract Deploy {
    Vm private constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    /// Deploys a vault and makes the first deposit.
    function run() external returns (Vault vault) {
        vm.startBroadcast();
        vault = new Vault(1000);
        vault.deposit{value: 5000}();
        vm.stopBroadcast();
    }
}
