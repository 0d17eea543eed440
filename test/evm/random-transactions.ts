import { Address, createAddressFromPrivateKey, eoaCode7702SignAuthorization } from "@ethereumjs/util";
import type { Transaction } from "../../src/evm/execution/transaction.ts";
import { DEFAULT_CHAIN_ID } from "../../src/evm/genesis.ts";
import { bytesOf, type TestChain } from "../support/evm/evm.ts";
import { type Random, randomFrom } from "../support/evm/random.ts";

const ACCOUNTS = 10;
/** Addresses of precompiles: all up to BLS12-381, and P-256. */
const PRECOMPILES = [...Array.from({ length: 17 }, (_, index) => index + 1), 0x100];

/** Creates transactions with contracts that use all kinds of opcodes. */
export class RandomTransactions {
  readonly #chain: TestChain;
  readonly #random: Random;
  readonly #stateGas: bigint;
  /** Hexadecimal addresses of contracts and of other recipients so far. */
  readonly targets: string[] = [];
  #authorities = 0;

  /** `stateGas` is added to the gas limit of each transaction. */
  constructor(chain: TestChain, seed: number, stateGas = 0n) {
    this.#chain = chain;
    this.#stateGas = stateGas;
    this.#random = randomFrom(seed);
  }

  next(): Transaction {
    const random = this.#random;
    const account = random(ACCOUNTS);
    const kind = random(10);
    const type = random(3);
    const accessList = type > 0 && random(3) === 0 ? this.#accessList() : [];
    const common = {
      type,
      ...(type > 0 && { accessList }),
      gasLimit: BigInt(100_000 + random(900_000)) + this.#stateGas,
    };
    if (kind < 1) {
      const target = `${(0x5000 + random(200)).toString(16).padStart(40, "0")}`;
      this.targets.push(target);
      return this.#chain.sign(account, { ...common, to: addressFrom(target), value: BigInt(random(1000)) });
    }
    if (kind < 4) return this.#chain.sign(account, { ...common, data: this.#initCode(), value: BigInt(random(3)) });
    if (kind < 5) return this.#delegation(account);
    const to = random(8) === 0 ? precompile(random) : this.#target();
    const data = this.#bytes(random(140));
    return this.#chain.sign(account, { ...common, to: addressFrom(to), data, value: BigInt(random(4) === 0 ? 1 : 0) });
  }

  /** EIP-7702: an authorization of a new account, sometimes with a wrong nonce or chain. */
  #delegation(account: number): Transaction {
    const random = this.#random;
    const key = new Uint8Array(32).fill(1);
    key.set([this.#authorities >> 8, this.#authorities & 0xff], 30);
    if (random(3) > 0) this.#authorities++;
    const chainId = [DEFAULT_CHAIN_ID, 0, 5][random(8) < 6 ? 0 : 1 + random(2)]!;
    const nonce = random(6) === 0 ? Uint8Array.of(1 + random(3)) : new Uint8Array(0);
    const target = bytesOf(random(6) === 0 ? "00".repeat(20) : this.#target());
    const authorization = eoaCode7702SignAuthorization([numberBytes(chainId), target, nonce], key);
    const authority = createAddressFromPrivateKey(key);
    this.targets.push(authority.toString().slice(2));
    const fields = { type: 4, to: authority, authorizationList: [authorization], gasLimit: 900_000n + this.#stateGas };
    return this.#chain.sign(account, { ...fields, data: this.#bytes(random(40)) });
  }

  #target(): string {
    const { targets } = this;
    return targets.length === 0 ? "00".repeat(19).concat("04") : targets[this.#random(targets.length)]!;
  }

  #accessList(): [Uint8Array, Uint8Array[]][] {
    const slot = new Uint8Array(32);
    slot[31] = this.#random(4);
    return [[bytesOf(this.#target()), [slot]]];
  }

  #bytes(size: number): Uint8Array {
    return new Uint8Array(size).map(() => this.#random(256));
  }

  /** Runs some of the code, and deploys the rest. */
  #initCode(): Uint8Array {
    const runtime = this.#code(3 + this.#random(8));
    const setup = this.#code(this.#random(4));
    // The runtime follows the deployment code, which is 15 bytes long.
    const offset = setup.length / 2 + 15;
    const size = hexWord(runtime.length / 2, 2);
    return bytesOf(`${setup}61${size}61${hexWord(offset, 2)}60003961${size}6000f3${runtime}`);
  }

  /** Snippets that leave the stack as it was, in hexadecimal digits. */
  #code(count: number): string {
    return Array.from({ length: count }, () => this.#snippet()).join("");
  }

  #snippet(): string {
    const random = this.#random;
    const byte = (below = 256) => hexWord(random(below), 1);
    const slot = `60${byte(6)}`;
    const address = `73${random(3) === 0 ? precompile(random) : this.#target()}`;
    const store = `${slot}55`;
    const log = () => {
      const topics = random(5);
      return `${`60${byte()}`.repeat(topics)}60${byte(64)}60${byte(64)}a${topics}`;
    };
    const snippets: (() => string)[] = [
      () => `60${byte()}${store}`,
      () => `6000${store}`,
      () => `${slot}54600101${store}`,
      // Gas left, which shows any difference in cost.
      () => `5a${store}`,
      () => `60${byte()}60${byte(96)}5260${byte(64)}60${byte(64)}20${store}`,
      () => log(),
      () => log(),
      () => log(),
      () => `60${byte()}355b${store}`,
      () => `36${store}34${store}33${store}30${store}`,
      () => `${address}31${store}${address}3b${store}${address}3f${store}`,
      () => `60${byte(64)}60${byte(64)}60${byte(64)}37`,
      () => `60${byte(64)}60${byte(64)}60${byte(64)}5e`,
      () => `60${byte()}60015d60015c${store}`,
      () => `${"60".concat(byte())}1e${store}`,
      () => `60${byte()}60${byte()}60${byte()}09${store}`,
      () => `60${byte()}60${byte()}0a60${byte()}06${store}`,
      // CALL, sometimes with a value.
      () =>
        `60${byte(64)}60${byte(32)}60${byte(64)}600060${byte(2)}${address}61${hexWord(random(60_000), 2)}f1${store}`,
      () => `60${byte(64)}60${byte(32)}60${byte(64)}6000${address}61${hexWord(random(60_000), 2)}f4${store}3d${store}`,
      () => `60${byte(64)}60${byte(32)}60${byte(64)}6000${address}5afa${store}3d${store}`,
      // CREATE and CREATE2 of a contract that returns one byte of memory.
      () => `6b600160005360016000f3000060005260${byte(12)}60146000f0${store}`,
      () => `60${byte(3)}6b600160005360016000f30000600052600a60146000f5${store}`,
      () => `3d600060003e`,
      () => `48${store}43${store}42${store}46${store}3a${store}`,
    ];
    const rare: (() => string)[] = [
      () => `60${byte(32)}6000fd`,
      () => "fe",
      () => `${address}ff`,
      () => `60${byte(32)}6000f3`,
      () => "00",
    ];
    const pool = random(25) === 0 ? rare : snippets;
    return pool[random(pool.length)]!();
  }
}

const addressFrom = (hex: string) => new Address(bytesOf(hex));
const hexWord = (value: number, bytes: number) => value.toString(16).padStart(2 * bytes, "0");
const precompile = (random: Random) => PRECOMPILES[random(PRECOMPILES.length)]!.toString(16).padStart(40, "0");
const numberBytes = (value: number) => (value === 0 ? new Uint8Array(0) : bytesOf(hexWord(value, value > 255 ? 2 : 1)));
