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
    /// 32 ETH in Gwei, little-endian.
    bytes32 constant AMOUNT = bytes32(bytes8(0x0040597307000000));

    mapping(uint40 validator => bool) public isVerified;

    function credentials() public view returns (bytes32) {
        return bytes32(abi.encodePacked(bytes1(0x01), bytes11(0), address(this)));
    }

    /// Deposits 32 ETH. The signature is that of the deposit message.
    function stake(bytes calldata pubkey, bytes calldata signature) external payable {
        bytes32 key = sha256(abi.encodePacked(pubkey, bytes16(0)));
        bytes32 signed = hash(sha256(signature[:64]), sha256(abi.encodePacked(signature[64:], bytes32(0))));
        bytes32 root = hash(hash(key, credentials()), hash(AMOUNT, signed));
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

    function hash(bytes32 left, bytes32 right) private pure returns (bytes32) {
        return sha256(abi.encodePacked(left, right));
    }
}
