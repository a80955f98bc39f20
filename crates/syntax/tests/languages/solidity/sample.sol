// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import "@openzeppelin/contracts/access/Ownable.sol";
import {IERC20 as Token, SafeMath} from "./Token.sol";

uint256 constant FEE_MAX = 500;

error NotFunded(address account, uint256 missing);

type Price is uint128;

/// @notice Adds the fee to an amount.
function withFee(uint256 amount, uint256 fee) pure returns (uint256) {
    return amount + (amount * fee) / 10_000;
}

/// @title Who pays out.
interface IPayout {
    event Paid(address indexed to, uint256 amount);

    function pay(address to) external returns (bool);
}

library Shares {
    struct Share {
        address owner;
        uint96 weight;
    }

    function total(Share[] memory shares) internal pure returns (uint256 sum) {
        for (uint256 i = 0; i < shares.length; i++) {
            sum += shares[i].weight;
        }
    }
}

/**
 * @title Holds deposits until the relay releases them.
 * @dev One vault a region.
 */
contract Vault is Ownable, IPayout {
    using Shares for Shares.Share[];

    enum Stage { Open, Closed }

    /// What each account put in.
    mapping(address => uint256) public deposits;
    uint256 public immutable fee;
    Stage private stage = Stage.Open;

    modifier whenOpen() {
        require(stage == Stage.Open, "closed");
        _;
    }

    constructor(uint256 fee_) Ownable(msg.sender) {
        fee = fee_;
    }

    receive() external payable {
        deposit();
    }

    fallback(bytes calldata input) external payable returns (bytes memory) {
        return input;
    }

    /// @notice Takes a deposit.
    function deposit() public payable whenOpen {
        uint256 taken = withFee(msg.value, fee);
        if (taken > FEE_MAX) revert NotFunded(msg.sender, taken);
        deposits[msg.sender] += taken;
        emit Paid(msg.sender, taken);
    }

    function pay(address to) external override onlyOwner returns (bool) {
        (bool sent, ) = to.call{value: deposits[to]}("");
        return sent;
    }
}

abstract contract Auction {
    function bid(uint256 amount) external virtual;

    function highest() public view virtual returns (address bidder, uint256 amount);
}
