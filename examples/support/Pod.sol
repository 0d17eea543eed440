// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import "BeaconProofs.sol";

interface DepositContract {
    function deposit(bytes calldata pubkey, bytes calldata credentials, bytes calldata signature, bytes32 root)
        external
        payable;
}

/// Stakes for its owner: the withdrawals of its validators are credited to this contract.
contract Pod is BeaconProofs {
    DepositContract constant DEPOSITS = DepositContract(0x4242424242424242424242424242424242424242);
    /// EIP-7002
    address constant WITHDRAWAL_REQUESTS = 0x00000961Ef480Eb55e80D19ad83579A64c007002;

    mapping(uint40 validator => bool) public isVerified;

    function credentials() public view returns (bytes32) {
        return bytes32(abi.encodePacked(bytes1(0x01), bytes11(0), address(this)));
    }

    /// Deposits the sent ether. The deposit contract rejects a root of other data.
    function stake(bytes calldata pubkey, bytes calldata signature, bytes32 root) external payable {
        DEPOSITS.deposit{value: msg.value}(pubkey, abi.encodePacked(credentials()), signature, root);
    }

    /// Accepts a validator whose credentials are proven against the beacon root of the timestamp (EIP-4788).
    function verify(uint64 timestamp, uint40 validator, bytes32[] calldata branch) external {
        require(this.hasCredentials(timestamp, validator, credentials(), branch), "credentials of another contract");
        isVerified[validator] = true;
    }

    /// Requests a full exit. The value pays the fee.
    function exit(bytes calldata pubkey) external payable {
        (bool isAccepted,) = WITHDRAWAL_REQUESTS.call{value: msg.value}(abi.encodePacked(pubkey, uint64(0)));
        require(isAccepted, "exit refused");
    }
}
