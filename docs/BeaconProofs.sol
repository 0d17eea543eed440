// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// Verifies parts of beacon blocks and states against the block roots that EIP-4788 keeps on the execution side.
contract BeaconProofs {
    address constant BEACON_ROOTS = 0x000F3df6D732807Ef1319fB7B8bB8522d0Beac02;

    /// Generalized index of the state in a block: field 3 of 8 leaves.
    uint256 constant STATE = 8 + 3;
    /// The elements of the list of validators, beside its length, in electra and fulu: field 11 of the 64 leaves of a state.
    uint256 constant VALIDATORS_ELECTRA = (STATE * 64 + 11) * 2;
    uint256 constant VALIDATOR_LIMIT = 2 ** 40;
    /// Length of the branch of a field of any validator in electra and fulu.
    uint256 constant DEPTH_ELECTRA = 3 + 6 + 1 + 40 + 3;
    /// The elements from gloas on. The fields of a state, and the elements of a list, are in subtrees of 1, 4, 16, … leaves,
    /// each to the left of the rest. Field 11 is leaf 6 of the third subtree.
    uint256 constant VALIDATORS = (((((STATE * 2) * 2 + 1) * 2 + 1) * 2) * 16 + 6) * 2;

    /// The root of the beacon block that was the parent when the execution block of that timestamp was made.
    function beaconRoot(uint64 timestamp) public view returns (bytes32) {
        (bool isFound, bytes memory root) = BEACON_ROOTS.staticcall(abi.encode(timestamp));
        require(isFound && root.length == 32, "no beacon root at that timestamp");
        return abi.decode(root, (bytes32));
    }

    /// Where a branch leads from a leaf. A branch of another length than the index has belongs to another place in the tree.
    function rootOf(bytes32 leaf, bytes32[] calldata branch, uint256 gindex) public pure returns (bytes32 root) {
        require(gindex >> branch.length == 1, "branch of another depth");
        root = leaf;
        for (uint256 i = 0; i < branch.length; i++) {
            bool isRight = (gindex >> i) & 1 == 1;
            root = isRight ? sha256(abi.encodePacked(branch[i], root)) : sha256(abi.encodePacked(root, branch[i]));
        }
    }

    /// Whether the block whose root is kept at the timestamp has that leaf at the index.
    function isInBlock(uint64 timestamp, uint256 gindex, bytes32 leaf, bytes32[] calldata branch)
        public
        view
        returns (bool)
    {
        return rootOf(leaf, branch, gindex) == beaconRoot(timestamp);
    }

    /// Whether the validator has those withdrawal credentials. The index in the tree is the contract's own, never the caller's.
    function hasCredentials(uint64 timestamp, uint40 validator, bytes32 credentials, bytes32[] calldata branch)
        external
        view
        returns (bool)
    {
        return isInBlock(timestamp, fieldOf(validator, 1, branch.length), credentials, branch);
    }

    /// Whether the validator has that effective balance, in gwei.
    function hasEffectiveBalance(uint64 timestamp, uint40 validator, uint64 balance, bytes32[] calldata branch)
        external
        view
        returns (bool)
    {
        return isInBlock(timestamp, fieldOf(validator, 2, branch.length), leafOf(balance), branch);
    }

    /// The index in the tree of one of the eight fields of a validator, in the fork that the length of the branch belongs to.
    /// The lengths of the forks differ. A branch of the other fork proves nothing: in the tree of a gloas state, the index of
    /// electra would be below the genesis time, and in that of an electra state, the index of gloas would be below the index of
    /// the next withdrawal. Both are leaves.
    function fieldOf(uint40 validator, uint256 field, uint256 depth) public pure returns (uint256 gindex) {
        if (depth == DEPTH_ELECTRA) return (VALIDATORS_ELECTRA * VALIDATOR_LIMIT + validator) * 8 + field;
        uint256 first = 0;
        uint256 size = 1;
        gindex = VALIDATORS;
        while (validator >= first + size) {
            first += size;
            size *= 4;
            gindex = gindex * 2 + 1;
        }
        return (gindex * 2 * size + validator - first) * 8 + field;
    }

    /// The leaf of an unsigned integer: its bytes, the least significant first.
    function leafOf(uint64 value) public pure returns (bytes32 leaf) {
        for (uint256 i = 0; i < 8; i++) leaf |= bytes32(uint256(uint8(value >> (8 * i))) << (248 - 8 * i));
    }
}
