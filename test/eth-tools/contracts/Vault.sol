// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// Holds deposits until they are withdrawn. The owner can lock withdrawals for a time.
contract Vault {
    error Insufficient(uint256 available, uint256 requested);
    error NotOwner(address caller);

    event Deposited(address indexed from, uint256 amount);
    event Withdrawn(address indexed to, uint256 amount);

    address public immutable owner;
    uint256 public immutable minimum;
    uint256 public lockedUntil;
    mapping(address => uint256) public balanceOf;

    constructor(uint256 minimum_) {
        owner = msg.sender;
        minimum = minimum_;
    }

    function deposit() external payable {
        require(msg.value >= minimum, "below minimum");
        balanceOf[msg.sender] += msg.value;
        emit Deposited(msg.sender, msg.value);
    }

    function withdraw(uint256 amount) external {
        require(block.timestamp >= lockedUntil, "locked");
        uint256 available = balanceOf[msg.sender];
        if (amount > available) revert Insufficient(available, amount);
        balanceOf[msg.sender] = available - amount;
        emit Withdrawn(msg.sender, amount);
        payable(msg.sender).transfer(amount);
    }

    function lock(uint256 duration) external {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        lockedUntil = block.timestamp + duration;
    }
}
