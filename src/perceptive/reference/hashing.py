"""The signed hash kernel: many features in few buckets."""

from collections.abc import Iterable


def murmur3(data: bytes, seed: int = 0) -> int:
    """MurmurHash3_x86_32 of Austin Appleby: 32 bits, all of which depend on every byte and on the seed.

    Examples
    --------
    >>> from perceptive.reference.hashing import murmur3
    >>> hex(murmur3(b"Hello, world!", seed=0x9747B28C))
    '0x24884cba'
    """

    def rotate(k: int, r: int) -> int:
        return (k << r | k >> (32 - r)) % 2**32

    def mix(block: bytes) -> int:
        k = int.from_bytes(block, "little")
        return rotate(k * 0xCC9E2D51 % 2**32, 15) * 0x1B873593 % 2**32

    h = seed
    whole = len(data) // 4 * 4
    for i in range(0, whole, 4):
        h = (rotate(h ^ mix(data[i : i + 4]), 13) * 5 + 0xE6546B64) % 2**32
    h ^= mix(data[whole:]) ^ len(data)
    h = (h ^ h >> 16) * 0x85EBCA6B % 2**32
    h = (h ^ h >> 13) * 0xC2B2AE35 % 2**32
    return h ^ h >> 16


def bucket_and_sign(name: str, bits: int, seed: int = 0, signed: bool = True) -> tuple[int, int]:
    """Return the low `bits` ≤ 30 bits of the hash of the name in UTF-8, and ξ: −1 if the top bit is set, else 1."""
    h = murmur3(name.encode(), seed)
    return h % 2**bits, -1 if signed and h >> 31 else 1


def hash_kernel(
    features: Iterable[tuple[str, float]], bits: int, seed: int = 0, signed: bool = True
) -> list[tuple[int, float]]:
    """Return φ[h] = Σ_{j: bucket(j) = h} ξ(j) x_j for all buckets h in which it is not 0.

    Examples
    --------
    >>> from perceptive.reference.hashing import hash_kernel
    >>> hash_kernel([("red", 1.0), ("size", 2.5)], bits=10)
    [(765, -1.0), (1018, -2.5)]
    """
    row: dict[int, float] = {}
    for name, value in features:
        h, xi = bucket_and_sign(name, bits, seed, signed)
        row[h] = row.get(h, 0.0) + xi * value
    return [(h, value) for h, value in sorted(row.items()) if value != 0]
